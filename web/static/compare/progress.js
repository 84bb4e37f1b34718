// A comparison in progress: the current turn, and how far it is.
import { html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

/** @param {{comparison: Json.Comparison}} props */
export function Progress({ comparison }) {
  const w = words();
  const { done, total, turn, settings, state } = comparison;
  const seconds = useElapsed(comparison);
  const left = done > 0 && state !== 'stopping' ? (seconds / done) * (total - done) : 0;
  const title = state === 'stopping' ? w.progress.stopping : turn ? w.progress.on(turn.strategy, turn.concurrency === settings.concurrency ? 0 : turn.concurrency) : w.progress.begins;
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}${left > 1 && ` · ${w.progress.left(left)}`}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>`;
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
