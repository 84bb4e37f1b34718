// Lines of several strategies on shared axes. The legend's buttons choose whose
// are drawn; a line's texts stand beside the drawing, so that they keep their size.
import { classes, html, useState } from '../ui.js';
import { axisEnd } from './bars.js';
import { words } from './text.js';

/**
 * @typedef {{x: number, y: number, low?: number, high?: number}} Point
 * @typedef {{name: string, points: Point[]}} Series
 */

const strokes = 8; // that the stylesheet tells apart

/** @param {{title: string, hint?: string, series: Series[], names: string[], x: {at: number, text: string}[], y: (value: number) => string, log?: boolean}} props */
export function Plot({ title, hint, series, names, x, y, log }) {
  const [hidden, setHidden] = useState(() => series.slice(6).map((s) => s.name));
  const w = words().plot;
  const shown = series.filter((s) => !hidden.includes(s.name));
  const values = (shown.length ? shown : series).flatMap((s) => s.points.flatMap((p) => [p.y, p.high ?? p.y, p.low ?? p.y]));
  const axis = log ? logarithmic(values) : linear(values);
  const [first, last] = [x[0].at, x[x.length - 1].at];
  const across = (/** @type {number} */ at) => (1000 * (at - first)) / (last - first || 1);
  const stroke = (/** @type {Series} */ s) => names.indexOf(s.name) % strokes; // the same in every plot
  const toggle = (/** @type {string} */ name) => setHidden(hidden.includes(name) ? hidden.filter((n) => n !== name) : [...hidden, name]);
  return html`
    <figure class="plot">
      <figcaption>${title}${hint && html` <span class="hint">${hint}</span>`}</figcaption>
      <div class="plot-area" aria-hidden="true">
        <div class="y">${axis.ticks.map((v) => html`<span key=${v} style=${{ top: `${100 - axis.at(v)}%` }}>${y(v)}</span>`)}</div>
        <svg viewBox="0 0 1000 1000" preserveAspectRatio="none">
          ${axis.ticks.map((v) => html`<path key=${v} class="grid" d=${`M0 ${1000 - 10 * axis.at(v)}H1000`} />`)}
          ${x.map(({ at }) => html`<path key=${at} class="grid" d=${`M${across(at)} 0V1000`} />`)}
          ${shown.map((s) => html`<${Line} key=${s.name} points=${s.points} stroke=${stroke(s)} across=${across} up=${(v) => 1000 - 10 * axis.at(v)} />`)}
        </svg>
        <div class="x">${x.map(({ at, text }, i) => html`<span key=${at} class=${classes(i === 0 && 'first', i === x.length - 1 && 'last')} style=${{ left: `${across(at) / 10}%` }}>${text}</span>`)}</div>
      </div>
      <ul class="legend" aria-label=${w.legend}>${series.map((s) => html`
        <li key=${s.name}><button type="button" class="quiet" aria-pressed=${hidden.includes(s.name) ? 'false' : 'true'} onClick=${() => toggle(s.name)}>
          <svg viewBox="0 0 24 8" aria-hidden="true"><path class=${`line s${stroke(s)}`} d="M0 4H24" /></svg><code>${s.name}</code></button></li>`)}</ul>
      <details><summary>${w.table}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
          <thead><tr><td></td>${x.map((c) => html`<th key=${c.at} scope="col" class="n">${c.text}</th>`)}</tr></thead>
          <tbody>${series.map((s) => html`<tr key=${s.name}><th scope="row"><code>${s.name}</code></th>
            ${x.map(({ at }) => html`<td key=${at} class="n">${value(s, at, y)}</td>`)}</tr>`)}</tbody>
        </table></div></details>
    </figure>`;
}

/** @param {Series} s @param {number} x @param {(value: number) => string} y */
function value(s, x, y) {
  const p = s.points.find((point) => point.x === x);
  return p ? `${y(p.y)}${p.low !== undefined && p.high !== undefined && p.low < p.high ? ` (${y(p.low)}–${y(p.high)})` : ''}` : '–';
}

/** @param {{points: Point[], stroke: number, across: (x: number) => number, up: (y: number) => number}} props */
function Line({ points, stroke, across, up }) {
  const each = (/** @type {(p: Point) => string} */ draw) => points.map(draw).join('');
  return html`
    <path class=${`line s${stroke}`} d=${each((p) => `${p === points[0] ? 'M' : 'L'}${across(p.x)} ${up(p.y)}`)} />
    <path class=${`point s${stroke}`} d=${each((p) => `M${across(p.x)} ${up(p.y)}h0`)} />
    <path class=${`reach s${stroke}`} d=${each((p) => (p.low !== undefined && p.high !== undefined ? `M${across(p.x)} ${up(p.low)}V${up(p.high)}` : ''))} />`;
}

/** @typedef {{ticks: number[], at: (value: number) => number}} Axis at: percent of its length */

/** @param {number[]} values @returns {Axis} */
function linear(values) {
  const end = axisEnd(Math.max(...values));
  return { ticks: [0, end / 2, end], at: (v) => (100 * v) / end };
}

/** @param {number[]} values @returns {Axis} whole decades */
function logarithmic(values) {
  const from = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const to = Math.max(Math.ceil(Math.log10(Math.max(...values)) - 1e-9), from + 1);
  return { ticks: Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)), at: (v) => (100 * (Math.log10(v) - from)) / (to - from) };
}
