// The matrix as a table: a row per strategy, a column per question.
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, count, html } from '../ui.js';
import { inWords } from './cell.js';
import { familiesOf } from './filter.js';
import { kinds, markOf, signs } from './marks.js';
import { elsewhere, grouped } from './rows.js';
import { words } from './text.js';
import { useTitles } from './titles.js';

/** @typedef {{row: Json.Row, question: Json.Question, cell: Json.Cell}} Asked */

/**
 * @typedef {object} Shown
 * @property {Json.Matrix} matrix
 * @property {Json.Row[]} rows
 * @property {string[]} asked the questions that the filter names
 * @property {string[]} chosen strategies to compare
 * @property {(name: string) => void} choose takes one, or leaves it
 * @property {(asked: Asked) => void} open
 */

/** @param {Shown} props */
export function Table({ matrix, rows, asked, chosen, choose, open }) {
  const titleOf = useTitles();
  const parts = grouped(matrix.questions);
  const columns = parts.flatMap((part) => part.questions.map((q, i) => ({ q, look: classes(i === 0 && 'begins', asked.includes(q.id) && 'chosen') })));
  return html`
    <div class="matrix" tabindex="0" role="region" aria-label=${t.guarantees.title}>
      <table>
        <thead>
          <tr class="groups">
            <th rowspan="2" scope="col">${t.history.strategy}</th>
            ${parts.map(({ group, questions }) => html`
              <th key=${group} class="begins" colspan=${questions.length} scope="colgroup"><span>${words().groups[group]}</span></th>`)}
          </tr>
          <tr>${columns.map(({ q, look }) => html`
            <th key=${q.id} scope="col" class=${classes('asks', look)} title=${words().asksOf(q)}><span>${t.guarantees.titleOf(q)}</span></th>`)}
          </tr>
        </thead>
        ${familiesOf(matrix).filter((f) => rows.some((r) => r.family === f)).map((f) => html`
          <tbody key=${f}>
            <tr class="family"><th colspan=${columns.length + 1} scope="rowgroup"><span>${t.families[f] ?? f}</span></th></tr>
            ${rows.filter((r) => r.family === f).map((row) => html`
              <tr key=${row.strategy}>
                <th scope="row" title=${titleOf(row)}><${Take} name=${row.strategy} chosen=${chosen} choose=${choose} />
                  <a href=${link('lessons', row.strategy)}>${row.strategy}</a></th>
                ${columns.map(({ q, look }) => html`<td key=${q.id} class=${look}><${Mark} matrix=${matrix} row=${row} question=${q} open=${open} /></td>`)}
              </tr>`)}
          </tbody>`)}
      </table>
    </div>`;
}

/** @param {{name: string, chosen: string[], choose: (name: string) => void}} props */
export const Take = ({ name, chosen, choose }) => html`
  <input type="checkbox" class="take" aria-label=${words().take(name)} checked=${chosen.includes(name)} onChange=${() => choose(name)} />`;

/**
 * A cell, which opens: its sign, or with `full` its answer in words.
 * @param {{matrix: Json.Matrix, row: Json.Row, question: Json.Question, open: (asked: Asked) => void, full?: boolean}} props
 */
export function Mark({ matrix, row, question, open, full = false }) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const differs = elsewhere(matrix, row.strategy, question.id).length > 0;
  const mark = markOf(cell);
  const seen = mark === 'measured' ? inWords(cell.text ?? '', 1) : '';
  const word = full ? html`${!seen && html`<span aria-hidden="true">${signs[mark] ?? '?'}</span> `}${seen || t.guarantees.answers[mark]}` : seen || (signs[mark] ?? '?');
  return html`<button type="button" class=${classes('mark', kinds[mark], full && 'full')} aria-label=${labelOf(row, question, differs, full)}
    data-row=${row.strategy} data-question=${question.id} onClick=${() => open({ row, question, cell })}><span>${word}${differs && html`<sup>≠</sup>`}</span>
    ${!full && cell.answer === 'holds' && (cell.orders ?? 0) > 0 && html`<small>${count(cell.orders ?? 0)}</small>`}</button>`;
}

/** @param {Json.Row} row @param {Json.Question} question @param {boolean} differs @param {boolean} full its words are in the cell */
function labelOf(row, question, differs, full) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const g = t.guarantees;
  const said = cell.answer === 'measured' ? `${inWords(cell.text ?? '', 1)} (${inWords(cell.text ?? '')})` : full ? g.answers[markOf(cell)] : g.says(cell);
  return `${row.strategy}, ${g.titleOf(question)}: ${said}${differs ? `; ${words().differs}` : ''}`;
}
