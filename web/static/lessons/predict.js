// Predict first: a question before the run, its choices, and what was right.
import { classes, html, useState } from '../ui.js';
import { words as lessonWords } from './text.js';

/** What may come of a run, by what its judge counts. */
const kinds = /** @type {const} */ (['fewer', 'all', 'more']);

/**
 * audit: of the run, once it is over; undefined before.
 * @param {{chapter: Json.Chapter, audit?: {initial: number, sold: number}}} props
 */
export function Predict({ chapter, audit }) {
  const { strategy, stock = 0, buyers = 0 } = chapter.break;
  const [said, setSaid] = useState('');
  const l = lessonWords().predict;
  const right = audit && (audit.sold < audit.initial ? 'fewer' : audit.sold > audit.initial ? 'more' : 'all');
  return html`
    <fieldset class="predict" disabled=${Boolean(right)}>
      <legend>${l.asks(strategy, stock, buyers)}</legend>
      ${kinds.map((kind) => html`
        <label key=${kind} class=${classes(right === kind && 'right')}><input type="radio" name="predict" value=${kind} checked=${said === kind} onChange=${() => setSaid(kind)} /> ${l[kind](stock)}</label>`)}
      <p role="status">${audit && right && html`<strong data-right=${String(said === right)}>${said && (said === right ? l.right : l.wrong)}</strong> ${l.was(audit.sold, audit.initial)}`}</p>
    </fieldset>`;
}
