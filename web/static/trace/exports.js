// A trace as a file: SVG and PNG of its diagram, and its JSON.
import { usePreferences } from '../preferences.js';
import { html, useState } from '../ui.js';
import { diagram } from './diagram.js';
import { isDark } from './picture.js';
import { words } from './text.js';

/** @typedef {import('./model.js').Trace} Trace */

const width = 960;
const largest = 32000; // pixels of a canvas in either direction

/** @param {Trace} trace @param {string} kind of file */
const fileName = ({ strategy, question, live, started }, kind) => `${[strategy, question || (live ? `live-${(started ?? '').slice(0, 19)}` : 'trace')].join('.').replace(/[^\w.-]+/g, '-')}.${kind}`;

/** @param {Trace} trace @returns {string} a file of its own, in the language and the theme of the page */
const svgOf = (trace) => `<?xml version="1.0" encoding="UTF-8"?>\n${diagram(trace, { width, heading: true, dark: isDark() })}\n`;

/** @param {string} svg @returns {Promise<Blob>} twice as large, as screens are */
export async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = Math.min(2, largest / Math.max(image.width, image.height));
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width * scale, height: image.height * scale });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('no PNG'))), 'image/png'));
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser reads it meanwhile
}

/** @param {{trace: Trace, file: string}} props */
export function Downloads({ trace, file }) {
  usePreferences();
  const [failure, setFailure] = useState('');
  const svg = () => save(new Blob([svgOf(trace)], { type: 'image/svg+xml' }), fileName(trace, 'svg'));
  const png = () => pngOf(svgOf(trace)).then((blob) => { setFailure(''); save(blob, fileName(trace, 'png')); }, () => setFailure(words().notDrawn));
  return html`
    <p class="downloads">${words().download} <button type="button" class="link" data-file="svg" onClick=${svg}>SVG</button>
      <button type="button" class="link" data-file="png" onClick=${png}>PNG</button>
      ${file && html`<a href=${file} download=${fileName(trace, 'json')}>JSON</a>`}</p>
    <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>`;
}
