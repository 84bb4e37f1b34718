// What the player has solved, kept in this browser.
import { remember, remembered } from '../preferences.js';

const key = 'play-solved';
const held = 'play-defended';

/** @param {string} name @returns {Record<string, boolean>} */
function read(name) {
  try {
    const kept = JSON.parse(remembered(name) ?? '{}');
    return kept && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}

/** @returns {Record<string, boolean>} by level: whether the solution was as short as the best known one */
export const solvedLevels = () => read(key);

/** @returns {Record<string, boolean>} by exercise: a guard of the player's has held */
export const defended = () => read(held);

/** @param {string} exercise of which a guard has held */
export const holdsOut = (exercise) => remember(held, JSON.stringify({ ...defended(), [exercise]: true }));

/** @param {string} level @param {Json.GameGrade} grade that is won */
export function solve(level, { golf, said_impossible: said }) {
  const kept = solvedLevels();
  kept[level] = kept[level] === true || said === true || golf === 'even' || golf === 'better';
  remember(key, JSON.stringify(kept));
}
