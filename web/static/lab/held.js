// What a run that held has tried, and what is known to break its strategy.
import { markOf } from '../guarantees/marks.js';
import { exampleOf } from '../guarantees/matrix.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { words } from './effect.js';

/** @param {{run: Json.Run, lane: Json.Lane, matrix: Json.Matrix | null, row?: Json.Row}} props */
export function Held({ run, lane, matrix, row }) {
  const w = words().held;
  return html`
    <h3>${w.title}</h3>
    <ul class="tried">${tried(run, lane).map((line) => html`<li key=${line}>${line}</li>`)}</ul>
    ${matrix && row && html`<${Known} lane=${lane} matrix=${matrix} row=${row} />`}`;
}

/** @param {Json.Run} run @param {Json.Lane} lane */
function tried({ settings, faults }, { strategy, result }) {
  const w = words().held;
  const own = faults.filter((f) => f.effect?.took_effect && (!f.strategy || f.strategy === strategy));
  const bit = own.filter((f) => f.effect?.could_matter);
  const harmless = own.length - bit.length;
  return [
    w.buyers(t.about.load(settings), result?.targets.length ?? settings.services),
    w.again(result?.copies ?? 0, result?.retries ?? 0),
    w.cancelled(result?.cancellations?.done ?? 0),
    ...bit.map((f) => w.fault(words().faults.past(f), f.at_ms)),
    ...(bit.length ? [] : [w.noFault]), ...(harmless ? [w.harmless(harmless)] : []),
  ];
}

/**
 * The questions of the matrix that the strategy does not survive, as chips.
 * @param {{lane: Json.Lane, matrix: Json.Matrix, row: Json.Row}} props
 */
function Known({ lane, matrix, row }) {
  const w = words().held;
  const cells = matrix.questions.map((q) => ({ q, cell: row.cells[q.id] })).filter(({ cell }) => cell);
  const broken = cells.filter(({ cell }) => cell.answer === 'breaks');
  const count = (/** @type {string} */ mark) => cells.filter(({ cell }) => markOf(cell) === mark).length;
  const had = (/** @type {string} */ id) => lane.known?.some((k) => k.question === id && k.fault);
  if (!broken.length) {
    return html`<h3>${w.breaks}</h3>
      <p>${w.none(count('all'), count('tried'))} <a href=${link('guarantees', '', { name: row.strategy })}>${w.cells}</a></p>`;
  }
  return html`
    <h3>${w.breaks}</h3>
    <ul class="chips">${broken.map(({ q, cell }) => {
    const text = `✗ ${t.guarantees.titleOf(q)}${had(q.id) ? w.had : ''}`;
    return html`<li key=${q.id}>${exampleOf(cell) ? html`<a class="badge bad" href=${link('trace', exampleOf(cell))}>${text}</a>`
      : html`<span class="badge bad">${text}</span>`}</li>`;
  })}</ul>
    <p class="hint">${w.chips}</p>`;
}
