// A live purchase, recorded by the lab.
import { call } from '../api.js';
import { noStrategies, useLab } from '../lab.js';
import { useAction, Wrong } from '../loaded.js';
import { isSite } from '../source.js';
import { NeedsLab } from '../story/needs.js';
import { go, read } from '../route.js';
import { sixFirst, titleOf } from '../strategies.js';
import { words } from './text.js';
import { html, useState } from '../ui.js';

/** @typedef {import('./model.js').Step} Step */

/**
 * Converts the lab's answer to a trace for the player.
 * @param {Json.Trace} a @returns {import('./model.js').Trace}
 */
export function playable(a) {
  const steps = (a.steps ?? []).map((s) => /** @type {Step} */ ({
    who: s.who, fault: '', backend: s.backend, command: s.command, result: s.result ?? '', reply: s.reply ?? '', woke: [], values: [],
    start: s.start_us, took: s.took_us, background: s.background,
  }));
  const last = steps.at(-1);
  if (last) last.values = a.after ?? []; // nothing was read in between
  return {
    strategy: a.strategy, question: '', name: '', stock: a.stock, buyers: a.buyers, steps, before: a.before ?? [], held: a.held ?? [],
    told: a.told, problems: a.problems, cut: a.cut, live: true, started: a.started,
  };
}

/** @param {{chosen: string}} props */
export function Live({ chosen }) {
  const lab = useLab();
  const ready = sixFirst(lab.strategies.filter((s) => s.available));
  const [strategy, setStrategy] = useState(chosen);
  const { busy, failure, act } = useAction();
  const name = ready.some((s) => s.name === strategy) ? strategy : (ready[0]?.name ?? '');
  if (isSite) return html`<div class="field live"><span class="label">${words().live}</span><${NeedsLab} /></div>`;
  const make = (/** @type {number} */ buyers) => name && act(async () => {
    const { id } = await call('POST', '/api/lab/v1/traces', { strategy: name, buyers });
    if (read().screen === 'trace') go('trace', `live.${id}`); // not, where it was left meanwhile
  });
  return html`
    <div class="field live"><label for="live">${words().live}</label>
      <select id="live" onChange=${(e) => setStrategy(e.currentTarget.value)} aria-describedby="live-hint">
        ${ready.map((s) => html`<option key=${s.name} value=${s.name} selected=${s.name === name}>${s.name} · ${titleOf(s)}</option>`)}
      </select>
      <p class="buttons">
        ${[1, 2].map((n) => html`<button key=${n} type="button" class="offer" aria-disabled=${busy || !name ? 'true' : undefined} onClick=${() => make(n)}>
          ${n === 1 ? words().one : words().two}</button>`)}</p>
      <p id="live-hint" class="hint">${ready.length ? words().liveHint : noStrategies()}</p>
      <${Wrong} failure=${failure} />
    </div>`;
}
