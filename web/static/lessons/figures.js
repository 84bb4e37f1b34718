// The place of figures in a chapter: a row of the matrix, what the articles say,
// or measured figures with the command that repeats them.
import { breakable } from '../highlight.js';
import { useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { Articles } from './articles.js';
import { Mark } from './mark.js';
import { loadFigures, Measured, repeated } from './measured.js';
import { words as lessonWords } from './text.js';

/** @param {{command: string, chapter: Json.Chapter, matrix: Json.Matrix | null}} props */
export function Figures({ command, chapter, matrix }) {
  const figures = useLoaded(loadFigures, []).value ?? {};
  if (command === 'articles') return html`<${Articles} matrix=${matrix} />`;
  const asked = command.match(/^seckill prove --questions ([\w,-]+)$/)?.[1].split(',') ?? [];
  const questions = (matrix?.questions ?? []).filter((q) => asked.includes(q.id));
  const rows = (matrix?.rows ?? []).filter((r) => chapter.strategies.includes(r.strategy));
  if (questions.length && rows.length) {
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label=${t.guarantees.title}><table class="proven">
        <thead><tr><th scope="col">${t.history.strategy}</th>${questions.map((q) => html`<th key=${q.id} scope="col">${t.guarantees.titleOf(q)}</th>`)}</tr></thead>
        <tbody>${rows.map((r) => html`<tr key=${r.strategy}><th scope="row"><code>${r.strategy}</code></th>
          ${questions.map((q) => html`<td key=${q.id}><${Mark} cell=${r.cells[q.id] ?? { answer: '' }} /></td>`)}</tr>`)}</tbody>
      </table></div>`;
  }
  return html`
    <${Measured} command=${command} />
    <p class="figures-place">${lessonWords().measure} <code tabindex="0">${breakable(repeated(command, figures))}</code></p>`;
}
