// Live charts: one line per strategy, faults as numbered bands.
import { axis, color, plain, uPlot, usePlot } from '../plot.js';
import { t } from '../text.js';
import { count, html, ms, useMemo } from '../ui.js';
import { LineSample, look } from './line.js';

const line = (i, more) => ({ ...look(i), at: i, ...more });

/** @param {{lanes: Json.Lane[], faults: Json.Fault[]}} props */
export function Charts({ lanes, faults }) {
  const courses = lanes.map((lane) => lane.points ?? []);
  const data = (...values) => uPlot.join(courses.flatMap((points) => values.map((value) => [points.map((p) => p.at), points.map((p) => p[value])])));
  const alone = lanes.length === 1;
  const [rates, latencies] = useMemo(() => [data('rate'), alone ? data('p50_ms', 'p99_ms') : data('p99_ms')], courses);
  const named = lanes.map((lane, i) => line(i, { label: lane.strategy }));
  const now = (say) => lanes.map((lane, i) => `${alone ? '' : `${lane.strategy}${t.colon}`}${say(courses[i].at(-1) ?? { rate: 0, p50_ms: 0, p99_ms: 0 })}`).join(t.semicolon);
  const happened = faults.map((fault, i) => ({ ...fault, number: i + 1 })).filter((f) => (f.state === 'on' || f.state === 'over') && f.effect?.took_effect !== false);
  const marks = happened.length ? `. ${t.charts.marks(happened.length)}` : '';
  return html`
    <div class="charts">
      <${Chart} title=${t.charts.rate} data=${rates} faults=${happened}
        summary=${now((p) => t.charts.rateSummary(p.rate)) + marks}
        lines=${alone ? [line(0, { fill: '--accent-soft' })] : named} />
      <${Chart} title=${alone ? t.charts.latency : t.charts.p99Title} data=${latencies} faults=${happened}
        summary=${now((p) => t.charts.latencySummary(ms(p.p50_ms), ms(p.p99_ms))) + marks}
        lines=${alone ? [line(0, { label: t.charts.p50 }), line(1, { label: t.charts.p99 })] : named} />
    </div>`;
}

function Chart({ title, summary, data, lines, faults }) {
  const box = usePlot(JSON.stringify(faults), data, (width) => options(width, lines, faults));
  return html`
    <figure class="panel chart">
      <figcaption><h3>${title}</h3>
        <span class="legend">${lines.filter((l) => l.label).map((l) => html`<span key=${l.label}><${LineSample} line=${l.at} />${l.label}</span>`)}</span>
      </figcaption>
      <div ref=${box} role="img" aria-label=${summary}></div>
    </figure>`;
}

const height = 190;

function options(width, lines, faults) {
  const marks = { line: color('--warn'), band: color('--mark') };
  return {
    width, height, ...plain(),
    hooks: { drawClear: [(plot) => mark(plot, faults, marks)] },
    scales: {
      x: { time: false, range: (_plot, _low, high) => [0, Math.max(high ?? 0, 1)] },
      y: { range: (_plot, _low, high) => [0, Math.max((high ?? 0) * 1.1, 1)] },
    },
    axes: [
      { ...axis(), size: 30, values: (_, ticks) => ticks.map(t.charts.axis) },
      { ...axis(), size: 56, values: (_, ticks) => ticks.map((n) => (Number.isInteger(n) ? count(n) : n)) },
    ],
    series: [{}, ...lines.map((l) => ({
      stroke: color(l.color), width: 2, dash: l.dash, fill: l.fill && color(l.fill), spanGaps: true, points: { show: (p) => p.data[0].length < 3 },
    }))],
  };
}

/** A band from a fault's start to its end, with its number. */
function mark(plot, faults, { line: stroke, band }) {
  const { ctx, bbox } = plot;
  const dots = devicePixelRatio;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.font = `bold ${11 * dots}px system-ui`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  for (const fault of faults) {
    const from = plot.valToPos(fault.at_ms / 1000, 'x', true);
    if (from > right) continue;
    const until = fault.state === 'on' ? right : Math.min(right, plot.valToPos(fault.until_ms / 1000, 'x', true));
    ctx.fillStyle = band;
    ctx.fillRect(from, bbox.top, Math.max(until - from, dots), bbox.height);
    ctx.fillStyle = stroke;
    ctx.fillRect(from, bbox.top, 1.5 * dots, bbox.height);
    ctx.fillText(String(fault.number), from + 4 * dots, bbox.top + 2 * dots);
  }
  ctx.restore();
}
