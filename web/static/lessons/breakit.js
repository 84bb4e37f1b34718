// The "break it" button: a run in the lab, or the counterexample.
import { exampleOf } from '../guarantees/matrix.js';
import { Stage } from '../lab/stage.js';
import { start } from '../lab.js';
import { useFailure } from '../loaded.js';
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';
import { Drawn } from './drawn.js';
import { Predict } from './predict.js';
import { words as lessonWords } from './text.js';

/** @param {{chapter: Json.Chapter, lab: import('../lab.js').State, matrix: Json.Matrix | null}} props */
export function BreakIt({ chapter, lab, matrix }) {
  const { strategy, question, held } = chapter.break;
  const row = matrix?.rows.find((r) => r.strategy === strategy);
  const broken = (matrix?.questions ?? []).filter((q) => exampleOf(row?.cells[q.id]));
  const asked = matrix?.questions.find((one) => one.id === question);
  const drawn = asked && exampleOf(row?.cells[asked.id]); // below the links, which stay where they are
  return html`
    <div class="break-it">
      ${question ? html`<${Counterexample} strategy=${strategy} question=${question} row=${row} matrix=${matrix} />
      ${held && html`<p><a class="offer" href=${link('trace', `held.${held}.${question}`)}>${lessonWords().beside(held)}</a></p>`}
      ${drawn && html`<${Drawn} name=${drawn} says=${lessonWords().drawn(strategy, t.guarantees.titleOf(asked))} />`}
      ${held && html`<${Drawn} name=${`held.${held}.${question}`} says=${lessonWords().drawn(held)} />`}`
    : html`<${Run} chapter=${chapter} lab=${lab} />
      ${broken.length > 0 && html`<p>${lessonWords().traces} ${broken.map((q, i) => html`${i > 0 && ', '}<a key=${q.id} href=${link('trace', exampleOf(row?.cells[q.id]))}>${t.guarantees.titleOf(q)}</a>`)}</p>
      <${Drawn} name=${exampleOf(row?.cells[broken[0].id])} says=${lessonWords().drawn(strategy, t.guarantees.titleOf(broken[0]))} />`}`}
    </div>`;
}

/** @param {{strategy: string, question: string, row?: Json.Row, matrix: Json.Matrix | null}} props */
function Counterexample({ strategy, question, row, matrix }) {
  const q = matrix?.questions.find((one) => one.id === question);
  const example = q && exampleOf(row?.cells[question]);
  if (example) return html`<a class="run" href=${link('trace', example)}>${lessonWords().play(strategy, t.guarantees.titleOf(q))}</a>`;
  return matrix && html`<p class="hint">${lessonWords().noExample} <code>seckill prove --strategies ${strategy} --questions ${question}</code></p>`;
}

/**
 * A run in the lab: all tabs see it, and it is in the history. One that a teacher
 * starts meanwhile, with the same sale, counts for the whole class.
 * @param {{chapter: Json.Chapter, lab: import('../lab.js').State}} props
 */
function Run({ chapter, lab }) {
  const { strategy, stock, buyers } = chapter.break;
  const [started, setStarted] = useState('');
  const [failure, setFailure] = useFailure();
  const [sending, setSending] = useState(false);
  const on = isOn(lab.newest) || sending;
  const run = lab.newest?.id === started ? lab.newest : null;
  const theirs = isOn(lab.newest) && lab.newest?.settings;
  const same = theirs && String(theirs.strategies) === strategy && theirs.stock === stock && theirs.buyers === buyers;
  useEffect(() => { if (same && lab.newest) setStarted(lab.newest.id); }, [same, lab.newest?.id]);
  const go = async () => {
    if (on) return;
    setFailure('');
    setSending(true);
    try {
      setStarted((await start({ strategies: [strategy], stock, buyers, concurrency: 64 })).id);
    } catch (error) {
      setFailure(error.code === 'forbidden' && lab.status?.token_needed ? t.wrong.token : error.message);
    } finally {
      setSending(false);
    }
  };
  return html`
    <${Predict} chapter=${chapter} run=${started} audit=${run?.lanes[0].result?.audit} />
    <button type="button" class="run" aria-disabled=${on ? 'true' : undefined} onClick=${go}>${lessonWords().breakIt(strategy, stock, buyers)}</button>
    ${lab.newest && isOn(lab.newest) && !run && html`<p class="hint">${lessonWords().other(t.list(lab.newest.settings.strategies))}</p>`}
    <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
    ${run && html`<${Stage} run=${run} lab=${lab} />`}`;
}
