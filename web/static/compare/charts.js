// The charts of a comparison, by uPlot: throughput against the number of buyers at a
// time, and how long buyers waited.
import { LineSample, look } from '../lab/line.js';
import { axis, color, plain, usePlot } from '../plot.js';
import { count, html, useMemo } from '../ui.js';
import { words } from './text.js';

const most = 8; // lines that can be told apart

/** @param {{result: Json.ComparisonResult}} props */
export function Charts({ result }) {
  const { settings, entries } = result;
  const w = words().charts;
  const own = entries.filter((e) => !e.baseline && !e.keyless && e.concurrency === settings.concurrency);
  const drawn = own.filter((e) => e.figures[settings.by]).slice(0, most);
  const names = drawn.map((e) => e.strategy);
  const crowds = [...new Set(entries.map((e) => e.concurrency))].sort((a, b) => a - b);
  const at = (/** @type {string} */ name, /** @type {number} */ crowd) => entries.find((e) => e.strategy === name && e.concurrency === crowd)?.figures[settings.by]?.[0] ?? null;
  return html`
    <div class="charts">
      ${crowds.length > 1 && html`<${Chart} title=${w.crowds[settings.by]} hint=${w.crowdsHint} names=${names}
        x=${{ values: crowds, log: true, show: count }} y=${{ show: count }} lines=${names.map((name) => crowds.map((n) => at(name, n)))} />`}
      <${Waits} drawn=${drawn.filter((e) => e.latency_curve)} />
    </div>`;
}

const percents = [50, 75, 90, 95, 99, 99.5, 99.9];
const nines = (/** @type {number} */ percent) => -Math.log10(1 - percent / 100);

/** @param {{drawn: Json.Entry[]}} props */
function Waits({ drawn }) {
  const w = words().charts;
  if (!drawn.length) return null;
  const upto = (/** @type {Json.Entry} */ e, /** @type {number} */ percent) => (e.latency_curve ?? []).find((p) => p.percent === percent)?.us ?? null;
  return html`<${Chart} title=${w.waits} hint=${w.waitsHint} names=${drawn.map((e) => e.strategy)}
    x=${{ values: percents.map(nines), ticks: [50, 90, 99, 99.9].map(nines), show: (x) => `p${+(100 * (1 - 10 ** -x)).toFixed(1)}` }}
    y=${{ log: true, show: (us) => (us >= 1e6 ? `${+(us / 1e6).toPrecision(2)} s` : `${+(us / 1000).toPrecision(2)} ms`) }}
    lines=${drawn.map((e) => percents.map((p) => upto(e, p)))} />`;
}

/**
 * @typedef {{values?: number[], ticks?: number[], log?: boolean, show: (x: number) => string}} Axis
 * @param {{title: string, hint: string, names: string[], x: Axis & {values: number[]}, y: Axis, lines: (number | null)[][]}} props
 */
function Chart({ title, hint, names, x, y, lines }) {
  const box = usePlot(JSON.stringify([names, lines]), useMemo(() => [x.values, ...lines], [JSON.stringify(lines)]), (width) => options(width, { x, y, lines }));
  const w = words().charts;
  return html`
    <figure class="panel chart">
      <figcaption><h3>${title}</h3> <span class="hint">${hint}</span>
        <span class="legend">${names.map((name, i) => html`<span key=${name}><${LineSample} line=${i} /><code>${name}</code></span>`)}</span>
      </figcaption>
      <div ref=${box} aria-hidden="true"></div>
      <details><summary>${w.table}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
          <thead><tr><td></td>${x.values.map(x.show).map((head) => html`<th key=${head} scope="col" class="n">${head}</th>`)}</tr></thead>
          <tbody>${names.map((name, n) => html`<tr key=${name}><th scope="row"><code>${name}</code></th>
            ${lines[n].map((v, i) => html`<td key=${i} class="n">${v === null ? '–' : y.show(v)}</td>`)}</tr>`)}</tbody>
        </table></div></details>
    </figure>`;
}

const height = 220;

/** @param {number} width @param {{x: Axis & {values: number[]}, y: Axis, lines: (number | null)[][]}} chart */
function options(width, { x, y, lines }) {
  const [first, last] = [x.values[0], x.values[x.values.length - 1]];
  const decades = (/** @type {number} */ low, /** @type {number} */ high) => [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
  return {
    width, height, ...plain(),
    scales: {
      x: { time: false, distr: x.log ? 3 : 1, range: () => [first, last] },
      y: y.log ? { distr: 3, range: (_plot, low, high) => decades(low ?? 1, high ?? 10) } : { range: (_plot, _low, high) => [0, (high ?? 1) * 1.1] },
    },
    axes: [
      { ...axis(), size: 30, splits: () => x.ticks ?? x.values, filter: (_plot, ticks) => ticks, values: (_plot, ticks) => ticks.map(x.show) },
      { ...axis(), size: 64, values: (_plot, ticks) => ticks.map((v) => (v === null ? '' : y.log && !Number.isInteger(Math.log10(v)) ? '' : y.show(v))) },
    ],
    series: [{}, ...lines.map((_, i) => ({
      stroke: color(look(i).color), width: 2, dash: look(i).dash, spanGaps: true, points: { show: true, size: 6 },
    }))],
  };
}
