// A chapter as slides, one idea on each, from the same text as its page.
import { parts } from '../lessons/parts.js';
import { isPredictable } from '../lessons/predict.js';

/** @typedef {import('../lessons/markdown.js').Block} Block */
/** @typedef {import('../lessons/parts.js').Part | 'title' | 'predict' | 'live' | 'play' | 'answer'} Kind */
/**
 * of: how many slides its section has, nth: which of them it is. notes: for who speaks.
 * @typedef {{kind: Kind, heading: string, blocks: Block[], notes: string[], nth: number, of: number}} Slide
 */

const most = 430; // what fits at the size of a projector, in Latin letters

/** @param {string} text Chinese characters take the place of two letters */
const width = (text) => text.length + (text.match(/[\u2e80-\uffef]/g)?.length ?? 0);

/** @param {Block} b */
function weight(b) {
  switch (b.kind) {
    case 'code': return 60 * b.text.split('\n').length;
    case 'list': return (b.items ?? []).reduce((sum, item) => sum + width(item) + 30, 0);
    case 'figures': case 'drawn': case 'picture': case 'table': return most; // a slide of its own
    default: return width(b.text) + 60;
  }
}

/**
 * Blocks on as few slides as hold them; what introduces a list or commands stays
 * with them where that is possible.
 * @param {Block[]} blocks @returns {Block[][]}
 */
function spread(blocks) {
  /** @type {Block[][]} */
  const slides = [];
  let used = 0;
  for (const b of blocks) {
    for (const piece of pieces(b, used)) {
      const w = weight(piece);
      if (!slides.length || used + w > most) {
        slides.push([]);
        used = 0;
      }
      slides[slides.length - 1].push(piece);
      used += w;
    }
  }
  return slides;
}

/**
 * A long list on several slides; the first may have something on it already.
 * @param {Block} b @param {number} used of the first @returns {Block[]}
 */
function pieces(b, used) {
  if (b.kind !== 'list' || weight(b) <= most) return [b];
  /** @type {Block[]} */
  const all = [];
  for (const item of b.items ?? []) {
    const last = all.at(-1);
    const one = { kind: /** @type {const} */ ('list'), text: '', items: [item] };
    if (last && weight(last) + weight(one) <= most - (all.length === 1 ? used : 0)) last.items?.push(item);
    else all.push(one);
  }
  return all;
}

/**
 * @param {Json.Chapter} chapter @param {string} language @param {boolean} plays whether the game has levels of it
 * @returns {Slide[]}
 */
export function slidesOf(chapter, language, plays) {
  const one = (/** @type {Kind} */ kind, heading = '', blocks = /** @type {Block[]} */ ([]), notes = /** @type {string[]} */ ([])) => ({ kind, heading, blocks, notes, nth: 1, of: 1 });
  const slides = /** @type {Slide[]} */ ([one('title', chapter.title[language] ?? chapter.title.en)]);
  for (const { part, heading, blocks } of parts(chapter.text[language] ?? chapter.text.en)) {
    const notes = blocks.filter((b) => b.kind === 'note').map((b) => b.text);
    const shown = blocks.filter((b) => b.kind !== 'note' && b.kind !== 'answer');
    const cut = spread(shown);
    cut.forEach((some, i) => slides.push({ ...one(part, heading, some, i ? [] : notes), nth: i + 1, of: cut.length }));
    if (part === 'problem' && isPredictable(chapter)) slides.push(one('predict'));
    if (part === 'break') {
      slides.push(one('live', heading));
      if (plays) slides.push(one('play'));
    }
    if (part === 'think') for (const b of blocks) if (b.kind === 'answer') slides.push(one('answer', heading, [{ kind: 'text', text: b.text }]));
  }
  return slides;
}

/**
 * The first sentence, which is set large, and the rest.
 * @param {string} text @returns {[lead: string, rest: string]}
 */
export function lead(text) {
  for (const m of text.matchAll(/[.!?](?=\s)|[。！？]/g)) {
    const end = (m.index ?? 0) + 1;
    const head = text.slice(0, end);
    const whole = ['`', '**', '*', '_'].every((mark) => (head.split(mark).length - 1) % 2 === 0) && head.split('[').length === head.split(']').length && head.split('(').length === head.split(')').length;
    if (whole && !/\b(?:e\.g|i\.e)\.$/.test(head)) return [head, text.slice(end).trim()];
  }
  return [text, ''];
}
