// The two axes of a verdict. A broken strategy that is caught looks different from
// one that fails unexpectedly.
import { Sign } from '../lab/verdict.js';
import { html } from '../ui.js';
import { words } from './text.js';

/** @param {Json.Entry} entry @returns {'held' | 'caught' | 'wrong' | 'missed' | 'void'} */
export function kindOf({ verdict, expected }) {
  if (verdict === 'not_valid' || !verdict) return 'void';
  if (expected) return verdict === 'held' ? 'held' : 'caught';
  return verdict === 'held' ? 'missed' : 'wrong';
}

const signs = { held: 'held', caught: 'oversold', wrong: 'oversold', missed: 'not_valid', void: 'not_valid' };
const looks = { held: 'held', caught: 'caught', wrong: 'oversold', missed: 'warn', void: '' };

/** @param {{entry: Json.Entry}} props */
export function Badge({ entry }) {
  const kind = kindOf(entry);
  return html`<span class=${`badge ${looks[kind]}`} data-kind=${kind}><${Sign} verdict=${signs[kind]} />${words().verdicts[kind](entry.verdict)}</span>`;
}

/**
 * To serve buyers is no praise where what they were told is wrong.
 * @param {{entry: Json.Entry}} props
 */
export function Served({ entry }) {
  const served = entry.verdict === 'blocked' ? 'no' : entry.served;
  return html`<span class=${`badge ${{ yes: entry.verdict === 'held' ? 'held' : '', no: 'warn' }[served] ?? ''}`}>${words().served[served]}</span>`;
}
