// Shapes and texts of a drawing, as SVG source. Colours are written out, and
// nothing refers to a stylesheet, a font or an ID: a drawing stands alone.

const named = /** @type {const} */ (['panel', 'ink', 'muted', 'line', 'field', 'plain', 'plain-soft', 'accent', 'second', 'stroke-3', 'stroke-4', 'bad', 'bad-soft', 'warn']);

/** @typedef {Record<typeof named[number], string>} Palette */

/**
 * Colours of the page, which has each as light-dark(…, …).
 * @param {boolean} dark @returns {Palette}
 */
export function palette(dark) {
  const style = getComputedStyle(document.documentElement);
  return /** @type {Palette} */ (Object.fromEntries(named.map((name) => [name, (style.getPropertyValue(`--${name}`).match(/#\w+/g) ?? [])[dark ? 1 : 0]])));
}

/** A buyer's line: a colour, and a dash that tells it apart without colours. */
const dashes = ['', '7 3', '2 3', '10 3 2 3', '14 4', '4 2 1 2'];

/** @param {Palette} p @param {number} i */
export const lineOf = (p, i) => ({ colour: [p.accent, p.second, p['stroke-3'], p['stroke-4']][i % 4], dash: dashes[i % dashes.length] });

const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "DejaVu Sans", sans-serif';
const mono = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans CJK SC", monospace';
export const size = 12; // of letters

/** @type {Record<string, string>} */
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** @param {string} s also without the characters that XML has no place for */
export const escape = (s) => s.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu, '').replace(/[&<>"]/g, (c) => escapes[c] ?? c);

/**
 * An element. Attributes that are empty are left out. Classes get a prefix: the
 * page has its own.
 * @param {string} name @param {Record<string, string | number | undefined>} attributes @param {string} [inner] SVG source
 */
export function el(name, attributes, inner = '') {
  const said = Object.entries({ ...attributes, class: String(attributes.class ?? '').replace(/\S+/g, 'd-$&') }).filter(([, v]) => v !== undefined && v !== '')
    .map(([k, v]) => ` ${k}="${typeof v === 'number' ? Math.round(v * 10) / 10 : escape(v ?? '')}"`).join('');
  return inner ? `<${name}${said}>${inner}</${name}>` : `<${name}${said}/>`;
}

/** Letters that are as wide as they are high. */
const full = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u2190-\u21ff\u2600-\u27bf]/;

/**
 * About how wide a text is, rather too much than too little.
 * @param {string} s @param {number} [of] its size
 */
export const widthOf = (s, of = size) => [...s].reduce((sum, c) => sum + (full.test(c) ? 1.02 : /[A-Z@%&mwMW—…]/.test(c) ? 0.78 : /[ijltfI.,:;'|!()[\] ]/.test(c) ? 0.4 : 0.65), 0) * of;

/**
 * A text, cut to a width.
 * @param {string} s @param {number} width @param {(s: string) => number} [measure]
 */
export function fit(s, width, measure = widthOf) {
  if (measure(s) <= width) return s;
  let cut = ''; // grows, as what is cut off may be long
  for (const letter of s) {
    if (measure(`${cut}${letter}…`) > width) break;
    cut += letter;
  }
  return `${cut.trimEnd()}…`;
}

/**
 * A text in lines of at most a width; Chinese breaks anywhere.
 * @param {string} s @param {number} width
 */
export function wrap(s, width) {
  const lines = [''];
  for (const word of s.match(/[\u2e80-\uffef][，。：；、！？）”]*|[^\s\u2e80-\uffef]+[，。：；、！？）”]*|\s+/g) ?? []) {
    const line = lines[lines.length - 1] + word;
    if (widthOf(line.trimEnd()) <= width || lines[lines.length - 1] === '') lines[lines.length - 1] = line;
    else lines.push(word.trimStart());
  }
  return lines.map((line) => fit(line.trim(), width));
}

/** @param {string} s */
export const widthOfCode = (s) => [...s].reduce((sum, c) => sum + (full.test(c) ? 1.02 : 0.61), 0) * (size - 0.5);

/**
 * A line of text on a ground of its own, so that lines behind it do not cross it.
 * @param {Palette} p @param {string} s @param {number} x @param {number} y of its baseline
 * @param {{anchor?: string, colour?: string, bold?: boolean, code?: boolean, of?: number, class?: string, ground?: string}} [look]
 */
export const text = (p, s, x, y, look = {}) => (s ? el('text', {
  x, y, class: look.class, fill: look.colour ?? p.ink, 'text-anchor': look.anchor === 'start' ? '' : look.anchor, 'font-weight': look.bold ? 700 : '',
  'font-family': look.code ? mono : '', 'font-size': look.of ?? (look.code ? size - 0.5 : ''),
  stroke: look.ground ?? p.panel, 'stroke-width': 4, 'stroke-linejoin': 'round', 'paint-order': 'stroke',
}, escape(s)) : '');

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Record<string, string | number | undefined>} look */
export const line = (x1, y1, x2, y2, look) => el('line', { x1, y1, x2, y2, ...look });

/**
 * An arrow, with its head at the second point.
 * @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2
 * @param {{colour: string, dash: string, width?: number, class?: string}} look
 */
export function arrow(x1, y1, x2, y2, { colour, dash, width = 1.6, class: name }) {
  const long = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / long, (y2 - y1) / long];
  const [bx, by] = [x2 - 8 * ux, y2 - 8 * uy]; // where the head begins
  const head = [[x2, y2], [bx - 4 * uy, by + 4 * ux], [bx + 4 * uy, by - 4 * ux]].map((at) => at.map((n) => Math.round(n * 10) / 10).join(' ')).join('L');
  return line(x1, y1, bx, by, { class: name, stroke: colour, 'stroke-width': width, 'stroke-dasharray': dash })
    + el('path', { d: `M${head}z`, fill: colour });
}

/**
 * A hatched bar: strokes instead of a pattern, which would need an ID.
 * @param {number} x @param {number} y @param {number} width @param {number} height @param {string} colour @param {boolean} [back] leaning left
 */
export function hatched(x, y, width, height, colour, back = false) {
  let d = '';
  for (let at = y; at + width <= y + height; at += 5) d += back ? `M${x} ${Math.round(at)}l${width} ${width}` : `M${x} ${Math.round(at + width)}l${width} ${-width}`;
  return el('rect', { x, y, width, height, rx: 2, fill: 'none', stroke: colour, 'stroke-width': 1 }) + (d && el('path', { d, stroke: colour, 'stroke-width': 1.5, fill: 'none' }));
}

/** @param {number} x @param {number} y @param {string} colour */
export const cross = (x, y, colour) => el('path', { d: `M${x - 5} ${y - 5}l10 10M${x + 5} ${y - 5}l-10 10`, stroke: colour, 'stroke-width': 2.6, fill: 'none' });

/**
 * The whole, with what it is for those who do not see it.
 * @param {Palette} p @param {number} width @param {number} height @param {{title: string, desc: string, language: string, scale: number}} said @param {string} inner
 */
export const svg = (p, width, height, said, inner) => el('svg', {
  xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width) * said.scale, height: Math.ceil(height) * said.scale,
  role: 'img', lang: said.language, 'font-family': sans, 'font-size': size,
}, `<title>${escape(said.title)}</title><desc>${escape(said.desc)}</desc>${el('rect', { width: Math.ceil(width), height: Math.ceil(height), fill: p.panel })}${inner}`);
