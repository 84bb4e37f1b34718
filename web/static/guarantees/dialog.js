// A dialog: of one strategy's answers, or of one sale with a fault.
import { exampleOf, findingsOf } from './matrix.js';
import { kinds, markOf, signs } from './marks.js';
import { grouped } from './rows.js';
import { say } from './say.js';
import { words } from './text.js';
import { Ways } from './grid.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useLayoutEffect, useRef } from '../ui.js';

/** @param {{title: unknown, close: () => void, children?: unknown, ways: unknown}} props */
export function Dialog({ title, close, children, ways }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => dialog.current.showModal(), []); // before its parts scroll to where it begins
  const click = (/** @type {MouseEvent} */ e) => {
    const { left, right, top, bottom } = dialog.current.getBoundingClientRect();
    if (e.target === dialog.current && (e.clientX < left || e.clientX > right || e.clientY < top || e.clientY > bottom)) dialog.current.close();
  };
  return html`
    <dialog ref=${dialog} class="panel cell" aria-labelledby="cell-title" onClose=${close}
      onClick=${click}>
      <h2 id="cell-title" tabindex="-1" autofocus>${title}</h2>
      ${children}
      <div class="buttons">${ways}<button type="button" class="offer small" onClick=${() => dialog.current.close()}>${words().close}</button></div>
    </dialog>`;
}

/**
 * All answers of a strategy; question: the one to begin with.
 * @param {{matrix: Json.Matrix, row: Json.Row, title: string, question: string, close: () => void}} props
 */
export const RowDialog = ({ matrix, row, title, question, close }) => html`
  <${Dialog} title=${html`<code>${row.strategy}</code> ${title}`} close=${close} ways=${html`<${Ways} name=${row.strategy} />`}>
    ${grouped(matrix.questions).map(({ group, questions }) => html`
      <section key=${group}><h3>${words().groups[group]}</h3>
        ${questions.map((q) => html`<${Question} key=${q.id} row=${row} question=${q} open=${q.id === question} />`)}</section>`)}
  <//>`;

/** @param {{row: Json.Row, question: Json.Question, open: boolean}} props */
function Question({ row, question, open }) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { if (open) box.current?.scrollIntoView(); }, []);
  const w = words();
  return html`
    <details ref=${box} data-question=${question.id} open=${open}><summary><span class=${`mark ${kinds[markOf(cell)]}`} aria-hidden="true">${signs[markOf(cell)] ?? '?'}</span>
      ${' '}${t.guarantees.titleOf(question)} <span class="hint">${cell.answer === 'measured' ? inWords(cell.text ?? '') : t.guarantees.says(cell)}</span></summary>
      <p class="hint">${w.asksOf(question)}</p>
      <${Found} cell=${cell} /></details>`;
}

/** @param {string} text of a measured cell: its parts are fixed @param {number} [form] 1: for a cell of the table */
export const inWords = (text, form = 0) => text.split('; ').map((part) => (words().measured[part] ?? [part, part])[form]).filter(Boolean).join(form ? ' ' : t.semicolon);

/**
 * What the answer rests on.
 * @param {{cell: Json.Cell}} props
 */
function Found({ cell }) {
  const w = words();
  return html`
    ${findingsOf(cell).map((f) => html`
      <p key=${f.rule} data-rule=${f.rule}><strong>${t.rules[f.rule ?? ''] ?? f.rule}</strong>${t.colon}${say(f.text ?? '')}
        ${exampleOf(f) && html` <a href=${link('trace', exampleOf(f))}>${w.play}</a>`}</p>`)}
    ${!cell.rule && cell.text && cell.answer !== 'measured' && html`<p>${say(cell.text)}</p>`}
    ${(cell.schedules ?? 0) > 0 && html`
      <ul class="tried-list">${w.tried(cell).map((line) => html`<li key=${line}>${line}</li>`)}</ul>
      ${cell.answer === 'holds' && html`<p class="hint">${w.schedule}</p>`}`}`;
}
