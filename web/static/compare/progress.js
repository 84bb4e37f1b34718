// A comparison in progress: the current turn, how far it is, and the verdicts
// so far.
import { t } from '../text.js';
import { count, html, ms, useEffect, useState } from '../ui.js';
import { Badge } from './badge.js';
import { words } from './text.js';

/** @param {{comparison: Json.Comparison}} props */
export function Progress({ comparison }) {
  const w = words();
  const { done, total, step, settings, state } = comparison;
  const seconds = useElapsed(comparison);
  const standings = (comparison.standings ?? []).filter((s) => s.concurrency === settings.concurrency).reverse();
  const title = state === 'stopping' ? w.progress.stopping : total ? w.progress.on(step) : w.progress.begins;
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>
    <section class="panel" aria-labelledby="standings-title">
      <h2 id="standings-title">${w.progress.standings}</h2>
      ${standings.length === 0 ? html`<p class="hint">${w.progress.nothing}</p>` : html`
        <div class="scroll" tabindex="0" role="region" aria-labelledby="standings-title">
          <table class="standings">
            <thead><tr><th scope="col">${t.history.strategy}</th><th scope="col">${t.history.verdict}</th>
              <th scope="col" class="n">${w.progress.rounds}</th><th scope="col" class="n">${w.columns.sales}</th><th scope="col" class="n">${w.columns.p99}</th></tr></thead>
            <tbody>${standings.map((s) => html`
              <tr key=${s.strategy}>
                <th scope="row"><code>${s.strategy}</code></th>
                <td>${s.not_run ? html`<span class="badge" title=${s.not_run}>${w.verdicts.notRun}</span>`
    : s.verdict ? html`<${Badge} entry=${s} />` : '–'}</td>
                <td class="n">${count(s.rounds)} / ${count(settings.repeats)}</td>
                <td class="n">${s.sales_per_second ? count(s.sales_per_second) : '–'}</td>
                <td class="n">${s.p99_ms ? ms(s.p99_ms) : '–'}</td>
              </tr>`)}</tbody>
          </table>
        </div>`}
    </section>`;
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
