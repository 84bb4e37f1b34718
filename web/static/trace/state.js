// What the servers keep at this step, and what broke in the end.
import { belief } from './model.js';
import { say } from '../guarantees/say.js';
import { t } from '../text.js';
import { words } from './text.js';
import { classes, count, html } from '../ui.js';

/** @typedef {import('./model.js').Kept} Kept */

/** @param {{trace: import('./model.js').Trace, model: import('./model.js').Model, now: number}} props */
export function State({ trace, model: m, now }) {
  const before = m.states[Math.max(now - 1, 0)];
  const after = m.states[now];
  const known = m.buyers.map((who) => ({ who, ...belief(trace, m, who, now) })).filter((b) => b.read || b.written || b.lock);
  const sells = trace.stock > 0 || trace.buyers.some((b) => b.does !== 'locks');
  const num = Number(after.get('stock.num'));
  const others = [...after].filter(([name]) => name !== 'stock.num');
  const changed = (/** @type {string} */ name) => before.get(name) !== after.get(name);
  return html`
    <section class="panel state" aria-labelledby="state-title">
      <h2 id="state-title">${words().state}</h2>
      ${sells && after.has('stock.num') && html`
        <p class=${classes('row', num < 0 && 'negative', changed('stock.num') && 'changed')}>
          <span class="number" data-num=${num}>${Number.isFinite(num) ? count(num) : after.get('stock.num')}</span>
          <span class="hint">${words().row(trace.stock)}</span></p>`}
      ${known.length > 0 && html`<ul class="beliefs" aria-label=${words().beliefs}>
        ${known.map(({ who, read, will, written, outdated, lock }) => html`<li key=${who}><b>${words().who(who)}</b>
          ${read !== '' && html` <span class=${classes('belief', outdated && 'wrong')}>${outdated ? words().readOld(read) : words().read(read)}</span>`}
          ${will !== '' && html` <span class="belief">${words().will(will)}</span>`}
          ${written !== '' && html` <span class="belief">${words().wrote(written)}</span>`}
          ${lock && html` <span class=${classes('belief', lock === 'stale' && 'wrong')}>${lock === 'stale' ? words().thinksItHolds : words().holds}</span>`}</li>`)}
      </ul>`}
      ${others.length > 0 && html`<dl>
        ${others.map(([name, value]) => html`
          <div key=${name} class=${classes(changed(name) && 'changed')}><dt><code>${name}</code></dt>
            <dd>${value === '' || value === '—' ? words().nothing : html`<code>${value}</code>`}</dd></div>`)}
      </dl>`}
    </section>`;
}

/** @param {{trace: import('./model.js').Trace}} props */
export function Ending({ trace }) {
  const broken = trace.problems.length > 0;
  return html`
    <section class=${classes('ending banner', broken ? 'oversold' : 'held')} role="status">
      <h2>${broken ? words().broken : words().unbroken}</h2>
      <ul>${trace.problems.map((p, i) => html`
        <li key=${i}><strong>${t.rules[p.rule] ?? p.rule}</strong><br />${say(p.message)}</li>`)}</ul>
      ${trace.told.length > 0 && html`
        <h3>${words().told}</h3>
        <ul>${trace.told.map((a, i) => html`<li key=${i}><b>${words().who(a.who)}</b>${t.colon}${say(a.answer)}</li>`)}</ul>`}
    </section>`;
}
