// How long buyers waited: a histogram of each strategy, all on one logarithmic
// axis, with its percentiles, and the same as curves up to p99.9.
import { count, html } from '../ui.js';
import { Plot } from './plot.js';
import { words } from './text.js';

const perDecade = 20; // bars, as the lab makes them

/** @typedef {{name: string, requests: number, bars: Map<number, number>, marks: Record<string, number | undefined>}} Row bars: by the index of the bar, from 1 ms */

/** @param {{result: Json.ComparisonResult}} props */
export function Latency({ result }) {
  const w = words().latency;
  const rows = result.strategies.map(row).filter((r) => r.bars.size > 0)
    .sort((a, b) => (a.marks.p99 ?? 0) - (b.marks.p99 ?? 0));
  if (!rows.length) return null;
  const keys = rows.flatMap((r) => [...r.bars.keys()]);
  const [from, to] = [Math.floor((Math.min(...keys) - 1) / perDecade), Math.max(...keys.map((k) => Math.ceil(k / perDecade)))];
  const axis = { from, to: Math.max(to, from + 1) };
  const decades = Array.from({ length: axis.to - axis.from + 1 }, (_, i) => 10 ** (axis.from + i));
  return html`
    <section class="panel" aria-labelledby="latency-title">
      <h2 id="latency-title">${w.title}</h2>
      <p class="hint">${w.hint}</p>
      <ul class="latency-rows">${rows.map((r) => html`<${Histogram} key=${r.name} row=${r} axis=${axis} />`)}</ul>
      <p class="axis wide" aria-hidden="true">${decades.map((d) => html`<span key=${d}>${duration(d)}</span>`)}</p>
      <${Curves} rows=${rows} names=${result.strategies.map((e) => e.strategy)} />
    </section>`;
}

/** @param {{row: Row, axis: {from: number, to: number}}} props */
function Histogram({ row, axis }) {
  const w = words().latency;
  const width = 1000 / (perDecade * (axis.to - axis.from));
  const most = Math.max(...row.bars.values());
  const at = (/** @type {number} */ ms) => (1000 * (Math.log10(ms) - axis.from)) / (axis.to - axis.from);
  const marks = Object.entries(row.marks).filter(([, ms]) => ms);
  const says = marks.map(([name, ms]) => `${name} ${duration(ms ?? 0)}`).join(' · ');
  return html`
    <li><span class="name"><code>${row.name}</code></span>
      <svg viewBox="0 0 1000 30" preserveAspectRatio="none" role="img" aria-label=${`${row.name}: ${says}`}>
        ${[...row.bars].map(([k, n]) => html`
          <rect key=${k} class="count" x=${(k - 1 - perDecade * axis.from) * width} width=${width * 0.92} y=${30 - (29 * n) / most} height=${(29 * n) / most} />`)}
        ${marks.map(([name, ms]) => html`<path key=${name} class=${`mark ${name === 'p50' ? 'p50' : ''}`} d=${`M${at(ms ?? 1)} 0V30`} />`)}
      </svg>
      <span class="figure">${says}<small>${w.of(count(row.requests))}</small></span>
    </li>`;
}

const curvePoints = [50, 75, 90, 95, 99, 99.9];
const nines = (/** @type {number} */ percent) => -Math.log10(1 - percent / 100);

/** @param {{rows: Row[], names: string[]}} props */
function Curves({ rows, names }) {
  const w = words().latency;
  const series = rows.map((r) => ({ name: r.name, points: curvePoints.filter((p) => p < 99.9 || r.requests >= 1000)
    .map((p) => ({ x: nines(p), y: quantile(r, p) })) }));
  return html`<${Plot} title=${w.curves} hint=${w.curvesHint} series=${series} names=${names} log=${true} y=${duration}
    x=${[50, 90, 99, 99.9].map((p) => ({ at: nines(p), text: `p${p}` }))} />`;
}

/**
 * The end of the bar in which a share of the requests is reached.
 * @param {Row} row @param {number} percent
 */
function quantile({ bars }, percent) {
  const all = [...bars.values()].reduce((sum, n) => sum + n, 0);
  let sum = 0;
  for (const [k, n] of [...bars].sort((a, b) => a[0] - b[0])) {
    sum += n;
    if (sum >= (percent / 100) * all - 1e-9) return 10 ** (k / perDecade);
  }
  return 10 ** (Math.max(...bars.keys()) / perDecade);
}

/** @param {number} ms */
const bar = (ms) => Math.ceil(Math.log10(ms) * perDecade - 1e-3);

/**
 * A strategy that answered nothing has no bars.
 * @param {Json.Entry} e @returns {Row}
 */
function row({ strategy, latency }) {
  const bars = new Map();
  for (const { to_ms: ms, count: n } of latency?.buckets ?? []) {
    if (ms > 0 && n > 0) bars.set(bar(ms), (bars.get(bar(ms)) ?? 0) + n);
  }
  return { name: strategy, requests: latency?.requests ?? 0, bars, marks: { p50: latency?.p50_ms, p99: latency?.p99_ms, 'p99.9': latency?.p99_9_ms } };
}

/** @param {number} ms */
const duration = (ms) => (ms >= 1000 ? `${+(ms / 1000).toPrecision(2)} s` : `${+ms.toPrecision(2)} ms`);
