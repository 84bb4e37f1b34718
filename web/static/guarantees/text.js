import { chosenOf } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

/** The texts of the proof. */
export const words = chosenOf(en, zh);
