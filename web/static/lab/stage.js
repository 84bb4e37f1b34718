// The shown run: its course while it is on, then its result. One strategy alone, or up
// to four side by side.
import { stop } from '../lab.js';
import { later, useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { read } from '../route.js';
import { t } from '../text.js';
import { classes, count, html, ms, styled, useEffect } from '../ui.js';
import { LineSample } from './line.js';
import { showStage } from './start.js';
import { Because, Next } from './why.js';
import { announcement, Verdict } from './verdict.js';

await styled('lab/lab.css');

const Charts = later(() => import('./charts.js'), 'Charts');
const Faults = later(() => import('./faults.js'), 'Faults');
const Evidence = later(() => import('./evidence.js'), 'Evidence');

/** @param {{run: Json.Run, lab: import('../lab.js').State}} props */
export function Stage({ run, lab }) {
  const { lanes } = run;
  useEffect(() => { if (read().query.run === run.id) showStage(); }, [run.id]);
  const on = isOn(run);
  const busy = on ? run : lab.newest && isOn(lab.newest) ? lab.newest : null; // also while an earlier one is looked at
  return html`
    <section id="stage" class="stage" tabindex="-1">
      <${Announcer} run=${lab.newest} />
      ${busy && html`<${Busy} run=${busy} />`}
      <div class=${classes('lanes', `of-${lanes.length}`)}>${lanes.map((lane, i) => html`<${Lane} key=${lane.strategy} run=${run} lane=${lane} lab=${lab} line=${i} />`)}</div>
      ${on ? html`
        ${run.state === 'running' && html`<${Faults} key=${`faults-${run.id}`} run=${run} status=${lab.status} strategies=${lab.strategies} />`}
        <${Charts} key=${run.id} lanes=${lanes} faults=${run.faults} />`
    : html`<${Evidence} key=${`evidence-${run.id}`} run=${run} />`}
    </section>`;
}

/** @param {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State, line: number}} props */
function Lane({ run, lane, lab, line }) {
  const several = run.lanes.length > 1;
  const over = lane.result || lane.error || !isOn(run);
  return html`
    <article class=${classes('lane-card', several && 'panel')} aria-labelledby=${several ? `lane-${line}` : undefined}>
      <div class="outcome">
        ${several && html`<h2 id=${`lane-${line}`} class="name"><${LineSample} line=${line} />${lane.strategy}</h2>`}
        ${over ? html`<${Verdict} run=${run} lane=${lane} />` : several && html`<${Answered} run=${run} lane=${lane} />`}
        ${!run.error && html`<${Numbers} run=${run} lane=${lane} />`}
        ${lane.result && html`<${Next} run=${run} lane=${lane} lab=${lab} />`}
      </div>
      ${lane.result && html`<${Because} run=${run} lane=${lane} lab=${lab} />`}
    </article>`;
}

/**
 * What was sold, what is left, what buyers were told, and how long it took.
 * @param {{run: Json.Run, lane: Json.Lane}} props
 */
function Numbers({ run, lane: { result, progress, points } }) {
  const { stock } = run.settings;
  const audit = result?.audit;
  const left = audit?.remaining ?? progress?.left ?? stock;
  const sold = audit?.sold ?? progress?.units ?? 0;
  const counts = result?.counts ?? progress?.counts ?? {};
  const others = Object.entries(counts).filter(([outcome, n]) => outcome !== 'sold' && n > 0).map(([outcome, n]) => `${t.outcomes[outcome] ?? outcome} ${count(n)}`);
  const n = t.numbers;
  return html`
    <dl class="numbers-row">
      <div class=${classes(sold > stock && 'bad')}><dt>${n.sold}</dt><dd data-sold=${sold}>${count(sold)}</dd><dd class="hint">${n.of(stock)}</dd></div>
      <div class=${classes(left < 0 && 'bad')}><dt>${n.left}</dt><dd data-left=${left}>${count(left)}</dd><dd class="hint">${left < 0 ? n.below : n.units}</dd></div>
      <div class="told"><dt>${n.told}</dt><dd>${count(counts.sold ?? 0)}</dd><dd class="hint">${others.length ? t.list(others) : n.nothingElse}</dd></div>
      <div><dt>${n.time}</dt><dd>${n.took(result?.seconds ?? points?.at(-1)?.at ?? 0)}</dd><dd class="hint">${result && n.p99(ms(result.latency_us.p99 / 1000))}</dd></div>
    </dl>`;
}

const names = (run) => t.list(run.settings.strategies);

/** @param {{run: Json.Run}} props */
function Busy({ run }) {
  const { failure, act } = useAction();
  const settling = run.lanes.every((lane) => lane.result || lane.progress?.settling);
  const title = { preparing: t.preparing, stopping: t.stoppingRun }[run.state] ?? (settling ? t.auditing : t.running);
  return html`
    <div class="banner busy">
      <p class="word">${title(names(run))}
        <button type="button" class="stop" disabled=${run.state === 'stopping'} onClick=${() => act(() => stop(run))}>${run.state === 'stopping' ? t.form.stopping : t.form.stop}</button></p>
      ${run.lanes.length === 1 && html`<${Answered} run=${run} lane=${run.lanes[0]} />`}
      <${Wrong} failure=${failure} />
    </div>`;
}

/** @param {{run: Json.Run, lane: Json.Lane}} props */
function Answered({ run, lane }) {
  const answered = lane.progress?.requests ?? 0;
  const { rate, duration_ns: duration = 0, buyers = 0 } = run.settings;
  const all = lane.progress?.buyers ?? (rate ? Math.round(rate * duration / 1e9) : buyers); // also before its first report
  const text = t.answered(answered, all);
  return html`<div class="answered"><p>${text}</p><progress max=${all} value=${answered} aria-label=${text}></progress></div>`;
}

/**
 * Announces starts and verdicts to screen readers, and nothing in between.
 * @param {{run: Json.Run | null}} props
 */
function Announcer({ run }) {
  let text = '';
  if (isOn(run)) text = t.startedAnnouncement(names(run));
  else if (run) text = run.lanes.map((lane) => announcement(run, lane)).join(' ');
  return html`<p class="hidden" role="status">${text}</p>`;
}
