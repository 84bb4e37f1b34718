// The diagram on the page: as wide as its place, in the page's colours and size.
import { onLookChange, preferences } from '../preferences.js';
import { html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { diagram } from './diagram.js';

export const isDark = () => (preferences().theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : preferences().theme === 'dark');

const sizeOfText = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/**
 * choose: what a click on a command does, with the number of its step; zoom: for
 * a small one.
 * @param {{trace: import('./model.js').Trace, current?: number, legend?: boolean, brief?: boolean, zoom?: number, choose?: (step: number) => void}} props
 */
export function Picture({ trace, current, legend, brief, zoom = 1, choose }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [look, setLook] = useState({ width: 0, scale: 1, dark: false, language: '' });
  useEffect(() => {
    const see = () => setLook({ width: box.current?.clientWidth ?? 0, scale: zoom * sizeOfText(), dark: isDark(), language: preferences().language });
    const resized = new ResizeObserver(see);
    resized.observe(box.current);
    const forget = onLookChange(see);
    return () => {
      resized.disconnect();
      forget();
    };
  }, []);
  const { width, scale, dark } = look;
  const source = useMemo(() => (width ? diagram(trace, { width: width / scale, scale, dark, current, legend, brief }) : ''), [trace, current, look]);
  const wider = Number(source.match(/ width="([\d.]+)"/)?.[1] ?? 0) > width + 1;
  return html`<div ref=${box} class="drawing" tabindex=${wider ? 0 : undefined} dangerouslySetInnerHTML=${{ __html: source }}
    onClick=${(/** @type {MouseEvent} */ e) => {
    const step = e.target instanceof Element && e.target.closest('[data-step]')?.getAttribute('data-step');
    if (step && choose) choose(Number(step));
  }}></div>`;
}
