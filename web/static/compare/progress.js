// A comparison in progress: the current turn, how far it is, and for each
// strategy its verdict and its rounds so far.
import { useLab } from '../lab.js';
import { t } from '../text.js';
import { classes, count, html, ms, useEffect, useState } from '../ui.js';
import { Badge } from './badge.js';
import { Dots, axisEnd } from './bars.js';
import { words } from './text.js';

/** @param {{comparison: Json.Comparison}} props */
export function Progress({ comparison }) {
  const w = words();
  const { done, total, settings, state } = comparison;
  const seconds = useElapsed(comparison);
  const left = done > 0 && state !== 'stopping' ? (seconds / done) * (total - done) : 0;
  const standings = (comparison.standings ?? []).filter((s) => s.concurrency === settings.concurrency).reverse();
  const title = state === 'stopping' ? w.progress.stopping : total ? w.progress.on(stepOf(comparison)) : w.progress.begins;
  const waiting = useChosen(settings.strategies).filter((name) => !standings.some((s) => s.strategy === name));
  const end = axisEnd(Math.max(1, ...standings.flatMap((s) => s.rates ?? [])));
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}${left > 1 && ` · ${w.progress.left(left)}`}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>
    <section class="panel" aria-labelledby="standings-title">
      <h2 id="standings-title">${w.progress.standings}</h2>
      <p class="hint">${standings.length ? w.bars.defined : w.progress.nothing}</p>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="standings-title">
        <table class="standings">
          <thead><tr><th scope="col">${t.history.strategy}</th><th scope="col">${t.history.verdict}</th>
            <th scope="col" class="n">${w.progress.rounds}</th><th scope="col" class="rounds">${w.progress.each}</th><th scope="col" class="n">${w.columns.sales}</th><th scope="col" class="n">${w.columns.p99}</th></tr></thead>
          <tbody>${standings.map((s) => html`
            <tr key=${s.strategy} class=${classes(comparison.turn?.strategy === s.strategy && 'shown')}>
              <th scope="row"><code>${s.strategy}</code></th>
              <td>${s.not_run ? html`<span class="badge" title=${s.not_run}>${w.verdicts.notRun}</span>`
    : s.verdict ? html`<${Badge} entry=${s} />` : '–'}</td>
              <td class="n">${count(s.rounds)} / ${count(settings.repeats)}</td>
              <td class="rounds"><svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true"><${Dots} rounds=${s.rates ?? []} at=${(rate) => (1000 * rate) / end} /></svg></td>
              <td class="n">${s.sales_per_second ? count(s.sales_per_second) : '–'}</td>
              <td class="n">${s.p99_ms ? ms(s.p99_ms) : '–'}</td>
            </tr>`)}
            ${waiting.map((name) => html`
            <tr key=${name}><th scope="row"><code>${name}</code></th><td colspan="5" class="hint">${comparison.turn?.strategy === name ? w.progress.now : w.progress.waits}</td></tr>`)}</tbody>
        </table>
      </div>
    </section>`;
}

/**
 * Hook: the names of the strategies that take part.
 * @param {string[]} named
 */
function useChosen(named) {
  const { strategies } = useLab();
  return named.join() === 'all' ? strategies.filter((s) => s.available).map((s) => s.name) : named;
}

/**
 * What has its turn, in the chosen language.
 * @param {Json.Comparison} comparison
 */
function stepOf({ turn, step }) {
  const w = words();
  if (turn?.baseline) return w.progress.with(w.baselineNames[turn.baseline] ?? turn.baseline, turn.concurrency);
  return turn?.strategy ? w.progress.with(turn.strategy, turn.concurrency) : step;
}

/**
 * Seconds since the start, also between two events.
 * @param {Json.Comparison} comparison
 */
function useElapsed({ seconds }) {
  const [now, setNow] = useState({ said: seconds, at: performance.now(), more: 0 });
  useEffect(() => {
    const at = performance.now();
    setNow({ said: seconds, at, more: 0 });
    const tick = setInterval(() => setNow({ said: seconds, at, more: (performance.now() - at) / 1000 }), 1000);
    return () => clearInterval(tick);
  }, [seconds]);
  return now.said + now.more;
}
