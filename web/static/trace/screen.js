// The trace screen: a counterexample of `seckill prove`, or a live purchase,
// command by command.
import { examplesOf, loadMatrix } from '../guarantees/matrix.js';
import { say } from '../guarantees/say.js';
import { words as matrixWords } from '../guarantees/text.js';
import { Failed, useLoaded } from '../loaded.js';
import { go, link, read, stay } from '../route.js';
import { t } from '../text.js';
import { words } from './text.js';
import { html, styled, useEffect } from '../ui.js';
import { Downloads } from './exports.js';
import { Live } from './live.js';
import { Player } from './player.js';
import { fetchExample, fileOf, Missing } from './source.js';

await styled('trace/trace.css');

/** @typedef {import('./model.js').Trace} Played */

/** @param {Error} error */
const said = (error) => (error instanceof Missing ? words().wrong[error.code](error.asked) : error.message);

/** @param {{route: import('../route.js').Route}} props */
export function Trace({ route }) {
  const name = route.part;
  const { value: matrix, ...noMatrix } = useLoaded(loadMatrix, []);
  const { value: trace, ...noTrace } = useLoaded(() => (name ? fetchExample(name) : Promise.resolve(null)), [name]);
  const failed = [noTrace, noMatrix].find((one) => one.error);
  const ready = failed || (matrix && (trace || !name)); // all at once: nothing moves what is being read

  useEffect(() => { // an empty screen explains nothing
    const first = matrix && !read().part && landing(matrix); // the address may be newer than this drawing
    if (first) stay('trace', first);
  }, [matrix, name]);

  return html`
    ${failed?.error && html`<${Failed} error=${failed.error} again=${failed.again} said=${said(failed.error)} />`}
    ${ready && trace && html`
      <${Title} trace=${trace} file=${fileOf(name)} matrix=${matrix} hidden=${'guess' in route.query && place(route.query.step, trace) < trace.steps.length} />
      <${Player} key=${name} trace=${trace} at=${place(route.query.step, trace)} move=${(n) => stay('trace', name, { guess: read().query.guess, step: trace.live ? n : n || '' })}
        guesses=${'guess' in route.query} setGuesses=${(on) => stay('trace', name, { ...read().query, guess: on ? 1 : '' })} />`}
    ${ready && html`<${Chooser} matrix=${matrix} name=${name} />`}`;
}

/**
 * The step of an address; a live trace starts at its end.
 * @param {string | undefined} step @param {Played} trace
 */
const place = (step, trace) => (step === undefined && trace.live ? trace.steps.length : Number(step) || 0);

/**
 * The counterexample to begin with: the lost update, if it is kept.
 * @param {Json.Matrix} matrix
 */
function landing(matrix) {
  const all = examplesOf(matrix).flatMap(({ examples }) => examples.map((e) => e.name));
  return all.find((name) => name === 'naive.oversell') ?? all[0];
}

/** @param {{matrix: Json.Matrix | null, name: string}} props */
function Chooser({ matrix, name }) {
  return html`
    <section class="panel chooser" aria-label=${words().others}>
      <div class="field"><label for="example">${words().example}</label>
        <select id="example" onChange=${(e) => go('trace', e.currentTarget.value)}>
          <option value="" selected=${!name}>${words().choose}</option>
          ${matrix && examplesOf(matrix).map(({ row, examples }) => html`
            <optgroup key=${row.strategy} label=${row.strategy}>
              ${examples.map((e) => html`
                <option key=${e.name} value=${e.name} selected=${e.name === name}>${row.strategy}${t.colon}${t.guarantees.titleOf(e.question)}${
    e.further ? t.aside(t.list(e.rules.map((rule) => t.rules[rule] ?? rule))) : ''}</option>`)}
            </optgroup>`)}
        </select></div>
      <${Live} chosen=${name.split('.')[0] || 'naive'} />
    </section>`;
}

/**
 * What happened, in a few words: how many were sold of how many, or else the rule that broke.
 * @param {Played} trace
 */
function happened({ strategy, problems: [first] }) {
  const [, sold, stock] = /^(\d+) units sold out of (\d+)/.exec(first?.message ?? '') ?? [];
  return sold ? words().sells(strategy, sold, stock) : first ? words().breaks(strategy, t.rules[first.rule] ?? first.rule) : words().withstands(strategy);
}

/** @param {{trace: Played, file: string, matrix: Json.Matrix | null, hidden: boolean}} props hidden: the end is still to be guessed */
function Title({ trace, file, matrix, hidden }) {
  const question = matrix?.questions.find((q) => q.id === trace.question);
  return html`
    <section class="title-of">
      <h1>${hidden ? trace.strategy : happened(trace)}</h1>
      <p class="hint">${[trace.live && words().liveTitle(trace.buyers.length, new Date(trace.started ?? 0).toLocaleTimeString('en-GB')), say(trace.name), question && matrixWords().asksOf(question)].filter(Boolean).join(' · ')}
        ${' '}<a href=${link('lessons', trace.strategy)}>${words().lesson}</a>${question && html` · <a href=${link('guarantees', '', { cell: `${trace.strategy}.${question.id}` })}>${words().proof}</a>`}</p>
      <${Downloads} trace=${trace} title=${happened(trace)} file=${file} />
      ${trace.buyers.some((b) => b.does) && html`<ul class="cast">
        ${trace.buyers.map((b) => html`<li key=${b.name}><b>${b.name}</b> ${words().does(b)}</li>`)}
        ${(trace.renewals ?? 0) > 0 && html`<li><b>↻</b> ${words().renewals(trace.renewals)}</li>`}
        ${trace.steps.some((s) => s.who === 'next') && html`<li><b>${words().who('next')}</b> ${words().next}</li>`}</ul>`}
      ${trace.cut && html`<p class="hint">${words().cut(trace.steps.length)}</p>`}
    </section>`;
}
