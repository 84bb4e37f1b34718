// The texts of the comparisons in the chosen language: words().start.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

export const dictionaries = { en, zh };

export const words = () => dictionaries[preferences().language];
