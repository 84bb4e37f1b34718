// How strategies are listed where one is chosen: their titles, and the common ones first.
import { preferences } from './preferences.js';

/** The six that people ask for first, as catalog.SixWays lists them. */
const six = ['atomic', 'conditional', 'version', 'for-update', 'redis-lua', 'zk'];

/** @param {{name: string}} s */
export const isOfSix = (s) => six.includes(s.name);

/**
 * Strategies with the six first, in the order that people ask for them; the others as they were.
 * @template {{name: string}} T
 * @param {T[]} all @returns {T[]}
 */
export const sixFirst = (all) => [...six.flatMap((name) => all.filter((s) => s.name === name)), ...all.filter((s) => !isOfSix(s))];

/** @param {{title: string, titles?: Record<string, string>}} s @returns {string} its title in the page's language */
export const titleOf = (s) => s.titles?.[preferences().language] ?? s.title;
