// Reads the cell under the pointer, or with the focus, in a sentence.
import { t } from '../text.js';
import { html, useState } from '../ui.js';
import { inWords } from './cell.js';
import { elsewhere } from './rows.js';
import { say } from './say.js';
import { words } from './text.js';

/**
 * What it surrounds is not drawn again when another cell is read.
 * @param {{matrix: Json.Matrix, children?: any}} props
 */
export function Reading({ matrix, children }) {
  const [at, setAt] = useState(/** @type {{row?: string, question?: string}} */ ({}));
  const look = (/** @type {Event} */ e) => {
    const mark = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest('[data-question]'));
    if (mark) setAt({ row: mark.dataset.row, question: mark.dataset.question });
  };
  return html`
    <div class="read-out" onMouseOver=${look} onFocusIn=${look}>
      <p class="reading" aria-live="polite"><${Sentence} matrix=${matrix} row=${matrix.rows.find((r) => r.strategy === at.row)}
        question=${matrix.questions.find((q) => q.id === at.question)} /></p>
      ${children}
    </div>`;
}

/** @param {{matrix: Json.Matrix, row?: Json.Row, question?: Json.Question}} props */
function Sentence({ matrix, row, question }) {
  const w = words();
  if (!row || !question) return html`<span class="hint">${w.pointAt}</span>`;
  const cell = row.cells[question.id] ?? { answer: '' };
  const text = !cell.text ? '' : cell.answer === 'measured' ? inWords(cell.text) : say(cell.text);
  const differs = elsewhere(matrix, row.strategy, question.id).length > 0;
  return html`<strong><code>${row.strategy}</code> · ${t.guarantees.titleOf(question)}:</strong>
    ${' '}${[t.guarantees.says(cell), cell.rule && (t.rules[cell.rule] ?? cell.rule), text, differs && w.differs].filter(Boolean).join(w.semicolon)}${w.stop}
    ${' '}<span class="hint">${w.asksOf(question)}</span>`;
}
