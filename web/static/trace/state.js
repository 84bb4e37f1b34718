// What the servers keep at this step, and what broke in the end.
import { t } from '../text.js';
import { words } from './text.js';
import { classes, count, html } from '../ui.js';

/** @typedef {import('./model.js').Kept} Kept */

/** @param {{trace: import('./model.js').Trace, before: Kept, after: Kept}} props */
export function State({ trace, before, after }) {
  const num = Number(after.get('stock.num'));
  const others = [...after].filter(([name]) => name !== 'stock.num');
  const changed = (/** @type {string} */ name) => before.get(name) !== after.get(name);
  return html`
    <section class="panel state" aria-labelledby="state-title">
      <h2 id="state-title">${words().state}</h2>
      ${after.has('stock.num') && html`
        <p class=${classes('row', num < 0 && 'negative', changed('stock.num') && 'changed')}>
          <span class="number" data-num=${num}>${Number.isFinite(num) ? count(num) : after.get('stock.num')}</span>
          <span class="hint">${words().row(trace.stock)}</span></p>`}
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
        <li key=${i}><strong>${t.rules[p.rule] ?? p.rule}</strong><br />${p.message}</li>`)}</ul>
      ${trace.told.length > 0 && html`
        <h3>${words().told}</h3>
        <ul>${trace.told.map((a, i) => html`<li key=${i}><b>${words().who(a.who)}</b>: ${a.answer}</li>`)}</ul>`}
    </section>`;
}
