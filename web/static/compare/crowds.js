// Throughput against the number of buyers at a time.
import { count, html } from '../ui.js';
import { Plot } from './plot.js';
import { words } from './text.js';

/** @param {{result: Json.ComparisonResult}} props */
export function Crowds({ result }) {
  const w = words().crowds;
  const all = [...result.strategies, ...(result.crowds ?? [])].filter((e) => e.sales_per_second.median > 0);
  const crowds = [...new Set(all.map((e) => e.concurrency))].sort((a, b) => a - b);
  const series = result.strategies.map(({ strategy }) => ({ name: strategy,
    points: all.filter((e) => e.strategy === strategy).sort((a, b) => a.concurrency - b.concurrency)
      .map((e) => ({ x: crowds.indexOf(e.concurrency), y: e.sales_per_second.median, low: e.sales_per_second.low, high: e.sales_per_second.high })) })).filter((s) => s.points.length);
  if (crowds.length < 2 || !series.length) return null;
  return html`
    <section class="panel" aria-labelledby="crowds-title">
      <h2 id="crowds-title">${w.title}</h2>
      <p class="hint">${w.hint}</p>
      <${Plot} title=${w.axis} series=${series} names=${result.strategies.map((e) => e.strategy)} y=${count} x=${crowds.map((n, at) => ({ at, text: count(n) }))} />
    </section>`;
}
