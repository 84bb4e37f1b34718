// Predict first: a question before the answer, its choices, and what was right.
import { keep } from '../records.js';
import { classes, html } from '../ui.js';
import { words as lessonWords } from './text.js';

/** What may come of a run, by what its judge counts. */
const kinds = /** @type {const} */ (['fewer', 'all', 'more']);

/** What the reader expects, by chapter: asked before the steps, and remembered at the run. */
const { set, use } = keep(/** @type {Record<string, string>} */ ({}));

/** @param {Json.Chapter} chapter whether its run can be predicted */
export const isPredictable = ({ break: { stock, question } }) => !question && stock !== undefined;

/**
 * audit: of the run, once it is over; undefined before. place: names the question where there are two of it.
 * @param {{chapter: Json.Chapter, place?: string, audit?: {initial: number, sold: number}}} props
 */
export function Predict({ chapter, place = 'run', audit }) {
  const { strategy, stock = 0, buyers = 0 } = chapter.break;
  const said = use()[chapter.name] ?? '';
  const l = lessonWords().predict;
  const right = audit && (audit.sold < audit.initial ? 'fewer' : audit.sold > audit.initial ? 'more' : 'all');
  return html`
    <fieldset class="predict" disabled=${Boolean(right)}>
      <legend>${l.asks(strategy, stock, buyers)}</legend>
      ${kinds.map((kind) => html`
        <label key=${kind} class=${classes(right === kind && 'right')}><input type="radio" name=${`predict-${place}`} value=${kind} checked=${said === kind} onChange=${() => set({ [chapter.name]: kind })} /> ${l[kind](stock)}</label>`)}
      <p role="status">${audit && right && html`<strong data-right=${String(said === right)}>${said && (said === right ? l.right : l.wrong)}</strong> ${l.was(audit.sold, audit.initial)}`}</p>
    </fieldset>`;
}
