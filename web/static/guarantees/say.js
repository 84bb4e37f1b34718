// What the proof says, in the chosen language. Its sentences are fixed but for
// numbers and actors, so they serve as keys.
import { preferences } from '../preferences.js';
import { sentences } from '../text.js';

const holes = /-?\d+(?:\.\d+)?|\b(?:A|B|C|next)\b/g;

/** @param {string} text of a cell, a problem, an answer or a scenario */
export function say(text) {
  if (preferences().language !== 'zh') return text;
  const args = text.match(holes) ?? [];
  const sentence = sentences[text.replace(holes, (hole) => (/\d/.test(hole) ? '#' : '@'))];
  return sentence?.replace(/\{(\d)\}/g, (_, i) => (args[i] === 'next' ? '后来者' : args[i])) ?? text;
}
