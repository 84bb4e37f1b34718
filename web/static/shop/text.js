// The texts of the shop in the chosen language: words().buy.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

const dictionaries = { en, zh };

export const words = () => dictionaries[preferences().language];
