// Sales per second, fastest first: the bar is the median of the rounds, each dot
// is a round. The dashed line is the baseline.
import { count, html } from '../ui.js';
import { Badge, kindOf } from './badge.js';
import { words } from './text.js';

/** @typedef {{name: string, kind: string, spread: Json.Spread, rounds: number[], entry?: Json.Entry}} Row */

/** @param {{result: Json.ComparisonResult}} props */
export function Bars({ result }) {
  const w = words();
  const measured = result.strategies.filter((e) => e.sales_per_second.median > 0);
  if (!measured.length) return null;
  const baseline = result.floors.find((f) => f.id === 'transaction' && f.concurrency === result.settings.concurrency && f.per_second.median > 0);
  /** @type {Row[]} */
  const rows = [
    ...measured.map((entry) => ({ name: entry.strategy, entry, kind: kindOf(entry), spread: entry.sales_per_second,
      rounds: entry.rounds.filter((r) => r.runs > 0).map((r) => r.sales_per_second) })),
    ...(baseline ? [{ name: w.baselineNames.transaction, kind: 'baseline', spread: baseline.per_second, rounds: baseline.rounds.map((r) => r.per_second) }] : []),
  ].sort((a, b) => b.spread.median - a.spread.median);
  const end = axisEnd(Math.max(...rows.map((r) => r.spread.high)));
  return html`
    <section class="panel" aria-labelledby="bars-title">
      <h2 id="bars-title">${w.bars.title}</h2>
      <p class="hint">${w.bars.hint(Math.max(...measured.map((e) => e.rounds.length)))} ${w.bars.defined}</p>
      <ul class="sales-bars">
        ${rows.map((r) => html`<${Bar} key=${r.name} row=${r} end=${end} line=${baseline?.per_second.median} />`)}
      </ul>
      <p class="axis" aria-hidden="true"><span>0</span><span>${count(end / 2)}</span><span>${count(end)}</span></p>
    </section>`;
}

/** @param {{row: Row, end: number, line?: number}} props */
function Bar({ row: { name, entry, kind, spread, rounds }, end, line }) {
  const at = (/** @type {number} */ rate) => (1000 * rate) / end;
  return html`
    <li class=${`kind-${kind}`}>
      <span class="name">${entry ? html`<code>${name}</code>` : name}</span>
      <svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
        <rect class="median" y="3" width=${at(spread.median)} height="14" />
        ${line && html`<path class="baseline" d=${`M${at(line)} 0V20`} />`}
        <${Dots} rounds=${rounds} at=${at} />
      </svg>
      <span class="figure">${count(spread.median)}<small>${spread.low < spread.high && html` ${count(spread.low)}–${count(spread.high)}`}</small></span>
      <span class="is">${entry && html`<${Badge} entry=${entry} />`}</span>
    </li>`;
}

/**
 * A dot for each round. They are strokes without length: a circle would be
 * stretched with the chart.
 * @param {{rounds: number[], at: (rate: number) => number}} props
 */
export const Dots = ({ rounds, at }) => rounds.length > 0 && html`
  <path class="dots under" d=${rounds.map((r) => `M${at(r)} 10h0`).join('')} /><path class="dots" d=${rounds.map((r) => `M${at(r)} 10h0`).join('')} />`;

/**
 * A round number at or above most.
 * @param {number} most
 */
export function axisEnd(most) {
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((k) => k * unit).find((n) => n >= most) ?? most;
}
