// The words of the page, in the language that was chosen. Modules see t change,
// and whoever draws again draws the new words.
import en from './text/en.js';
import zh from './text/zh.js';

export const dictionaries = { en, zh };

export let t = en;

/** @param {string} language */
export const speak = (language) => { t = dictionaries[language] ?? en; };
