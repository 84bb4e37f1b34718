// The line of a strategy in charts and legends.
import { html } from '../ui.js';

/** Dash patterns, so that lines differ by more than colour. */
export const dashes = [[], [9, 4], [2, 3], [12, 4, 2, 4]];

export const LineSample = ({ line: i }) => html`
  <svg viewBox="0 0 28 4" aria-hidden="true" class=${`line-sample stroke-${i + 1}`}><path d="M0 2h28" stroke-dasharray=${dashes[i].join(' ')} /></svg>`;
