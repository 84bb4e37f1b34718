// The course of a sale: sold, and without an answer, with the fault as a band.
import { html } from '../ui.js';
import { words } from './text.js';

const [width, height] = [600, 130];

/** @param {{cell: Json.ChaosCell}} props */
export function Course({ cell }) {
  const points = cell.course ?? [];
  if (points.length < 2) return null;
  const w = words();
  const [end, sold, trouble] = points[points.length - 1];
  const most = Math.max(1, sold, trouble);
  const x = (/** @type {number} */ tenths) => (Math.min(tenths, end) / end) * width;
  const line = (/** @type {number} */ of) => points.map((p) => `${x(p[0]).toFixed(0)},${(height - (p[of] / most) * height).toFixed(0)}`).join(' ');
  const [from, until] = cell.fault ?? [0, 0];
  return html`
    <figure class="chaos-course">
      <figcaption class="hint">${w.course}: <span class="key-sold">${w.sold}</span>, <span class="key-trouble">${w.trouble}</span>${cell.fault && html`, <span class="key-band">${w.band}</span>`}</figcaption>
      <svg viewBox=${`-2 -4 ${width + 4} ${height + 24}`} role="img" aria-label=${w.says(sold, trouble, end / 10)}>
        <rect class="frame" x="0" y="0" width=${width} height=${height} />
        ${cell.fault && from <= end && html`<rect class="band" x=${x(from)} y="0" width=${Math.max(3, x(until) - x(from))} height=${height} />`}
        <polyline class="sold" points=${line(1)} /><polyline class="trouble" points=${line(2)} />
        <text x="0" y=${height + 16}>0</text><text x=${width} y=${height + 16} text-anchor="end">${w.seconds(end / 10)}</text>
        <text x="4" y="14">${most}</text>
      </svg>
    </figure>`;
}
