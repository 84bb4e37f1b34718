// What the answers lead to, and why.
import { inWords } from '../guarantees/cell.js';
import { kinds, signs } from '../guarantees/marks.js';
import { exampleOf } from '../guarantees/matrix.js';
import { say } from '../guarantees/say.js';
import { useTitles } from '../guarantees/titles.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { addressOf, answersIn, breaksElsewhere, without } from './choose.js';
import { words } from './text.js';
import { words as lessonWords } from '../lessons/text.js';

const most = 3; // cards; the others are folded

/** @typedef {import('./choose.js').Fit} Fit */
/** @typedef {{answers: import('./choose.js').Answers, choice: import('./choose.js').Choice, all: Json.Strategy[], matrix: Json.Matrix, figures: Json.Figures}} Known */

/** @param {Known} props */
export function Results({ answers, choice, all, matrix, figures }) {
  const w = words();
  const { fits, slower, unmeasured, wanted } = choice;
  const fitting = fits.length + slower.length + unmeasured.length;
  const card = (/** @type {Fit} */ fit) => html`<${Card} key=${fit.strategy.name} fit=${fit} stock=${answers.stock} matrix=${matrix} />`;
  return html`
    <section class="results" aria-labelledby="results-title">
      <h2 id="results-title">${w.results}</h2>
      <p role="status">${w.found(fitting, all.length)}${fitting > 0 && !fits.length && ` ${w.tooFast(wanted, slower[0] && Math.max(...slower.map((f) => f.speed?.[0] ?? 0)), slower.length)}`}</p>
      ${!fitting && html`<${Ways} answers=${answers} ways=${choice.ways} />`}
      ${fits.length > 0 && html`<p class="hint">${w.fits(wanted)}</p>`}
      ${fits.slice(0, most).map(card)}
      <${Together} fits=${fits.slice(0, most)} stock=${answers.stock} />
      <${Folded} title=${w.more(fits.length - most)} list=${fits.slice(most)} card=${card} />
      <${Folded} title=${w.slower(slower.length, wanted)} list=${slower} card=${card} open=${!fits.length} />
      <${Folded} title=${w.unmeasured(unmeasured.length)} list=${unmeasured} card=${card} />
      <${Excluded} excluded=${choice.excluded} />
      <${Sources} matrix=${matrix} figures=${figures} />
    </section>`;
}

/** @param {string} key of an objection @param {Record<string, Function>} sentences @param {any[]} before */
function worded(key, sentences, ...before) {
  const [kind, what] = key.split(':');
  return sentences[kind](...before, what);
}

/** @param {{answers: import('./choose.js').Answers, ways: import('./choose.js').Choice['ways']}} props */
const Ways = ({ answers, ways }) => html`
  <div class="panel ways"><p>${words().ways(ways[0]?.changes.length ?? 0)}</p>
    <ul>${ways.map(({ changes, names }) => html`
      <li key=${changes.join()}><a href=${link('choose', '', addressOf(changes.reduce(without, answers)))}>${words().way(changes.map((c) => worded(c, words().change)), names.length)}</a>
        ${' '}<code>${names.join(', ')}</code></li>`)}</ul></div>`;

