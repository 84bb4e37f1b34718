// The shown run: one strategy large, or up to four side by side, with their
// verdicts at the end.
import { later } from '../loaded.js';
import { isOn } from '../records.js';
import { t } from '../text.js';
import { classes, html } from '../ui.js';
import { Charts } from './charts.js';
import { Idle } from './idle.js';
import { Outcomes, Stock } from './lane.js';
import { About, Facts, Lesson, Rules, Verdict, announcement } from './verdict.js';

/** @param {{run: Json.Run | null, lab: import('../lab.js').State}} props */
export function Stage({ run, lab }) {
  if (!run) {
    return html`<section id="stage" class="panel stage" tabindex="-1"><${Idle} lab=${lab} /></section>`;
  }
  const { lanes } = run;
  return html`
    <section id="stage" class="stage" tabindex="-1">
      <${Announcer} run=${lab.newest} />
      ${run.series && html`<${Series} run=${run} lab=${lab} />`}
      ${isOn(run) && html`<${Busy} run=${run} />`}
      ${!isOn(run) && run.error && html`<${Verdict} run=${run} lane=${{ ...lanes[0], error: run.error }} />`}
      ${lanes.length === 1 ? html`<${Alone} run=${run} lane=${lanes[0]} lab=${lab} />` : html`<${Abreast} run=${run} lab=${lab} />`}
      ${(run.state === 'running' || run.faults.length > 0) && html`<${Faults} key=${`faults-${run.id}`} run=${run} status=${lab.status} strategies=${lab.strategies} />`}
      <${Charts} key=${run.id} lanes=${lanes} faults=${run.faults} />
      ${lanes.length === 1 && lanes[0].result && html`<${Facts} result=${lanes[0].result} />`}
      <${About} key=${`about-${run.id}`} run=${run} />
    </section>`;
}

const Faults = later(() => import('./faults.js'), 'Faults');
const Series = later(() => import('./series.js'), 'Series');
const Abreast = later(() => import('./abreast.js'), 'Abreast');
const Explained = later(() => import('./why.js'), 'Why');

/**
 * The verdict explained.
 * @param {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State}} props
 */
export const Why = (props) => ['held', 'oversold', 'lost', 'blocked'].includes(props.lane.result?.verdict ?? '') && html`<${Explained} ...${props} />`;

/** @param {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State}} props */
function Alone({ run, lane, lab }) {
  return html`
    ${!isOn(run) && !run.error && html`<${Verdict} run=${run} lane=${lane} /><${Why} run=${run} lane=${lane} lab=${lab} />`}
    <div class="panel figures">
      <${Stock} stock=${run.settings.stock} lane=${lane} />
      <${Outcomes} lane=${lane} />
    </div>
    ${lane.result && html`
      <${Rules} result=${lane.result} /><${Lesson} result=${lane.result} />`}`;
}

const names = (run) => t.list(run.settings.strategies);
/** The number of buyers of a run, also before its first report. */
const buyersOf = ({ settings: s }, lane) => lane.progress?.buyers ?? s.buyers ?? Math.round(((s.rate + (s.to_rate || s.rate)) / 2) * s.seconds);

/** @param {{run: Json.Run}} props */
function Busy({ run }) {
  const settling = run.lanes.every((lane) => lane.result || lane.progress?.settling);
  const title = { preparing: t.preparing, stopping: t.stoppingRun }[run.state] ?? (settling ? t.auditing : t.running);
  return html`
    <div class=${classes('banner busy', run.lanes.length > 1 && 'short')}>
      <p class="word">${title(names(run))}</p>
      ${run.lanes.length === 1 && html`<${Answered} run=${run} lane=${run.lanes[0]} />`}
    </div>`;
}

/** @param {{run: Json.Run, lane: Json.Lane}} props */
export function Answered({ run, lane }) {
  const answered = lane.progress?.requests ?? 0;
  const all = buyersOf(run, lane);
  const text = t.answered(answered, all);
  return html`<div class="answered"><p>${text}</p><progress max=${all} value=${answered} aria-label=${text}></progress></div>`;
}

/** Announces starts and verdicts to screen readers, and nothing in between. */
/** @param {{run: Json.Run | null}} props */
function Announcer({ run }) {
  let text = '';
  if (isOn(run)) text = t.startedAnnouncement(names(run));
  else if (run) text = run.lanes.map((lane) => announcement(run, lane)).join(' ');
  return html`<p class="hidden" role="status">${text}</p>`;
}

/** Scrolls to the run and has the focus go on there: on a phone it is below the form, beside a long form above. */
export function showStage() {
  const stage = document.getElementById('stage');
  if (document.activeElement?.closest('.history')) stage?.focus({ preventScroll: true });
  const top = stage?.getBoundingClientRect().top ?? 0;
  if (top < 0 || top > innerHeight / 2) stage?.scrollIntoView();
}
