// A comparison in progress: the current turn, how far it is, and what came of the
// strategies so far.
import { useLab } from '../lab.js';
import { count, html, useEffect, useState } from '../ui.js';
import { Table } from './table.js';
import { words } from './text.js';

/** @param {{comparison: Json.Comparison}} props */
export function Progress({ comparison }) {
  const w = words();
  const { done, total, turn, settings, state } = comparison;
  const seconds = useElapsed(comparison);
  const left = done > 0 && state !== 'stopping' ? (seconds / done) * (total - done) : 0;
  const standings = (comparison.standings ?? []).filter((e) => e.concurrency === settings.concurrency);
  const title = state === 'stopping' ? w.progress.stopping : turn ? w.progress.on(turn.strategy, turn.concurrency === settings.concurrency ? 0 : turn.concurrency) : w.progress.begins;
  const waiting = useChosen(settings.strategies).filter((name) => !standings.some((s) => s.strategy === name));
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}${left > 1 && ` · ${w.progress.left(left)}`}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>
    <section class="panel standings" aria-labelledby="standings-title">
      <h2 id="standings-title">${w.progress.standings}</h2>
      ${standings.length > 0 && html`<${Table} entries=${standings} />`}
      ${waiting.length > 0 && html`<p class="hint">${w.progress.waiting(waiting.length > 6 ? count(waiting.length) : waiting.join(', '))}</p>`}
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
