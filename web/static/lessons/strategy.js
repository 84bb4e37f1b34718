// One strategy: its lesson, and the source that runs.
import { call } from '../api.js';
import { exampleOf } from '../guarantees/matrix.js';
import { kinds, markOf, signs } from '../guarantees/marks.js';
import { highlight, languageOf } from '../highlight.js';
import { Awaited, useLoaded } from '../loaded.js';
import { preferences } from '../preferences.js';
import { link } from '../route.js';
import { isSite } from '../source.js';
import { titleOf } from '../strategies.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { Examples } from './drawn.js';
import { Blocks, inline, sections } from './markdown.js';
import { words as lessonWords } from './text.js';

/** @param {{name: string, matrix: Json.Matrix | null, known: Set<string>, listed?: Json.Strategy}} props */
export function StrategyLesson({ name, matrix, known, listed }) {
  const { value: strategy, error, again } = useLoaded(() => /** @type {Promise<Json.Strategy>} */ (call('GET', `/api/v1/strategies/${encodeURIComponent(name)}`)), [name]);
  if (!strategy) return html`<${Awaited} error=${error} again=${again} />`;
  const row = matrix?.rows.find((r) => r.strategy === name);
  const lesson = strategy.lesson?.[preferences().language] ?? strategy.lesson?.en ?? '';
  return html`
    <h3 class="name"><code>${name}</code> ${titleOf(strategy)} ${strategy.broken && html`<span class="badge bad">${t.form.broken}</span>`}</h3>
    ${listed && !listed.available && html`<p class="hint">${t.form.unavailable}${t.colon}${listed.missing.map(t.reason).join(t.semicolon)}</p>`}
    ${matrix && row && html`<${Marks} row=${row} questions=${matrix.questions} />`}
    ${listed?.available && !isSite && html`<p><a class="play-it" href=${link('play', '', { strategy: name })}>${lessonWords().playYourself}</a></p>`}
    <div class="lesson-and-source">
      <div class="lesson-text">${sections(lesson).map(([heading, blocks], i) => html`
        <section key=${i}>${heading && html`<h4>${inline(heading)}</h4>`}<${Blocks} blocks=${blocks} strategies=${known} /></section>`)}</div>
      <div class="sources">${(strategy.files ?? []).filter((f) => !f.name.endsWith('.md')).map((f) => html`
        <figure key=${f.name} class="source">
          <figcaption><code>${f.name}</code></figcaption>
          <pre tabindex="0" ref=${(/** @type {HTMLElement | null} */ pre) => toDecisiveLine(pre, f.content)}><code>${highlight(f.content, languageOf(f.name))}</code></pre>
        </figure>`)}</div>
    </div>
    ${matrix && row && html`<${Examples} row=${row} questions=${matrix.questions} />`}`;
}

const decisive = /^func .*\b(?:Deduct|Acquire)\(/m;

/**
 * Scrolls a source past its imports once, to where the stock is deducted or the
 * lock is taken, with its comment.
 * @param {HTMLElement | null} pre @param {string} source
 */
function toDecisiveLine(pre, source) {
  const at = source.search(decisive);
  if (!pre || at < 0 || pre.dataset.opened) return;
  pre.dataset.opened = 'true';
  const before = source.slice(0, at).split('\n');
  let first = before.length - 1;
  while (first > 0 && before[first - 1].startsWith('//')) first--;
  pre.scrollTop = (pre.scrollHeight * first) / source.split('\n').length;
}

/**
 * A small row of the matrix; cells that break can be played.
 * @param {{row: Json.Row, questions: Json.Question[]}} props
 */
function Marks({ row, questions }) {
  const g = t.guarantees;
  return html`
    <ul class="marks" aria-label=${g.title}>
      ${questions.map((q) => ({ q, c: row.cells[q.id] })).filter(({ c }) => ['holds', 'breaks'].includes(c?.answer)).map(({ q, c }) => html`
        <li key=${q.id}><span class=${`mark ${kinds[markOf(c)]}`} role="img" aria-label=${g.says(c)}>${signs[markOf(c)]}</span>
          ${exampleOf(c) ? html`<a href=${link('trace', exampleOf(c))}>${g.titleOf(q)}</a>` : g.titleOf(q)}</li>`)}
    </ul>`;
}
