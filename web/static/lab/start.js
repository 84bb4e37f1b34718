// The guided start: see it break, see it hold, both side by side, and a lock whose
// holder is frozen.
import { start, startWithFault } from '../lab.js';
import { later, useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { t } from '../text.js';
import { html, useLayoutEffect, useRef } from '../ui.js';

const TokenField = later(() => import('./fields.js'), 'TokenField'); // few labs need one

const sale = { stock: 100, buyers: 2000, concurrency: 64 };
/** A sale that is long enough for a fault, also on a busy machine: units are left when it happens, and all are sold in the end. */
export const longSale = { profile: 'constant', stock: 60, rate: 20, duration_ns: 12e9, lease_ms: 2000, wait_ms: 10000, poll_ms: 50 };
const steps = [{ names: ['naive'] }, { names: ['conditional'] }, { names: ['naive', 'conditional'] }, { names: ['redis-lua'], fault: 'pause_holder' }];

/**
 * edit: shows the settings; back: it was left for them, and has the focus again.
 * @param {{lab: import('../lab.js').State, edit: () => void, back: boolean}} props
 */
export function Steps({ lab, edit, back }) {
  const settings = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useLayoutEffect(() => { if (back && document.activeElement === document.body) settings.current.focus(); }, []);
  const { busy, failure, act } = useAction();
  const on = busy || isOn(lab.newest);
  const offered = steps.filter(({ fault }) => !fault || lab.status?.faults.some((f) => f.kind === fault && f.available));
  const done = offered.map(({ names, fault }) => lab.runs.some((run) => run.state === 'done' && run.settings.strategies.join() === names.join()
    && (!fault || run.faults.some((f) => f.kind === fault))));
  const next = done.indexOf(false);
  const go = (/** @type {(typeof steps)[number]} */ { names, fault }) => on || act(async () => {
    await (fault ? startWithFault({ strategies: names, ...longSale }, fault) : start({ strategies: names, ...sale }));
    showStage();
  });
  return html`
    <section class="panel start" aria-label=${t.nav.doors.run}>
      <ol class="guided">${offered.map((step, i) => html`
        <li key=${step.names.join()}><button type="button" class=${i === next ? 'run' : 'offer'} data-step=${i + 1} aria-disabled=${on ? 'true' : undefined} onClick=${() => go(step)}>
          ${done[i] && '✓ '}${t.start.steps[i].title}</button> <span class="hint">${t.start.steps[i].hint}</span></li>`)}</ol>
      <button type="button" class="link" id="settings" ref=${settings} onClick=${edit}>${t.start.settings}</button>
      <${Wrong} failure=${failure} />
      ${failure && lab.status?.token_needed && html`<${TokenField} />`}
    </section>`;
}

/** Scrolls to the run and has the focus go on there: on a phone it is below the start. */
export function showStage() {
  const stage = document.getElementById('stage');
  if (document.activeElement?.closest('.history')) stage?.focus({ preventScroll: true });
  const top = stage?.getBoundingClientRect().top ?? 0;
  if (top < 0 || top > innerHeight / 2) stage?.scrollIntoView();
}
