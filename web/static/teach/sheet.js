// A sheet of exercises of a chapter, for paper: without answers, or with them.
import { loadMatrix } from '../guarantees/matrix.js';
import { markOf, signs } from '../guarantees/marks.js';
import { parts } from '../lessons/parts.js';
import { inline } from '../lessons/markdown.js';
import { useLoaded } from '../loaded.js';
import { textOf } from '../play/levels.js';
import { preferences } from '../preferences.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { titleOf } from './load.js';
import { words as lessonWords } from '../lessons/text.js';
import { words } from './text.js';

/** @param {{chapter: Json.Chapter, levels: Json.Level[], solved: boolean}} props */
export function Sheet({ chapter, levels, solved }) {
  const { value: matrix } = useLoaded(loadMatrix, []);
  const w = words().sheets;
  const { predict } = lessonWords();
  const { strategy, stock = 0, buyers = 0 } = chapter.break;
  const think = parts(chapter.text[preferences().language] ?? chapter.text.en).find((p) => p.part === 'think')?.blocks ?? [];
  const answers = think.filter((b) => b.kind === 'answer');
  const overs = matrix?.rows.find((r) => r.strategy === strategy)?.cells.oversell?.answer === 'breaks';
  const right = overs ? 2 : 1; // of the choices: more than there were, or exactly as many
  const lines = (/** @type {number} */ n) => !solved && html`<div class="sheet-lines" aria-hidden="true">${Array.from({ length: n }, (_, i) => html`<span key=${i}></span>`)}</div>`;
  return html`
    <article class="sheet" data-sheet=${solved ? 'solutions' : 'questions'}>
      <p class="sheet-tools"><button type="button" class="offer small" onClick=${() => print()}>${w.print}</button>
        <a href=${link('teach', chapter.name, { sheet: solved ? 'questions' : 'solutions' })}>${w.other[solved ? 'solutions' : 'questions']}</a></p>
      <h1>${(solved ? w.solved : w.title)(titleOf(chapter))}</h1>
      ${!solved && html`<p class="sheet-name">${w.name}${t.colon}<span></span></p>`}
      <ol class="sheet-tasks">
        ${stock > 0 && html`<li data-task="predict"><p>${predict.asks(strategy, stock, buyers)}</p>
          <p class="sheet-choices">${[predict.fewer(stock), predict.all(stock), predict.more(stock)].map((one, i) => html`<span key=${one}>${solved && i === right ? '☑' : '☐'} ${one}</span>`)}</p>
          ${solved && html`<p class="sheet-answer">${w.run} <code>seckill load --strategy ${strategy} --stock ${stock} --buyers ${buyers}</code></p>`}</li>`}
        ${matrix && html`<${Proof} chapter=${chapter} matrix=${matrix} solved=${solved} />`}
        <li data-task="think">${think.filter((b) => b.kind === 'text').map((b, i) => html`<p key=${i}>${inline(b.text)}</p>`)}<p class="hint">${w.think}</p>
          ${solved ? answers.map((b, i) => html`<p key=${i} class="sheet-answer">${inline(b.text)}</p>`) : lines(7)}</li>
        ${levels.map((l) => html`<li key=${l.name} data-task="level"><p><strong>${textOf(l).title}${t.stop}</strong> ${textOf(l).goal} <span class="hint"><code>${l.setting.strategy}</code></span></p>
          <p class="hint">${w.play}</p>
          ${solved ? html`<${Solved} level=${l} />` : lines(3)}</li>`)}
      </ol>
    </article>`;
}

/** @param {{level: Json.Level}} props */
function Solved({ level }) {
  const w = words().sheets;
  const { solution } = level;
  return html`<p class="sheet-answer">${solution.impossible ? w.impossible : html`${w.schedule(solution.moves, solution.switches)} <a href=${link('play', level.name, { s: solution.schedule })}><code>${solution.schedule}</code></a>`} ${textOf(level).solved}</p>`;
}

const columns = 6; // that fit on paper

/**
 * What the proof says of the chapter's strategies, where they differ.
 * @param {{chapter: Json.Chapter, matrix: Json.Matrix, solved: boolean}} props
 */
function Proof({ chapter, matrix, solved }) {
  const w = words().sheets;
  const rows = matrix.rows.filter((r) => chapter.strategies.includes(r.strategy));
  const asked = (/** @type {Json.Row} */ r, /** @type {Json.Question} */ q) => ['holds', 'breaks'].includes(r.cells[q.id]?.answer);
  const questions = matrix.questions.filter((q) => rows.some((r) => r.cells[q.id]?.answer === 'breaks')).slice(0, columns);
  if (!rows.length || !questions.length) return null;
  return html`
    <li data-task="proof"><p>${w.matrix}</p>
      <div class="scroll" tabindex="0" role="region" aria-label=${w.matrix}><table>
        <thead><tr><th scope="col">${w.strategy}</th>${questions.map((q) => html`<th key=${q.id} scope="col">${t.guarantees.titleOf(q)}</th>`)}</tr></thead>
        <tbody>${rows.map((r) => html`<tr key=${r.strategy}><th scope="row"><code>${r.strategy}</code></th>
          ${questions.map((q) => html`<td key=${q.id}>${!asked(r, q) ? '–' : solved ? html`<span role="img" aria-label=${t.guarantees.says(r.cells[q.id])}>${signs[markOf(r.cells[q.id])]}</span>` : ''}</td>`)}</tr>`)}</tbody>
      </table></div>
      ${solved && html`<p class="hint">${w.matrixSolved}</p>`}</li>`;
}
