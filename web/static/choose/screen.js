// Five questions that lead to three cards. The answers live in the address.
import { brokenOf, kinds, markOf, signs } from '../guarantees/marks.js';
import { exampleOf, loadMatrix } from '../guarantees/matrix.js';
import { words as proofWords } from '../guarantees/text.js';
import { noStrategies, useLab } from '../lab.js';
import { loadFigures } from '../lessons/measured.js';
import { Failed, useLoaded } from '../loaded.js';
import { link, stay } from '../route.js';
import { sixFirst, titleOf } from '../strategies.js';
import { t } from '../text.js';
import { html, styled } from '../ui.js';
import { addressOf, answersOf, askedOf, choose, failures, rates, servers, waysOut } from './choose.js';
import { words } from './text.js';

await styled('guarantees/screen.css');

const load = () => Promise.all([loadMatrix(), loadFigures()]);
const most = 3; // cards

/** @param {{route: import('../route.js').Route}} props */
export function Chooser({ route }) {
  const { value, error, again } = useLoaded(load, []);
  const lab = useLab();
  const w = words();
  if (!value || !lab.strategies.length) {
    return error ? html`<${Failed} title=${t.nav.choose} error=${error} again=${again} />` : html`<p class="hint" role="status">${value ? noStrategies() : t.nav.loading}</p>`;
  }
  const [matrix, figures] = value;
  const answers = answersOf(route.query);
  const fitting = (/** @type {import('./choose.js').Answers} */ a) => choose(a, lab.strategies, matrix, figures);
  const fits = fitting(answers);
  const ways = fits.length ? [] : waysOut(answers, fitting);
  return html`
    <h1 class="hidden">${t.nav.doors.which}</h1>
    <div class="choosing">
      <${Questions} answers=${answers} />
      <section class="results" aria-label=${w.results}>
        <p role="status">${w.found(fits.length, ways.length)}</p>
        ${answers.fails.includes('node-loss') && html`<p class="hint" data-loss>${w.loss} <a href=${link('guarantees', '', { cell: 'redis-fenced' })}>redis-fenced</a>${t.comma}<a href=${link('guarantees', '', { cell: 'conditional' })}>conditional</a></p>`}
        ${fits.slice(0, most).map((fit) => html`<${Card} key=${fit.strategy.name} fit=${fit} asked=${askedOf(answers)} matrix=${matrix} />`)}
        ${fits.length > most && html`<div><p class="hint">${w.more}</p><ul class="also-fit">${sixFirst(fits.slice(most).map((f) => f.strategy)).map((s) => html`
          <li key=${s.name}><a href=${link('guarantees', '', { cell: s.name })}><code>${s.name}</code></a> <span class="hint">${titleOf(s)}</span></li>`)}</ul></div>`}
        ${ways.length > 0 && html`<ul class="panel ways">${ways.map(({ answers: other, what, fits: found }) => html`
          <li key=${what}><a href=${link('choose', '', addressOf(other))}>${w.way(what)}</a> <code>${found[0].strategy.name}</code></li>`)}</ul>`}
        ${figures['hot-row'] && fits.slice(0, most).some((fit) => fit.speed) && html`<p class="hint">${w.figures(figures['hot-row'].begun.slice(0, 10), figures['hot-row'].cpus)}<a href=${link('compare')}>${w.measure}</a></p>`}
      </section>
    </div>`;
}

/** @param {{answers: import('./choose.js').Answers}} props */
function Questions({ answers: a }) {
  const w = words();
  const put = (/** @type {Partial<import('./choose.js').Answers>} */ change) => stay('choose', '', addressOf({ ...a, ...change }));
  const one = (/** @type {keyof typeof a} */ name, /** @type {any[]} */ values) => html`
    <fieldset><legend>${w.questions[name]}</legend><div>${values.map((v) => html`
      <label key=${v}><input type="radio" name=${name} value=${String(v)} checked=${a[name] === v} onChange=${() => put({ [name]: v })} /> ${w.answers[name](v)}</label>`)}</div></fieldset>`;
  const many = (/** @type {'have' | 'fails'} */ name, /** @type {string[]} */ values) => html`
    <fieldset><legend>${w.questions[name]}</legend><div>${values.map((v) => html`
      <label key=${v}><input type="checkbox" name=${name} value=${v} checked=${a[name].includes(v)}
        onChange=${() => put({ [name]: a[name].includes(v) ? a[name].filter((x) => x !== v) : [...a[name], v] })} /> ${w.answers[name](v)}</label>`)}</div></fieldset>`;
  return html`
    <form class="panel questions" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
      ${one('need', ['stock', 'lock'])}${one('rate', rates)}${many('have', Object.keys(servers))}${one('processes', [true, false])}${many('fails', failures)}
    </form>`;
}

/** @param {{fit: import('./choose.js').Fit, asked: string[], matrix: Json.Matrix}} props */
function Card({ fit: { strategy, row, speed, breaks }, asked, matrix }) {
  const w = words();
  const name = (/** @type {string} */ id) => t.guarantees.titleOf(matrix.questions.find((q) => q.id === id) ?? { id, title: id, asks: '' });
  const sure = ['all', 'tried', 'n/a'].map((mark) => ({ mark, of: asked.filter((q) => markOf(row.cells[q]) === mark) })).filter(({ of }) => of.length);
  const sign = (/** @type {string} */ mark) => html`<span class=${`mark ${kinds[mark]}`} aria-hidden="true">${signs[mark]}</span>`;
  return html`
    <article class="panel fit" aria-labelledby=${`fit-${strategy.name}`}>
      <h2 id=${`fit-${strategy.name}`}><code>${strategy.name}</code> <span class="hint">${titleOf(strategy)}</span></h2>
      <ul>
        ${sure.map(({ mark, of }) => html`<li key=${mark}>${sign(mark)} ${t.guarantees.answers[mark]}${t.colon}${t.list(of.map(name))}</li>`)}
        <li>${sign('measured')} ${[w.needs(strategy.needs), speed && w.speed(speed[0]), !strategy.available && w.notHere].filter(Boolean).join('')}</li>
        ${breaks.length > 0 && html`<li>${sign('breaks')} ${w.breaks} ${breaks.map((q, i) => html`${i > 0 && ' · '}${exampleOf(row.cells[q])
    ? html`<a href=${link('trace', exampleOf(row.cells[q]))}>${name(q)}</a>` : name(q)}${t.aside(proofWords().about[brokenOf(row.cells[q].rule)])}`)}</li>`}
      </ul>
      <p class="buttons"><a class="offer small" href=${link('lab', '', { strategies: strategy.name })}>${w.run}</a> <a href=${link('lessons', strategy.name)}>${w.lesson}</a>
        <a href=${link('guarantees', '', { cell: strategy.name })}>${w.proof}</a></p>
    </article>`;
}
