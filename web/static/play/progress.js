// What the player has solved, kept in this browser.
import { recalled, remember } from '../preferences.js';

const key = 'play-solved';

/** @returns {Record<string, boolean>} by level: whether the solution was as short as the best known one */
export const solvedLevels = () => Object(recalled(key, {}));

/** @param {string} level @param {Json.GameGrade} grade that is won */
export function solve(level, { golf, said_impossible: said }) {
  const kept = solvedLevels();
  kept[level] = kept[level] === true || said === true || golf === 'even' || golf === 'better';
  remember(key, JSON.stringify(kept));
}
