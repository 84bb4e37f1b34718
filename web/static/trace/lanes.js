// One row per step: who sent what to which server. Locks that are held are bars
// along the lanes.
import { highlight, languageOf } from '../highlight.js';
import { narrow, servers } from './model.js';
import { words } from './text.js';
import { classes, html } from '../ui.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Kept} Kept */
/** @typedef {import('./model.js').Step} Sent */

/**
 * The number of lanes, for the stylesheet.
 * @param {Model} m
 */
export const onLanes = (m) => ({ style: { '--lanes': m.buyers.length + m.servers.length } });

/** @param {{model: Model, buyers: import('./model.js').Trace['buyers']}} props */
export function LaneHeads({ model: m, buyers }) {
  const process = (/** @type {string} */ name) => buyers.find((b) => b.name === name)?.process ?? -1;
  const several = new Set(buyers.map((b) => b.process)).size > 1;
  return html`
    <div class="heads">
      <span class="n"></span>
      <span class="lanes">
        ${m.buyers.map((name, i) => html`<span key=${name} class=${`head buyer of-${i % 4}`}><b>${words().who(name)}</b>
          ${several && process(name) >= 0 && html`<small title=${words().process(process(name) + 1)}>P${process(name) + 1}</small>`}</span>`)}
        ${m.servers.map((name) => html`<span key=${name} class="head"><b class="full">${servers[name]}</b><b class="brief" aria-hidden="true">${narrow[name]}</b></span>`)}
      </span>
    </div>`;
}

/**
 * @param {{step: Sent, index: number, model: Model, total?: number, current: boolean, past: boolean, choose: () => void}} props
 */
export function Step({ step: s, index, model: m, total, current, past, choose }) {
  const after = m.states[index + 1];
  const before = m.states[index];
  return html`
    <li class=${classes('step', past && 'past', current && 'current', s.fault && 'fault')}>
      <button type="button" aria-current=${current ? 'step' : undefined} onClick=${choose}>
        <span class="n">${index + 1}</span>
        <${Lanes} step=${s} index=${index} model=${m} />
        <span class="says">
          <span class="hidden">${s.who ? words().who(s.who) : ''}${servers[s.backend] ? ` → ${servers[s.backend]}` : ''}: </span>
          ${s.fault && html`<span class=${classes('badge', inPost(s) ? 'post' : 'bad')}>${words().faults[s.fault] ?? s.fault}</span> `}
          ${s.background && html`<span class="badge">↻ ${words().background}</span> `}
          ${s.command && (inWords(s) ?? html`<code>${s.command.slice(0, 300)}</code>`)}
          ${s.result && s.fault !== 'delayed' && html` <span class=${classes('badge', s.result !== 'waits' && 'bad')}>${words().results[s.result] ?? s.result.slice(0, 60)}</span>`}
          ${s.reply && html` <span class="reply" translate=${false}>→ ${words().reply(s.reply)}</span>`}
          ${s.woke.length > 0 && html` <span class="badge">${words().woke(s.woke.map(words().who).join(', '))}</span>`}
        </span>
        ${s.took !== undefined ? html`<${Clock} step=${s} total=${total} />` : html`
          <span class="after">${inBrief(before, after).map(({ name, values, changed }) => html`
            <span key=${name} class=${classes(changed && 'changed')}>${words().short(name)} <b>${values.join(' ')}</b></span>`)}</span>`}
      </button>
      ${current && html`<${Details} step=${s} />`}
    </li>`;
}

/** @param {Sent} step of a delayed command: it leaves, or it arrives */
const inPost = ({ fault }) => fault === 'delayed' || fault === 'arrives late';

/**
 * Merges the same key on several nodes; of a record, keeps the changes and the owner.
 * @param {Kept} before @param {Kept} after
 */
function inBrief(before, after) {
  const found = /** @type {Map<string, {name: string, values: string[], changed: boolean}>} */ (new Map());
  for (const [name, value] of after) {
    const changed = before.get(name) !== value;
    if (value === '' || (/\.(deadline|expire|count)$/.test(name) && !changed)) continue;
    const base = name.replace(/ on node \d+$/, '');
    const entry = found.get(base) ?? { name: base, values: [], changed: false };
    found.set(base, { name: base, values: [...entry.values, value], changed: entry.changed || changed });
  }
  return [...found.values()];
}

