// The texts of the shop in the chosen language: words().buy.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

const dictionaries = { en, zh };

export const words = () => dictionaries[preferences().language];

/**
 * Formats a time for the language.
 * @param {number | string} time
 */
export const clockTime = (time) => new Date(time).toLocaleString(document.documentElement.lang,
  { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
