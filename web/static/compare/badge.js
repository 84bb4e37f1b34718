// The verdict of a strategy in a comparison. A broken strategy that is caught
// looks different from one that fails unexpectedly.
import { Sign } from '../lab/verdict.js';
import { html } from '../ui.js';
import { words } from './text.js';

/** @typedef {Pick<Json.Entry, 'expected'> & {verdict: Json.Verdict | ''}} Judged an entry of a result, or a standing */

/** @param {Judged} judged @returns {'held' | 'caught' | 'wrong' | 'missed' | 'void'} */
export function kindOf({ verdict, expected }) {
  if (verdict === 'not_valid') return 'void';
  if (expected) return verdict === 'held' ? 'held' : 'caught';
  return verdict === 'held' ? 'missed' : 'wrong';
}

const signs = { held: 'held', caught: 'held', wrong: 'oversold', missed: 'not_valid', void: 'not_valid' };
const looks = { held: 'held', caught: 'caught', wrong: 'oversold', missed: 'warn', void: '' };

/** @param {{entry: Judged}} props */
export function Badge({ entry }) {
  const kind = kindOf(entry);
  return html`<span class=${`badge ${looks[kind]}`} data-kind=${kind}><${Sign} verdict=${signs[kind]} />${words().verdicts[kind](entry.verdict)}</span>`;
}