/**
 * What is not a command: a step in the process, or an event.
 * @param {Sent} s @returns {string | undefined}
 */
function inWords(s) {
  const event = s.fault ? words().events.find(([pattern]) => pattern.test(s.command)) : undefined;
  return words().commands[s.command] ?? (event && s.command.replace(event[0], event[1]));
}

/** @param {Sent} s */
const face = (s) => (s.fault === 'dies' ? '†' : s.fault === 'arrives late' ? '✉' : s.background ? '↻' : s.who === 'next' ? '…' : s.who.slice(0, 1));

/** @param {{step: Sent, index: number, model: Model}} props */
function Lanes({ step: s, index, model: m }) {
  const from = m.buyers.indexOf(s.who);
  const to = m.servers.includes(s.backend) ? m.buyers.length + m.servers.indexOf(s.backend) : -1;
  const count = m.buyers.length + m.servers.length;
  const lost = s.fault === 'command lost' || s.fault === 'dies';
  return html`
    <span class="lanes" aria-hidden="true">
      ${Array.from({ length: count }, (_, lane) => html`
        <span key=${lane} class=${classes('lane', lane < m.buyers.length && `of-${lane % 4}`)}>
          ${m.bars.filter((b) => m.buyers[lane] === b.who && b.from <= index && index <= b.to).map((b) => html`
            <span key=${b.kind + b.name + b.from} class=${classes('bar', b.kind, b.from === index && 'first', b.to === index && 'last')}></span>`)}
          ${lane === from && html`<span class=${classes('dot', s.background && 'renewer', inPost(s) && 'post')}>${face(s)}</span>`}
          ${s.woke.includes(m.buyers[lane]) && html`<span class="woken"></span>`}
        </span>`)}
      ${from >= 0 && to >= 0 && s.fault !== 'dies' && html`
        <span class=${classes('arrow', s.result === 'waits' && 'waits', lost && 'lost', s.fault === 'delayed' && 'late')} style=${{ '--from': from, '--to': to }}></span>`}
      ${from < 0 && html`<span class="everywhere"></span>`}
    </span>`;
}

/** @param {{step: Sent, total?: number}} props */
function Clock({ step: { start = 0, took = 0 }, total = 1 }) {
  const share = (/** @type {number} */ us) => `${(100 * us) / Math.max(total, 1)}%`;
  return html`
    <span class="after clock"><span>${words().took(start / 1000, took / 1000)}</span>
      <span class="span" aria-hidden="true"><span style=${{ left: share(start), width: share(took) }}></span></span></span>`;
}

/** @param {{step: Sent}} props */
function Details({ step: s }) {
  return html`
    <div class="details">
      ${s.fault && html`<p>${words().faultHints[s.fault] ?? s.fault}</p>`}
      ${s.background && html`<p>${words().renewerHint}</p>`}
      ${s.command && !inWords(s) && html`<pre tabindex="0"><code>${highlight(s.command, languageOf(s.backend))}</code></pre>`}
      ${s.fault !== 'delayed' && html`<p class="hint">${words().result}: <span translate=${Boolean(s.result)}>${s.result === 'waits' ? words().waitsHint : words().results[s.result] ?? (s.result || words().reply(s.reply) || words().ok)}</span></p>`}
    </div>`;
}

/**
 * One step in full, beside a diagram.
 * @param {{step: Sent, number: number}} props
 */
export const Chosen = ({ step: s, number }) => html`
  <section class="panel chosen">
    <h2>${number} ${s.who && html` · ${words().who(s.who)}`}${servers[s.backend] && ` → ${servers[s.backend]}`}
      ${s.fault && html` <span class=${classes('badge', inPost(s) ? 'post' : 'bad')}>${words().faults[s.fault] ?? s.fault}</span>`}</h2>
    ${inWords(s) && html`<p>${inWords(s)}</p>`}
    <${Details} step=${s} />
  </section>`;
