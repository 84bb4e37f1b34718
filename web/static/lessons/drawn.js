// Counterexamples, drawn: at the places that a chapter names, and those of a
// strategy beside its lesson.
import { exampleOf } from '../guarantees/matrix.js';
import { Failed, useLoaded } from '../loaded.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { sentencesOf } from '../trace/diagram.js';
import { Picture } from '../trace/picture.js';
import { fetchExample } from '../trace/source.js';
import { html, useState } from '../ui.js';
import { words as lessonWords } from './text.js';

/** @param {{name: string, says: string, zoom?: number}} props its name, and what the link to its steps says */
function Drawn({ name, says, zoom }) {
  const { value: trace, error, again } = useLoaded(() => fetchExample(name), [name]);
  return html`
    <figure class="drawn-example" data-example=${name}>
      ${trace && html`<${Picture} trace=${trace} brief zoom=${zoom} />`}
      ${error && html`<${Failed} error=${error} again=${again} said=${lessonWords().notDrawn(error.message)} />`}
      <figcaption><a href=${link('trace', name)}>${says}</a>${trace && html`<${InWords} trace=${trace} />`}</figcaption>
    </figure>`;
}

/**
 * A drawing as a list.
 * @param {{trace: import('../trace/model.js').Trace}} props
 */
export function InWords({ trace }) {
  const [open, setOpen] = useState(false);
  return html`
    <details class="in-words" onToggle=${(/** @type {Event} */ e) => setOpen(/** @type {HTMLDetailsElement} */ (e.currentTarget).open)}><summary>${lessonWords().inWords}</summary>
      ${open && html`<ul>${sentencesOf(trace).map((said, i) => html`<li key=${i}>${said}</li>`)}</ul>`}</details>`;
}

/**
 * The place of a drawing in a chapter: "STRATEGY QUESTION breaks RULES", or
 * "holds", for what withstands the same.
 * @param {{place: string, matrix: Json.Matrix | null, zoom?: number}} props
 */
export function Place({ place, matrix, zoom }) {
  const [strategy, question, how] = place.split(' ');
  const q = matrix?.questions.find((one) => one.id === question);
  const title = `${how === 'holds' ? '✓' : '✗'} ${q ? t.guarantees.titleOf(q) : question}`;
  return html`<${Drawn} name=${`${how === 'holds' ? 'held.' : ''}${strategy}.${question}`} says=${lessonWords().drawn(strategy, title)} zoom=${zoom} />`;
}

/**
 * All counterexamples of a strategy, one at a time.
 * @param {{row: Json.Row, questions: Json.Question[]}} props
 */
export function Examples({ row, questions }) {
  const broken = questions.filter((q) => exampleOf(row.cells[q.id]));
  const [chosen, setChosen] = useState(broken[0]?.id);
  const q = broken.find((one) => one.id === chosen);
  if (!q) return null;
  return html`
    <section class="examples">
      <h4>${lessonWords().howItBreaks}</h4>
      ${broken.length > 1 && html`<div class="choices" role="group" aria-label=${lessonWords().howItBreaks}>
        ${broken.map((one) => html`<button key=${one.id} type="button" class="quiet" aria-pressed=${String(one === q)} onClick=${() => setChosen(one.id)}>✗ ${t.guarantees.titleOf(one)}</button>`)}</div>`}
      <${Drawn} key=${q.id} name=${exampleOf(row.cells[q.id])} says=${lessonWords().drawn(row.strategy, `✗ ${t.guarantees.titleOf(q)}`)} />
    </section>`;
}
