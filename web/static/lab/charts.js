// Live charts. uPlot draws on a canvas, so its colours are read from the
// stylesheet, again whenever the theme changes.
import { onLookChange } from '../preferences.js';
import { t } from '../text.js';
import { count, html, ms, useEffect, useRef } from '../ui.js';
import uPlot from '../vendor/uplot.mjs';

/** A token of the stylesheet as a canvas knows colours. */
function color(name) {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function Charts({ points, progress }) {
  const at = points.map((p) => p.at);
  return html`
    <div class="charts">
      <${Chart} title=${t.charts.rate} data=${[at, points.map((p) => p.rate)]}
        summary=${t.charts.rateSummary(points.at(-1)?.rate ?? 0)}
        lines=${[{ color: '--accent', fill: '--accent-soft' }]} />
      <${Chart} title=${`${t.charts.latency}, ${t.charts.ms}`} data=${[at, points.map((p) => p.p50_ms), points.map((p) => p.p99_ms)]}
        summary=${t.charts.latencySummary(ms(progress?.p50_ms ?? 0), ms(progress?.p99_ms ?? 0))}
        lines=${[{ label: t.charts.p50, color: '--accent' }, { label: t.charts.p99, color: '--second', dash: [6, 4] }]} />
    </div>`;
}

function Chart({ title, summary, data, lines }) {
  const box = useRef(null);
  const plot = useRef(null);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const node = box.current;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(node.clientWidth, lines), latest.current, node);
    };
    const resized = new ResizeObserver(() => node.clientWidth && plot.current.setSize({ width: node.clientWidth, height }));
    draw();
    resized.observe(node);
    const forget = onLookChange(draw);
    return () => {
      resized.disconnect();
      forget();
      plot.current.destroy();
    };
  }, []);
  useEffect(() => plot.current.setData(data), [data[0].length, data[0].at(-1)]);

  return html`
    <figure class="panel chart">
      <figcaption><h3>${title}</h3>
        <span class="legend">${lines.filter((l) => l.label).map((l) => html`
          <span key=${l.label}><svg viewBox="0 0 28 4" aria-hidden="true" class=${l.dash ? 'second' : 'first'}><path d="M0 2h28" /></svg>${l.label}</span>`)}
        </span>
      </figcaption>
      <div ref=${box} role="img" aria-label=${summary}></div>
    </figure>`;
}

const height = 190;

function options(width, lines) {
  const axis = {
    stroke: color('--muted'), font: '12px system-ui', grid: { stroke: color('--line'), width: 1 }, ticks: { show: false },
  };
  return {
    width, height,
    cursor: { show: false }, legend: { show: false }, select: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => [0, Math.max(high ?? 0, 1)] },
      y: { range: (_, low, high) => [0, Math.max((high ?? 0) * 1.1, 1)] },
    },
    axes: [
      { ...axis, size: 30, values: (_, ticks) => ticks.map((s) => `${s} s`) },
      { ...axis, size: 56, values: (_, ticks) => ticks.map((n) => (Number.isInteger(n) ? count(n) : n)) },
    ],
    series: [{}, ...lines.map((l) => ({
      stroke: color(l.color), width: 2, dash: l.dash, fill: l.fill && color(l.fill), points: { show: (plot) => plot.data[0].length < 3 },
    }))],
  };
}
