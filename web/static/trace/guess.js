// Predict first: what comes next is hidden, and its answer is guessed.
import { breakable, highlight, languageOf } from '../highlight.js';
import { answerOf, event } from './label.js';
import { servers } from './model.js';
import { words } from './text.js';
import { classes, html, useLayoutEffect, useRef, useState } from '../ui.js';

/** @typedef {import('./model.js').Step} Step */

const choices = 3;

/**
 * A trace as far as it was seen.
 * @param {import('./model.js').Trace} trace @param {number} now
 */
export const seenOf = (trace, now) => ({
  ...trace, steps: trace.steps.slice(0, now), told: [], problems: [],
  ...(trace.beliefs && { beliefs: trace.beliefs.filter((b) => b.from < now).map((b) => ({ ...b, to: Math.min(b.to, now - 1) })) }),
});

/**
 * The true answer, and others that the same server gave, in an order that tells nothing.
 * @param {Step[]} steps @param {Step} step
 */
function offered(steps, step) {
  const others = steps.filter((s) => s.command && s.backend === step.backend).map(answerOf).filter((a) => a !== answerOf(step));
  return [...new Set([answerOf(step), ...others])].slice(0, choices).sort();
}

/** @param {{trace: import('./model.js').Trace, now: number, next: () => void}} props next: shows the step */
export function Guess({ trace, now, next }) {
  const [said, setSaid] = useState('');
  const w = words();
  const step = trace.steps[now];
  const plain = !step.command || Boolean(event(step)) || step.fault !== '';
  const all = plain ? [] : offered(trace.steps, step);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => { if (now && document.activeElement === document.body) box.current.focus(); }, []); // the button that was pressed is gone
  return html`
    <section class="panel guess" aria-live="polite" ref=${box} tabindex="-1">
      <h2>${now + 1}${step.who && ` · ${w.who(step.who)}`}${servers[step.backend] && ` → ${servers[step.backend]}`}</h2>
      ${step.command && !event(step) && html`<pre tabindex="0"><code>${breakable(highlight(step.command, languageOf(step.backend)))}</code></pre>`}
      ${all.length > 1 && html`<p>${w.guess.asks}</p>
        <p class="buttons">${all.map((a) => html`<button key=${a} type="button" class=${classes('offer small', said && a === answerOf(step) && 'right')} aria-disabled=${said ? 'true' : undefined}
          aria-pressed=${String(said === a)} data-answer onClick=${() => said || setSaid(a)}>${a}</button>`)}</p>`}
      <p role="status" data-right=${said ? String(said === answerOf(step)) : undefined}>${said && (said === answerOf(step) ? w.guess.right : w.guess.wrong(answerOf(step)))}</p>
      ${(said || all.length < 2) && html`<p><button type="button" class="run" data-do="reveal" onClick=${next}>${w.guess.next}</button></p>`}
    </section>`;
}
