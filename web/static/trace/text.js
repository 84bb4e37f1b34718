// The words of the trace, in the language that was chosen: words().title.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

/** @returns {typeof en} */
export const words = () => ({ en, zh })[preferences().language];
