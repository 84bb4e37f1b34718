// Charts by uPlot. It draws on a canvas, so colours are read from the stylesheet
// whenever the theme changes.
import { onLookChange } from './preferences.js';
import { styled, useEffect, useRef } from './ui.js';
import uPlot from './vendor/uplot.mjs';

export { uPlot };

await styled('vendor/uplot.css');

/**
 * Hook: the box of a chart, which is drawn anew when a key is another, and shows new
 * data as they come.
 * @param {string} key @param {any} data @param {(width: number) => any} options
 */
export function usePlot(key, data, options) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | undefined} */ (undefined));
  const latest = useRef({ data, options });
  latest.current = { data, options };
  useEffect(() => {
    const node = box.current;
    if (!node) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(latest.current.options(node.clientWidth), latest.current.data, node);
    };
    const resized = new ResizeObserver(() => { if (node.clientWidth && plot.current) plot.current.setSize({ width: node.clientWidth, height: node.clientHeight }); });
    draw();
    resized.observe(node);
    const forget = onLookChange(draw);
    return () => {
      resized.disconnect();
      forget();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [key]);
  useEffect(() => plot.current?.setData(latest.current.data), [data]);
  return box;
}

/**
 * A colour of the stylesheet, for a canvas.
 * @param {string} name
 */
export function color(name) {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** What charts have in common: no cursor, and axes in the page's colours. */
export const plain = () => ({ cursor: { show: false }, legend: { show: false }, select: { show: false } });
export const axis = () => ({ stroke: color('--muted'), font: '12px system-ui', grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } });
