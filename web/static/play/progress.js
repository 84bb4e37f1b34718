// What the player has solved, kept in this browser.
import { recalled, remember } from '../preferences.js';

const key = 'play-solved';

/** @returns {Record<string, boolean>} by level */
export const solvedLevels = () => Object(recalled(key, {}));

/** @param {string} level */
export const solve = (level) => remember(key, JSON.stringify({ ...solvedLevels(), [level]: true }));
