// The trace screen: a counterexample of `seckill prove`, or a live purchase,
// command by command.
import { exampleOf, examplesOf, loadMatrix } from '../guarantees/matrix.js';
import { say } from '../guarantees/say.js';
import { words as matrixWords } from '../guarantees/text.js';
import { Failed, useLoaded } from '../loaded.js';
import { go, link, read, stay } from '../route.js';
import { t } from '../text.js';
import { words } from './text.js';
import { html, styled, useEffect, useRef, useState } from '../ui.js';
import { Downloads } from './exports.js';
import { Live } from './live.js';
import { Player } from './player.js';
import { readExample, Unreadable } from './read.js';
import { fetchExample, fileOf } from './source.js';

await styled('trace/trace.css');

/** @typedef {import('./model.js').Trace} Played */

/** @param {Error} error */
const said = (error) => (error instanceof Unreadable ? words().wrong[error.code](...error.args) : error.message);

/** @param {{route: import('../route.js').Route}} props */
export function Trace({ route }) {
  const [own, setOwn] = useState(/** @type {{title: string, trace: Played} | null} */ (null)); // a file
  const [wrong, setWrong] = useState(/** @type {Error | null} */ (null)); // with a file
  const chose = useRef(false); // a file: known at once, also to an effect of an earlier drawing
  const name = route.part;
  const { value: matrix, ...noMatrix } = useLoaded(loadMatrix, []);
  const { value: trace, ...noTrace } = useLoaded(() => (name ? fetchExample(name) : Promise.resolve(null)), [name]);
  const failed = [noTrace, noMatrix].find((one) => one.error);
  const [at, setAt] = useState(0); // of a file, which has no address

  useEffect(() => setWrong(null), [name]);

  useEffect(() => { // an empty screen explains nothing
    const first = matrix && !read().part && !chose.current && landing(matrix); // the address may be newer than this drawing
    if (first) stay('trace', first);
  }, [matrix, name]);

  const openFile = async (/** @type {File} */ file) => {
    chose.current = true;
    try {
      setOwn({ title: file.name, trace: readExample(await file.text()) });
      setAt(0);
      setWrong(null);
      go('trace'); // also from a first example that is on its way
    } catch (error) {
      setWrong(error);
    }
  };
  const played = name ? trace : own?.trace;
  return html`
    <div role="alert">${wrong && html`<p class="panel wrong">${said(wrong)}</p>`}</div>
    ${failed?.error && html`<${Failed} error=${failed.error} again=${failed.again} said=${said(failed.error)} />`}
    ${played && html`
      <${Title} trace=${played} title=${name ? '' : own?.title} file=${name && fileOf(name)} matrix=${matrix} />
      <${Player} key=${name || own?.title} trace=${played} at=${name ? place(route.query.step, played) : at}
        move=${(n) => (name ? stay('trace', name, { step: played.live ? n : n || '' }) : setAt(n))} />`}
    <${Chooser} matrix=${matrix} name=${name} openFile=${openFile} />`;
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
  const all = examplesOf(matrix).flatMap(({ row, examples }) => examples.map((q) => exampleOf(row.cells[q.id])));
  return all.find((name) => name === 'naive.oversell') ?? all[0];
}

/**
 * @param {{matrix: Json.Matrix | null, name: string, openFile: (file: File) => void}} props
 */
function Chooser({ matrix, name, openFile }) {
  return html`
    <section class="panel chooser" aria-label=${words().others}>
      <div class="field"><label for="example">${words().example}</label>
        <select id="example" onChange=${(e) => go('trace', e.currentTarget.value)}>
          <option value="" selected=${!name}>${words().choose}</option>
          ${matrix && examplesOf(matrix).map(({ row, examples }) => html`
            <optgroup key=${row.strategy} label=${row.strategy}>
              ${examples.map((q) => {
    const example = exampleOf(row.cells[q.id]);
    return html`<option key=${example} value=${example} selected=${example === name}>${row.strategy}${t.colon}${t.guarantees.titleOf(q)}</option>`;
  })}
            </optgroup>`)}
        </select></div>
      <div class="field file"><label for="file" class="offer small">${words().file}</label>
        <input id="file" class="hidden" type="file" accept=".json,application/json" aria-describedby="file-hint"
          onChange=${(e) => { const [file] = e.currentTarget.files; e.currentTarget.value = ''; if (file) openFile(file); }} />
        <p id="file-hint" class="hint">${words().fileHint}</p></div>
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

/** @param {{trace: Played, title?: string, file: string, matrix: Json.Matrix | null}} props */
function Title({ trace, title, file, matrix }) {
  const question = matrix?.questions.find((q) => q.id === trace.question);
  return html`
    <section class="title-of">
      <h1>${happened(trace)}</h1>
      <p class="hint">${[title, trace.live && words().liveTitle(trace.buyers.length, new Date(trace.started ?? 0).toLocaleTimeString('en-GB')), say(trace.name), question && matrixWords().asksOf(question)].filter(Boolean).join(' · ')}
        ${' '}<a href=${link('lessons', trace.strategy)}>${words().lesson}</a>${question && html` · <a href=${link('guarantees', '', { cell: `${trace.strategy}.${question.id}` })}>${words().proof}</a>`}</p>
      <${Downloads} trace=${trace} title=${happened(trace)} file=${file} />
      ${trace.buyers.some((b) => b.does) && html`<ul class="cast">
        ${trace.buyers.map((b) => html`<li key=${b.name}><b>${b.name}</b> ${words().does(b)}</li>`)}
        ${(trace.renewals ?? 0) > 0 && html`<li><b>↻</b> ${words().renewals(trace.renewals)}</li>`}
        ${trace.steps.some((s) => s.who === 'next') && html`<li><b>${words().who('next')}</b> ${words().next}</li>`}</ul>`}
      ${trace.cut && html`<p class="hint">${words().cut(trace.steps.length)}</p>`}
    </section>`;
}
