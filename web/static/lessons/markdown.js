// The Markdown of chapters, lessons and documents: titles, paragraphs, fenced commands, lists,
// tables, images, `code`, **bold**, *emphasis*, [links](https://…) and _titles_. Chapters also
// have model answers, notes for who teaches, and places for figures, drawings and pictures.
import { breakable, highlight, languageOf } from '../highlight.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { Sketch } from './pictures.js';
import { words as lessonWords } from './text.js';

/**
 * @typedef {'title'|'text'|'code'|'list'|'table'|'image'|'figures'|'drawn'|'picture'|'answer'|'note'} Kind
 * @typedef {{kind: Kind, text: string, level?: number, language?: string, src?: string, items?: string[], rows?: string[][]}} Block
 */

/** @param {string} row @returns {string[]} its cells; a bar inside `code` is part of one */
const cellsOf = (row) => row.trim().replace(/^\||\|$/g, '').split(/\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/).map((cell) => cell.trim());

/** @type {[RegExp, (lines: string[], match: RegExpMatchArray) => Block | null][]} takes the lines that it needs */
const kinds = [
  [/^```\s*(\w*)/, (lines, [, language]) => {
    const end = lines.findIndex((line, i) => i > 0 && line.startsWith('```'));
    return { kind: 'code', language, text: lines.splice(0, end + 1 || lines.length).slice(1, -1).join('\n') };
  }],
  [/^(#+) (.*)/, (lines, [, marks, text]) => (lines.shift(), { kind: 'title', level: marks.length, text })],
  [/^!\[([^\]]*)\]\(([^)\s]+)\)$/, (lines, [, text, src]) => (lines.shift(), { kind: 'image', text, src })],
  [/^\s*$|^<!--/, (lines) => (lines.shift(), null)],
  [/^> (figures|drawn|picture): (.*)/, (lines, [, kind, text]) => (lines.shift(), { kind: /** @type {Kind} */ (kind), text })],
  [/^> (answer|note): (.*)/, (lines, [, kind, first]) => {
    lines.shift();
    const rest = whileTrue(lines, (line) => /^> (?!(?:answer|note|figures|drawn|picture): )/.test(line));
    return { kind: /** @type {Kind} */ (kind), text: [first, ...rest.map((line) => line.slice(2))].join('\n') };
  }],
  [/^\|/, (lines) => ({ kind: 'table', text: '', rows: whileTrue(lines, (line) => line.startsWith('|')).map(cellsOf).filter((cells) => !cells.every((c) => /^:?-+:?$/.test(c))) })],
  [/^(?:[-*]|\d+\.) /, (lines) => {
    const items = /** @type {string[]} */ ([]);
    for (const line of whileTrue(lines, (line) => /^(?:[-*]|\d+\.) |^\s+\S/.test(line))) {
      if (/^\s/.test(line)) items[items.length - 1] += `\n${line.trim()}`;
      else items.push(line.replace(/^\S+ +/, ''));
    }
    return { kind: 'list', text: '', items };
  }],
];

/**
 * Takes the first lines for which this is so.
 * @param {string[]} lines @param {(line: string) => boolean} so
 */
function whileTrue(lines, so) {
  const end = lines.findIndex((line) => !so(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

/** @param {string} source @returns {Block[]} */
export function blocksOf(source) {
  const lines = source.replace(/\r/g, '').split('\n');
  const blocks = /** @type {Block[]} */ ([]);
  while (lines.length) {
    const [begins, take] = kinds.find(([begins]) => begins.test(lines[0])) ?? [null, null];
    const block = take && begins ? take(lines, /** @type {RegExpMatchArray} */ (lines[0].match(begins)))
      : { kind: /** @type {const} */ ('text'), text: whileTrue(lines, (line) => !kinds.some(([other]) => other.test(line))).join('\n') };
    if (block) blocks.push(block);
  }
  return blocks;
}

/**
 * The blocks between headings: [[heading, blocks], …]; the first has no heading.
 * @param {string} source
 */
export function sections(source) {
  let blocks = /** @type {Block[]} */ ([]);
  const found = /** @type {[string, Block[]][]} */ ([['', blocks]]);
  for (const block of blocksOf(source)) {
    if (block.level === 2) found.push([block.text, blocks = []]);
    else blocks.push(block);
  }
  return found;
}

/**
 * Joins lines; Chinese ones without a space.
 * @param {string} text
 */
const joined = (text) => text.replace(/([\u2e80-\uffef]) *\n *(?=[\u2e80-\uffef])/g, '$1').replace(/ *\n */g, ' ');

const spans = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^\s)]+)\)|(?<!\w)_([^_]+)_(?!\w)/g;