/** @param {{fit: Fit, stock: number, matrix: Json.Matrix}} props */
function Card({ fit, stock, matrix }) {
  const w = words();
  const titleOf = useTitles();
  const { strategy, row } = fit;
  const name = (/** @type {string} */ id) => t.guarantees.titleOf(matrix.questions.find((q) => q.id === id) ?? { id, title: id, asks: '' });
  return html`
    <article class="panel fit" aria-labelledby=${`fit-${strategy.name}`}>
      <h3 id=${`fit-${strategy.name}`}><code>${strategy.name}</code> <span>${titleOf(row)}</span></h3>
      <ul class="reasons">
        ${answersIn(fit).map(({ mark, questions, cell }) => html`<li key=${questions[0]}><${Sign} mark=${mark} /> ${reason(mark, questions, cell, name)}</li>`)}
        <li><${Sign} mark=${fit.speed ? 'measured' : 'n/a'} /> ${fit.speed ? w.speed(fit.speed, stock) : w.noFigure(fit.verdict)}</li>
        <li><${Sign} mark="measured" /> ${w.needs(strategy.needs.length ? strategy.needs.filter((n) => n !== 'SQL' || strategy.needs.length === 1) : ['SQL'])}${!strategy.available && html` <strong>${w.notHere}</strong> ${strategy.missing.join('; ')}`}</li>
        ${fit.breaks.length > 0 ? html`<li><${Sign} mark="breaks" /> ${w.breaks} ${fit.breaks.map((q, i) => html`${i > 0 && ' · '}<${Broken} key=${q} cell=${row.cells[q]} title=${name(q)} />`)}</li>`
    : html`<li><${Sign} mark="tried" /> ${w.nothing}</li>`}
        ${breaksElsewhere(matrix, fit).map(({ question, servers }) => html`<li key=${question + servers}><${Sign} mark="breaks" /> ${w.elsewhere(servers, name(question))}</li>`)}
      </ul>
      <div class="buttons">
        <a class="offer small" href=${link('lessons', strategy.name)}>${w.lesson}</a>
        <a class="offer small" href=${link('lab', '', { strategies: strategy.name, stock })}>${w.run}</a>
      </div>
    </article>`;
}

/** @param {string} mark @param {string[]} questions @param {Json.Cell} cell @param {(id: string) => string} name */
function reason(mark, questions, cell, name) {
  const w = words();
  if (mark === 'n/a') return w.void(name(questions[0]), say(cell.text ?? ''));
  if (mark === 'measured') return w.answered(inWords(cell.text ?? ''), name(questions[0]));
  return w.answered(t.list(questions.map(name)), t.guarantees.answers[mark]);
}

const Sign = ({ mark }) => html`<span class=${`mark ${kinds[mark]}`} aria-hidden="true">${signs[mark]}</span>`;

/** @param {{cell: Json.Cell, title: string}} props */
const Broken = ({ cell, title }) => (exampleOf(cell) ? html`<a href=${link('trace', exampleOf(cell))}>${title}</a>` : html`<span>${title}</span>`);

/** @param {{fits: Fit[], stock: number}} props */
const Together = ({ fits, stock }) => fits.length > 1 && html`
  <p class="buttons">
    <a class="offer small" href=${link('guarantees', '', { rows: fits.map((f) => f.strategy.name).join(), diff: 1 })}>${words().compare}</a>
    <a class="offer small" href=${link('lab', '', { strategies: fits.filter((f) => f.strategy.available).map((f) => f.strategy.name).join(), stock })}>${words().runAll}</a>
  </p>`;

/** @param {{title: string, list: Fit[], card: (fit: Fit) => any, open?: boolean}} props */
const Folded = ({ title, list, card, open = false }) => list.length > 0 && html`
  <details open=${open}><summary>${title}: <code>${list.map((f) => f.strategy.name).join(', ')}</code></summary><div class="folded">${list.map(card)}</div></details>`;

/** @param {{excluded: import('./choose.js').Choice['excluded']}} props */
const Excluded = ({ excluded }) => excluded.length > 0 && html`
  <h3>${words().excluded}</h3>
  <ul class="excluded">${excluded.map(({ because, names }) => html`
    <li key=${because}><details><summary>${worded(because, words().because, names.length)}</summary><code>${names.join(', ')}</code></details></li>`)}</ul>`;

/** @param {{matrix: Json.Matrix, figures: Json.Figures}} props */
function Sources({ matrix, figures: { compare } }) {
  const w = words();
  const l = lessonWords().measured;
  return html`
    <p class="hint">${w.proven(t.list([...new Set(matrix.backends.map((b) => b.version || b.name))]))}
      ${' '}${compare ? html`${l.on(compare.begun.slice(0, 10), compare.cpus, compare.servers.join(', '))} ${l.how.compare(compare)} ${w.oneMachine}
        ${' '}<a href=${link('lessons', '12-which')}>${w.figures}</a>` : w.noFigures}</p>`;
}
