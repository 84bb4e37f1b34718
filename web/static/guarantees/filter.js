// The filter: presets and fields. It lives in the address.
import { stay } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { grouped, listed, presets } from './rows.js';
import { words } from './text.js';

const answers = ['holds', 'all', 'tried', 'breaks', 'measured', 'n/a', 'failed'];
const fields = ['must', 'family', 'question', 'answer', 'name'];

/** @typedef {Record<string, string>} Query */

/**
 * The address without the filter.
 * @param {Query} query
 */
const unfiltered = (query) => stay('guarantees', '', { ...query, ...Object.fromEntries(fields.map((f) => [f, ''])) });

/** @param {{matrix: Json.Matrix, query: Query}} props */
export function Filter({ matrix, query }) {
  const w = words();
  const put = (/** @type {string} */ name, /** @type {string} */ value) => stay('guarantees', '', { ...query, [name]: value });
  const set = (/** @type {string} */ name) => (/** @type {any} */ e) => put(name, e.currentTarget.value);
  const must = listed(query.must);
  const toggled = (/** @type {string} */ q) => (must.includes(q) ? must.filter((one) => one !== q) : [...must, q]).join();
  return html`
    <form class="panel filter" onSubmit=${(e) => e.preventDefault()} aria-label=${w.filter}>
      <div class="presets" role="group" aria-label=${w.presetsLabel}>
        ${presets.map((q) => html`
          <button key=${q} type="button" class="quiet" aria-pressed=${String(must.includes(q))} onClick=${() => put('must', toggled(q))}>${w.presets[q]}</button>`)}
      </div>
      <${Choice} id="family" label=${w.family} value=${query.family} onChange=${set('family')}
        options=${familiesOf(matrix).map((f) => [f, t.families[f] ?? f])} />
      <${Choice} id="question" label=${w.question} value=${query.question} onChange=${set('question')}
        options=${grouped(matrix.questions).flatMap((part) => part.questions).map((q) => [q.id, t.guarantees.titleOf(q)])} />
      <${Choice} id="answer" label=${w.answer} value=${query.answer} onChange=${set('answer')}
        options=${answers.map((a) => [a, t.guarantees.answers[a]])} />
      <div class="field"><label for="name">${w.name}</label>
        <input id="name" value=${query.name ?? ''} onInput=${set('name')} autocomplete="off" spellcheck=${false} /></div>
    </form>`;
}

/** @param {Json.Matrix} matrix */
export const familiesOf = (matrix) => [...new Set(matrix.rows.map((r) => r.family))];

/** A value of the address that is no option is shown all the same. */
const Choice = ({ id, label, value = '', onChange, options }) => html`
  <div class="field"><label for=${id}>${label}</label>
    <select id=${id} onChange=${onChange}>
      <option value="" selected=${!value}>${words().any}</option>
      ${value && !options.some(([key]) => key === value) && html`<option value=${value} selected>${words().noSuch(value)}</option>`}
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select></div>`;

/**
 * How many rows are left, of which filter, and the way back.
 * @param {{matrix: Json.Matrix, query: Query, left: number}} props
 */
export function Left({ matrix, query, left }) {
  const w = words();
  const asked = conditions(matrix, query);
  return html`
    <div class="left-over">
      <p class=${left ? 'hint' : 'wrong'} role="status">${w.shown(left, matrix.rows.length)}${asked.length > 0 && ` ${w.asked(asked)}`}</p>
      ${asked.length > 0 && html`<button type="button" class="offer small" id="reset" onClick=${() => unfiltered(query)}>${w.reset}</button>`}
    </div>`;
}

/**
 * What the filter asks for, in words.
 * @param {Json.Matrix} matrix @param {Query} query @returns {string[]}
 */
function conditions(matrix, query) {
  const w = words();
  const title = (/** @type {string} */ id) => {
    const q = matrix.questions.find((one) => one.id === id);
    return q ? t.guarantees.titleOf(q) : w.noSuch(id);
  };
  return [
    ...listed(query.must).map((q) => w.presets[q] ?? title(q)),
    query.family && w.is(w.family, t.families[query.family] ?? w.noSuch(query.family)),
    query.question && w.is(w.question, title(query.question)),
    query.answer && w.is(w.answer, t.guarantees.answers[query.answer] ?? w.noSuch(query.answer)),
    query.name && w.is(w.name, query.name),
  ].filter(Boolean);
}
