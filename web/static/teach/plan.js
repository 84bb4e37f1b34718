// A plan for a lesson of so many minutes, from what the chapter has.

/** @typedef {{part: string, weight: number}} Item */
/** @typedef {{part: string, from: number, to: number, slides: [first: number, last: number] | null}} Step */

/** The parts of a plan, in their order, and the kinds of slides that belong to each. */
const shows = /** @type {Record<string, string[]>} */ ({
  know: ['title', 'know'], primer: ['primer'], problem: ['problem', 'predict'], steps: ['steps'], break: ['break', 'live'], source: [], play: ['play'],
  think: ['close', 'think', 'answer'], close: ['sources'],
});

/**
 * @param {import('./slides.js').Slide[]} slides @param {number} minutes @param {number} levels of the game, in this chapter
 * @returns {Step[]}
 */
export function planOf(slides, minutes, levels) {
  const long = minutes > 60;
  const have = (/** @type {string} */ part) => slides.filter((s) => shows[part].includes(s.kind)).length;
  /** @type {Item[]} */
  const items = [
    { part: 'know', weight: 3 }, { part: 'primer', weight: have('primer') ? 5 : 0 }, { part: 'problem', weight: 5 },
    { part: 'steps', weight: Math.min(6 + 2 * have('steps'), 18) }, { part: 'break', weight: 8 },
    { part: 'source', weight: long ? 12 : 0 }, { part: 'play', weight: levels ? Math.min(4 + 4 * levels, 12) * (long ? 2 : 1) : 0 },
    { part: 'think', weight: long ? 10 : 6 }, { part: 'close', weight: 3 },
  ].filter((i) => i.weight);
  const sum = items.reduce((n, i) => n + i.weight, 0);
  let at = 0;
  let weight = 0;
  return items.map(({ part, weight: w }) => {
    const from = at;
    weight += w;
    at = Math.round((weight / sum) * minutes); // the ends are rounded, so that the sum is right
    const own = slides.map((s, i) => (shows[part].includes(s.kind) ? i + 1 : 0)).filter(Boolean);
    return { part, from, to: at, slides: own.length ? [own[0], own[own.length - 1]] : null };
  });
}
