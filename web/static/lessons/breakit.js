// The "break it" button: a run in the lab, or the counterexample's schedule on
// the lab's servers.
import { call } from '../api.js';
import { exampleOf } from '../guarantees/matrix.js';
import { start } from '../lab.js';
import { later, useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { isSite } from '../source.js';
import { NeedsLab } from '../story/needs.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';
import { Picture } from '../trace/picture.js';
import { readExample } from '../trace/read.js';
import { InWords, Place } from './drawn.js';
import { Predict } from './predict.js';
import { words as lessonWords } from './text.js';

const Stage = later(() => import('../lab/stage.js'), 'Stage'); // a site never needs it

/**
 * draws: also shows the counterexample, on a slide that has no button to run.
 * @param {{chapter: Json.Chapter, lab: import('../lab.js').State, matrix: Json.Matrix | null, draws?: boolean}} props
 */
export function BreakIt({ chapter, lab, matrix, draws }) {
  const { strategy, stock, buyers, question, held } = chapter.break;
  const row = matrix?.rows.find((r) => r.strategy === strategy);
  const broken = (matrix?.questions ?? []).filter((q) => exampleOf(row?.cells[q.id]));
  return html`
    <div class="break-it">
      ${question ? html`<${Counterexample} strategy=${strategy} question=${question} row=${row} matrix=${matrix} />
      ${held && html`<p><a class="offer beside" href=${link('trace', `held.${held}.${question}`)}>${lessonWords().beside(held)}</a></p>`}`
    : html`${isSite ? html`<${NeedsLab} does=${lessonWords().breakIt(strategy, stock, buyers)} />${broken[0] && html`<p><a class="run" href=${link('trace', exampleOf(row?.cells[broken[0].id]), { guess: 1 })}>${lessonWords().guess}</a></p>`}` : html`<${Run} chapter=${chapter} lab=${lab} />`}
      ${broken.length > 0 && html`<p>${lessonWords().traces}${broken.map((q, i) => html`${i > 0 && t.comma}<a key=${q.id} href=${link('trace', exampleOf(row?.cells[q.id]))}>✗ ${t.guarantees.titleOf(q)}</a>`)}</p>`}`}
      ${draws && broken[0] && html`<${Place} place=${`${strategy} ${question ?? broken[0].id} breaks`} matrix=${matrix} zoom=${1.3} />`}
    </div>`;
}

/** @param {{strategy: string, question: string, row?: Json.Row, matrix: Json.Matrix | null}} props */
function Counterexample({ strategy, question, row, matrix }) {
  const q = matrix?.questions.find((one) => one.id === question);
  const example = q && exampleOf(row?.cells[question]);
  if (example) return html`
    ${question !== 'node-loss' && (isSite ? html`<${NeedsLab} does=${lessonWords().live(strategy, `✗ ${t.guarantees.titleOf(q)}`)} />` : html`<${Live} key=${example} example=${example} says=${lessonWords().live(strategy, `✗ ${t.guarantees.titleOf(q)}`)} />`)}
    <p class="buttons"><a class="offer play" href=${link('trace', example)}>${lessonWords().play(strategy, `✗ ${t.guarantees.titleOf(q)}`)}</a>
      <a class="offer" href=${link('trace', example, { guess: 1 })}>${lessonWords().guess}</a></p>`;
  return matrix && html`<p class="hint">${lessonWords().noExample} <code>seckill prove --strategies ${strategy} --questions ${question}</code></p>`;
}

/**
 * The counterexample's schedule, run now.
 * @param {{example: string, says: string}} props
 */
function Live({ example, says }) {
  const [now, setNow] = useState(/** @type {import('../trace/model.js').Trace | null} */ (null));
  const l = lessonWords();
  const { busy, failure, act } = useAction((error) => {
    setNow(null);
    return /** @type {Record<string, string>} */ (l.liveWrong)[error.code] ?? error.message;
  });
  const go = () => act(async () => setNow(readExample(await call('POST', '/api/lab/v1/replays', { example }))));
  return html`
    <button type="button" class="run" aria-disabled=${busy ? 'true' : undefined} onClick=${go}>${says}</button>
    <p class="live-said" role="status">${busy ? l.liveRuns : now && html`<strong class=${now.problems.length ? 'broke' : ''}>${now.problems.length ? l.liveBroke(t.list([...new Set(now.problems.map((p) => t.rules[p.rule] ?? p.rule))])) : l.liveHeld}</strong>`}</p>
    <${Wrong} failure=${failure} />
    ${now && html`<figure class="drawn-example live"><${Picture} trace=${now} brief />
      <figcaption><${InWords} trace=${now} /></figcaption></figure>`}`;
}

/**
 * A run in the lab: all tabs see it, and it is in the history. One that a teacher
 * starts meanwhile, with the same sale, counts for the whole class.
 * @param {{chapter: Json.Chapter, lab: import('../lab.js').State}} props
 */
function Run({ chapter, lab }) {
  const { strategy, stock, buyers } = chapter.break;
  const [started, setStarted] = useState('');
  const { busy, failure, act } = useAction();
  const on = isOn(lab.newest) || busy;
  const run = lab.newest?.id === started ? lab.newest : null;
  const theirs = isOn(lab.newest) && lab.newest?.settings;
  const same = theirs && String(theirs.strategies) === strategy && theirs.stock === stock && theirs.buyers === buyers;
  useEffect(() => { if (same && lab.newest) setStarted(lab.newest.id); }, [same, lab.newest?.id]);
  const go = () => on || act(async () => setStarted((await start({ strategies: [strategy], stock, buyers, concurrency: 64 })).id));
  return html`
    <${Predict} chapter=${chapter} audit=${run?.lanes[0].result?.audit} />
    <button type="button" class="run" aria-disabled=${on ? 'true' : undefined} onClick=${go}>${lessonWords().breakIt(strategy, stock, buyers)}</button>
    ${lab.newest && isOn(lab.newest) && !run && html`<p class="hint">${lessonWords().other(t.list(lab.newest.settings.strategies))}</p>`}
    <${Wrong} failure=${failure} />
    ${run && html`<${Stage} run=${run} lab=${lab} />`}`;
}
