// One answer in words: what was asked, what came out, and what it rests on.
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useRef } from '../ui.js';
import { exampleOf } from './matrix.js';

/** @param {{row: Json.Row, question: Json.Question, cell: Json.Cell, close: () => void}} props */
export function CellDialog({ row, question, cell, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => dialog.current.showModal(), []);
  const g = t.guarantees;
  return html`
    <dialog ref=${dialog} class="panel cell" aria-labelledby="cell-title" onClose=${close}
      onClick=${(e) => e.target === dialog.current && dialog.current.close()}>
      <h2 id="cell-title"><code>${row.strategy}</code> · ${g.titleOf(question)}</h2>
      <p class="hint">${g.asksOf(question)}</p>
      <${Found} cell=${cell} />
      <div class="buttons">
        ${exampleOf(cell) && html`<a class="offer" href=${link('trace', exampleOf(cell))}>${g.play}</a>`}
        <button type="button" class="offer" onClick=${() => dialog.current.close()}>${g.close}</button>
      </div>
    </dialog>`;
}

/**
 * The answer and its bounds.
 * @param {{cell: Json.Cell}} props
 */
export function Found({ cell }) {
  const g = t.guarantees;
  return html`
    <p><strong>${g.answers[cell.answer] ?? cell.answer}</strong>${cell.rule && html` · ${t.rules[cell.rule] ?? cell.rule}`}
      ${cell.text && html`<br />${cell.text}`}</p>
    ${(cell.orders ?? 0) > 0 && html`<p>${g.bounds(cell)}</p>`}
    ${cell.answer === 'holds' && (cell.cut ?? 0) > 0 && html`<p class="hint">${g.cut(cell.cut)}</p>`}`;
}
