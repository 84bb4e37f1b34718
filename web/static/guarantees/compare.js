// Chosen strategies side by side: what they answer differently, in words.
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { differing, grouped } from './rows.js';
import { Mark } from './table.js';
import { words } from './text.js';

/**
 * What is chosen, and what can be done with it.
 * @param {{query: Record<string, string>, chosen: string[], unknown: string[], comparing: boolean}} props
 */
export function Chosen({ query, chosen, unknown, comparing }) {
  const w = words();
  if (!chosen.length && !unknown.length) return html`<p class="hint">${w.chooseRows}</p>`;
  return html`
    <div class="left-over chosen-rows" role="group" aria-label=${w.chosenRows}>
      <p>${chosen.length > 0 && html`${w.chosen(chosen.length)} <code>${chosen.join(', ')}</code>`}
        ${unknown.length > 0 && html` <span class="wrong">${w.unknownRows(unknown.join(', '))}</span>`}
        ${chosen.length === 1 && html` <span class="hint">${w.oneMore}</span>`}</p>
      ${chosen.length > 1 && html`<button type="button" class="offer small" id="differences" aria-pressed=${String(comparing)}
        onClick=${() => stay('guarantees', '', { ...query, diff: comparing ? '' : '1' })}>${comparing ? w.wholeTable : w.differences}</button>`}
      <button type="button" class="link" onClick=${() => stay('guarantees', '', { ...query, rows: '', diff: '' })}>${w.chooseNone}</button>
    </div>`;
}

/** @param {{matrix: Json.Matrix, rows: Json.Row[], open: (asked: import('./table.js').Asked) => void}} props */
export function Differences({ matrix, rows, open }) {
  const w = words();
  const questions = grouped(differing(matrix.questions, rows)).flatMap((part) => part.questions);
  const alike = matrix.questions.filter((q) => !questions.includes(q));
  return html`
    <p role="status">${w.differIn(questions.length, matrix.questions.length)}</p>
    ${questions.length > 0 && html`
      <div class="scroll differences" tabindex="0" role="region" aria-label=${w.differences}><table>
        <thead><tr><th scope="col">${w.question}</th>
          ${rows.map((row) => html`<th key=${row.strategy} scope="col"><a href=${link('lessons', row.strategy)}><code>${row.strategy}</code></a></th>`)}</tr></thead>
        <tbody>${questions.map((q) => html`
          <tr key=${q.id}><th scope="row" title=${w.asksOf(q)}>${t.guarantees.titleOf(q)}</th>
            ${rows.map((row) => html`<td key=${row.strategy}><${Mark} matrix=${matrix} row=${row} question=${q} open=${open} full /></td>`)}</tr>`)}</tbody>
      </table></div>`}
    ${alike.length > 0 && html`<p class="hint">${w.alike(t.list(alike.map((q) => t.guarantees.titleOf(q))))}</p>`}`;
}
