// Two orders of a broken sale, drawn as a trace is.
import { preferences } from '../preferences.js';
import { Picture } from '../trace/picture.js';
import { html, useMemo } from '../ui.js';
import { words } from './effect.js';

/** @typedef {Json.Witness['orders'][number]} Order */

/** @param {{witness: Json.Witness}} props */
export function Drawing({ witness }) {
  const trace = useMemo(() => traceOf(witness), [witness, preferences().language]);
  return html`<${Picture} trace=${trace} zoom=${1.3} />`;
}

/**
 * What the buyers found and left. Which of them wrote first is not known.
 * @param {Json.Witness} witness @returns {import('../trace/model.js').Trace}
 */
function traceOf({ orders: [a, b] }) {
  const w = words().why;
  const found = (/** @type {Order} */ o) => o.remaining + o.quantity;
  const step = (/** @type {Order} */ o, /** @type {string} */ command, reply = '') => (
    { who: w.user(o.user_id), fault: '', backend: 'sql', command, result: '', reply, woke: [], values: [] });
  const steps = b ? [step(a, w.looks, w.reads(found(a))), step(b, w.looks, w.reads(found(b))), step(a, w.writes(a.remaining)), step(b, w.writes(b.remaining))]
    : [step(a, w.takes(a.quantity), w.leaves(a.remaining))];
  return { title: w.drawn, strategy: '', question: '', name: '', stock: found(a), before: [], named: { sql: w.stock }, steps, told: [], problems: [],
    buyers: [a, b].filter(Boolean).map((o) => ({ name: w.user(o.user_id), process: 0 })) };
}
