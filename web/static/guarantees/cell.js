// One cell in words: the question, the answer, and how it was found.
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useRef } from '../ui.js';
import { kinds, markOf, signs } from './marks.js';
import { exampleOf } from './matrix.js';
import { elsewhere } from './rows.js';
import { say } from './say.js';
import { words } from './text.js';
import { words as lessonWords } from '../lessons/text.js';

/** @param {{matrix: Json.Matrix, row: Json.Row, question: Json.Question, cell: Json.Cell, close: () => void}} props */
export function CellDialog({ matrix, row, question, cell, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => dialog.current.showModal(), []);
  const g = t.guarantees;
  const w = words();
  return html`
    <dialog ref=${dialog} class="panel cell" aria-labelledby="cell-title" onClose=${close}
      onClick=${(e) => e.target === dialog.current && dialog.current.close()}>
      <h2 id="cell-title"><code>${row.strategy}</code> · ${g.titleOf(question)}</h2>
      <p class="hint">${w.asksOf(question)}</p>
      <${Found} cell=${cell} />
      ${elsewhere(matrix, row.strategy, question.id).map(({ servers, cell: other }) => html`
        <h3 key=${servers}>${w.elsewhere(servers)}</h3><${Found} cell=${other} />`)}
      <div class="buttons">
        ${exampleOf(cell) && html`<a class="offer" href=${link('trace', exampleOf(cell))}>${w.play}</a>`}
        <a class="offer" href=${link('lessons', row.strategy)}>${w.lesson}</a>
        <a class="offer" href=${link('lab', '', { strategies: row.strategy })}>${w.run}</a>
        ${exampleOf(cell) && html`<a class="offer" href=${link('play', '', { counterexample: exampleOf(cell) })}>${lessonWords().playYourself}</a>`}
        <button type="button" class="offer" onClick=${() => dialog.current.close()}>${w.close}</button>
      </div>
    </dialog>`;
}

/** @param {string} text of a measured cell: its parts are fixed @param {number} [form] 1: for a cell of the table */
export const inWords = (text, form = 0) => text.split('; ').map((part) => (words().measured[part] ?? [part, part])[form]).filter(Boolean).join(form ? ' ' : words().semicolon);

/**
 * The answer and its bounds.
 * @param {{cell: Json.Cell}} props
 */
export function Found({ cell }) {
  const g = t.guarantees;
  const w = words();
  const mark = markOf(cell);
  return html`
    <p><span class=${`mark ${kinds[mark]}`} aria-hidden="true">${signs[mark] ?? '?'}</span> <strong>${g.says(cell)}</strong>${cell.rule && html` · ${t.rules[cell.rule] ?? cell.rule}`}
      ${cell.text && html`<br />${cell.answer === 'measured' ? inWords(cell.text) : say(cell.text)}`}</p>
    ${(cell.orders ?? 0) > 0 && html`
      <ul class="tried-list">${w.tried(cell).map((line) => html`<li key=${line}>${line}</li>`)}</ul>
      ${cell.answer === 'holds' && html`<p class="hint">${w.schedule}</p>`}`}`;
}