/**
 * strategies: whose names become links; to: the address of a link, null if there is none.
 * @param {string} text @param {Set<string>} [strategies] @param {(href: string) => string | null} [to]
 */
export function inline(text, strategies = new Set(), to = (href) => href) {
  const parts = [];
  let end = 0;
  text = joined(text);
  for (const m of text.matchAll(spans)) {
    const at = m.index ?? 0;
    parts.push(text.slice(end, at));
    end = at + m[0].length;
    if (m[1]) parts.push(strategies.has(m[1]) ? html`<a href=${link('lessons', m[1])}><code>${m[1]}</code></a>` : html`<code>${breakable(m[1])}</code>`);
    else if (m[2]) parts.push(html`<strong>${linked(m[2], null)}</strong>`);
    else if (m[3]) parts.push(html`<em>${m[3]}</em>`);
    else if (m[4]) parts.push(linked(m[4], to(m[5])));
    else parts.push(html`<cite translate=${false}>${m[6]}</cite>`);
  }
  return [...parts, text.slice(end)];
}

/**
 * A link, or the text alone, in which there may be `code`: titles are as they are, in either language.
 * @param {string} text @param {string | null} href
 */
function linked(text, href) {
  const said = text.includes('`') ? inline(text) : breakable(text);
  return href === null ? said : html`<a href=${href} translate=${false}>${said}</a>`;
}

/**
 * figures and drawing: of a place for them. to: the address of a link, as inline has it. anchor: the
 * id of a title, where titles are shown: a chapter's screen has its own.
 * @param {{blocks: Block[], strategies?: Set<string>, figures?: (command: string, key: number) => unknown, drawing?: (place: string, key: number) => unknown,
 *   to?: (href: string) => string | null, anchor?: (title: string) => string}} props
 */
export function Blocks({ blocks, strategies, figures, drawing, to, anchor }) {
  const said = (/** @type {string} */ text) => inline(text, strategies, to);
  return blocks.map((b, i) => {
    switch (b.kind) {
      case 'title': return anchor && html`<${`h${b.level}`} key=${i} id=${anchor(b.text)}>${said(b.text)}<//>`;
      case 'code': return html`<pre key=${i} tabindex="0"><code>${highlight(b.text, languageOf(b.language || guess(b.text)))}</code></pre>`;
      case 'list': return html`<ul key=${i} class="items">${b.items?.map((item, n) => html`<li key=${n}>${said(item)}</li>`)}</ul>`;
      case 'table': return html`<${Table} key=${i} rows=${b.rows} said=${said} />`;
      case 'image': return html`<p key=${i}><img src=${to?.(b.src ?? '')} alt=${b.text} loading="lazy" /></p>`;
      case 'picture': return html`<${Sketch} key=${i} name=${b.text} />`;
      case 'figures': return figures?.(b.text, i);
      case 'drawn': return drawing?.(b.text, i);
      case 'answer': return html`<details key=${i} class="answer"><summary>${lessonWords().answer}</summary><p>${said(b.text)}</p></details>`;
      case 'note': return null; // it is for who speaks
      default: return html`<p key=${i}>${said(b.text)}</p>`;
    }
  });
}

/** @param {{rows: string[][], said: (text: string) => unknown}} props */
const Table = ({ rows: [head, ...rows], said }) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${head.filter(Boolean).join(t.comma) || t.nav.story}><table class="in-text">
    ${head.some(Boolean) && html`<thead><tr>${head.map((cell, i) => html`<th key=${i} scope="col">${said(cell)}</th>`)}</tr></thead>`}
    <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((cell, n) => html`<td key=${n}>${said(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;

/**
 * A fence without a language shows commands, mostly for Redis.
 * @param {string} text
 */
const guess = (text) => (/^\s*(SET|GET|DEL|SETNX|EVAL|BLPOP|MULTI|DECRBY|EXPIRE|GETSET)\b/m.test(text) ? 'redis' : '');
