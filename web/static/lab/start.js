// The guided start: see it break, see it hold, and both side by side.
import { start } from '../lab.js';
import { later, useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { t } from '../text.js';
import { classes, html, useLayoutEffect, useRef } from '../ui.js';
import { Sign } from './verdict.js';

const TokenField = later(() => import('./fields.js'), 'TokenField'); // few labs need one

const sale = { stock: 100, buyers: 2000, concurrency: 64 };
const steps = [['naive'], ['conditional'], ['naive', 'conditional']];

/**
 * edit: shows the settings; back: it was left for them, and has the focus again.
 * @param {{lab: import('../lab.js').State, edit: () => void, back: boolean}} props
 */
export function Steps({ lab, edit, back }) {
  const settings = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useLayoutEffect(() => { if (back && document.activeElement === document.body) settings.current.focus(); }, []);
  const { busy, failure, act } = useAction();
  const on = busy || isOn(lab.newest);
  const done = steps.map((names) => lab.runs.some((run) => run.state === 'done' && run.settings.strategies.join() === names.join()));
  const next = done.indexOf(false);
  const go = (/** @type {string[]} */ strategies) => on || act(async () => {
    await start({ strategies, ...sale });
    showStage();
  });
  return html`
    <section class="panel start" aria-label=${t.start.title}>
      <ol class="guided">${steps.map((names, i) => html`
        <li key=${names.join()}><button type="button" class=${i === next ? 'run' : 'offer'} aria-disabled=${on ? 'true' : undefined} onClick=${() => go(names)}>
          ${done[i] && '✓ '}${t.start.steps[i].title}</button> <span class="hint">${t.start.steps[i].hint}</span></li>`)}</ol>
      <button type="button" class="link" id="settings" ref=${settings} onClick=${edit}>${t.start.settings}</button>
      <${Wrong} failure=${failure} />
      ${failure && lab.status?.token_needed && html`<${TokenField} />`}
    </section>`;
}

/** Before the first run: what the verdicts mean. */
export const Meaning = () => html`
  <dl id="stage" class="meaning" tabindex="-1">
    ${['held', 'oversold', 'lost', 'blocked', 'not_valid'].map((v) => html`
      <div key=${v}><dt><span class=${classes('badge', v)}><${Sign} verdict=${v} />${t.verdicts[v]}</span></dt><dd>${t.start.meaning[v]}</dd></div>`)}
  </dl>`;

/** Scrolls to the run and has the focus go on there: on a phone it is below the start. */
export function showStage() {
  const stage = document.getElementById('stage');
  if (document.activeElement?.closest('.history')) stage?.focus({ preventScroll: true });
  const top = stage?.getBoundingClientRect().top ?? 0;
  if (top < 0 || top > innerHeight / 2) stage?.scrollIntoView();
}
