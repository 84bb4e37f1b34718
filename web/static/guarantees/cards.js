// The matrix on a narrow screen: a card per strategy.
import { link } from '../route.js';
import { t } from '../text.js';
import { count, html } from '../ui.js';
import { inWords } from './cell.js';
import { kinds, markOf, signs } from './marks.js';
import { grouped } from './rows.js';
import { Take } from './table.js';
import { words } from './text.js';
import { useTitles } from './titles.js';

/** @param {import('./table.js').Shown} props */
export function Cards({ rows, ...shown }) {
  const titleOf = useTitles();
  return html`
    <ul class="cards" aria-label=${t.guarantees.title}>
      ${rows.map((row) => html`<li key=${row.strategy} class="panel"><${Card} row=${row} title=${titleOf(row)} ...${shown} /></li>`)}
    </ul>`;
}

/** @param {{row: Json.Row, title: string} & Omit<import('./table.js').Shown, 'rows'>} props */
const Card = ({ row, title, matrix, asked, chosen, choose, open }) => html`
  <h2><a href=${link('lessons', row.strategy)}><code>${row.strategy}</code></a>
    <label class="hint"><${Take} name=${row.strategy} chosen=${chosen} choose=${choose} /> ${words().takeShort}</label></h2>
  <p class="hint">${t.families[row.family] ?? row.family} · ${title}</p>
  <dl>${grouped(matrix.questions).map((part) => html`
    <div key=${part.group}><dt>${words().groups[part.group]}</dt>
      ${byAnswer(row, part.questions).map(({ mark, questions }) => html`
        <dd key=${mark}><${Verdict} mark=${mark} row=${row} questions=${questions} asked=${asked} open=${open} /></dd>`)}
    </div>`)}
  </dl>`;

/** An answer, and the questions that it is the answer to. What does not apply is folded. */
function Verdict({ mark, row, questions, asked, open }) {
  const word = html`<span class=${`mark ${kinds[mark]}`} aria-hidden="true">${signs[mark] ?? '?'}</span> <strong>${words().verdict[mark]}</strong>`;
  const list = html`<ul>${questions.map((q) => html`
    <li key=${q.id}><${Question} row=${row} question=${q} asked=${asked.includes(q.id)} open=${open} /></li>`)}</ul>`;
  return mark === 'n/a' ? html`<details><summary>${word} <span class="hint">${count(questions.length)}</span></summary>${list}</details>` : html`${word}${list}`;
}

const order = ['breaks', 'holds', 'measured', 'failed', 'n/a', ''];

/**
 * A group's questions by their answers, the worst first.
 * @param {Json.Row} row @param {Json.Question[]} questions
 */
const byAnswer = (row, questions) => order
  .map((mark) => ({ mark, questions: questions.filter((q) => (row.cells[q.id]?.answer ?? '') === mark) }))
  .filter((part) => part.questions.length);

/** @param {{row: Json.Row, question: Json.Question, asked: boolean, open: (asked: import('./table.js').Asked) => void}} props */
function Question({ row, question, asked, open }) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const title = t.guarantees.titleOf(question);
  const said = markOf(cell) === 'measured' ? words().is(title, inWords(cell.text ?? '', 1)) : title;
  return html`<button type="button" class="link" data-row=${row.strategy} data-question=${question.id}
    onClick=${() => open({ row, question, cell })}>${asked ? html`<mark>${said}</mark>` : said}</button>`;
}
