// The line of a strategy in charts and legends.
import { html } from '../ui.js';

/** Dash patterns, so that lines differ by more than colour. */
const dashes = [[], [9, 4], [2, 3], [12, 4, 2, 4]];

/**
 * How line i looks: four colours, and when they begin again each has another pattern.
 * @param {number} i
 */
export const look = (i) => ({ color: `--stroke-${(i % 4) + 1}`, dash: dashes[(i + (i >> 2)) % 4] });

/** @param {{line: number}} props */
export const LineSample = ({ line: i }) => html`
  <svg viewBox="0 0 28 4" aria-hidden="true" class="line-sample" style=${{ stroke: `var(${look(i).color})` }}><path d="M0 2h28" stroke-dasharray=${look(i).dash.join(' ')} /></svg>`;
