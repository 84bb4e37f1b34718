// What the player has solved, and how well, kept in this browser.
import { recalled, remember } from '../preferences.js';

const key = 'play-solved';
export const maxStars = 3;

/** @returns {Record<string, number>} the stars of each level that was solved */
export const solvedLevels = () => Object.fromEntries(Object.entries(Object(recalled(key, {}))).map(([level, stars]) => [level, Number(stars) || 1]));

/**
 * Three stars for the fewest moves that are known, two for at most half as many more, else
 * one. Every wrong "it cannot be done" costs a star, but not the last one.
 * @param {number} moves @param {number} best 0: there is nothing to compare with @param {number} wrong
 */
export function starsOf(moves, best, wrong) {
  const earned = !best || moves <= best ? maxStars : moves <= best * 1.5 ? 2 : 1;
  return Math.max(1, earned - wrong);
}

/** @param {string} level @param {number} stars */
export const solve = (level, stars) => remember(key, JSON.stringify({ ...solvedLevels(), [level]: Math.max(stars, solvedLevels()[level] ?? 0) }));
