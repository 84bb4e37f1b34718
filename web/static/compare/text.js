// The texts of the comparisons in the chosen language: words().start.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

export const dictionaries = { en, zh };

export const words = () => dictionaries[preferences().language];

/** @param {Intl.DateTimeFormatOptions} options @returns {(time: number | string) => string} */
const format = (options) => (time) => new Date(time).toLocaleString(document.documentElement.lang, { ...options, hour12: false });

/** Formats a day and a time for the language. */
export const moment = format({ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
