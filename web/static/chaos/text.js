// The texts of the screen of faults in the chosen language.
import { preferences } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

/** @returns {typeof en} */
export const words = () => ({ en, zh })[preferences().language];
