// A comparison in progress: the current turn, and how far it is.
import { html } from '../ui.js';
import { words } from './text.js';

/** @param {{comparison: Json.Comparison}} props */
export function Progress({ comparison }) {
  const w = words();
  const { done, total, turn, settings, state, seconds } = comparison;
  const left = done > 0 && state !== 'stopping' ? (seconds / done) * (total - done) : 0;
  const title = state === 'stopping' ? w.progress.stopping : turn ? w.progress.on(turn.strategy, turn.concurrency === settings.concurrency ? 0 : turn.concurrency) : w.progress.begins;
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}${left > 1 && ` · ${w.progress.left(left)}`}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>`;
}
