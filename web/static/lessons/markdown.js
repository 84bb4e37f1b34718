// The Markdown subset of chapters and lessons: titles, paragraphs,
// fenced commands, lists, tables, `code`, **bold**, *emphasis*, [links](https://…),
// _titles_, model answers, notes for who teaches, places for figures, drawings and pictures.
import { breakable, highlight, languageOf } from '../highlight.js';
import { link } from '../route.js';
import { html } from '../ui.js';
import { Sketch } from './pictures.js';
import { words as lessonWords } from './text.js';

/** @typedef {{kind: 'title'|'heading'|'text'|'code'|'list'|'table'|'figures'|'drawn'|'picture'|'answer'|'note', text: string, language?: string, items?: string[], rows?: string[][]}} Block */

/** @param {string} source @returns {Block[]} */
function parse(source) {
  /** @type {Block[]} */
  const blocks = [];
  const lines = source.replace(/\r/g, '').split('\n');
  let text = /** @type {string[]} */ ([]);
  const flush = () => {
    if (text.length) blocks.push({ kind: 'text', text: text.join('\n') });
    text = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const fence = line.match(/^```\s*(\w*)/);
    const place = line.match(/^> (figures|drawn|picture): (.*)/);
    const item = line.match(/^(?:[-*]|\d+\.)\s+(.*)/);
    if (fence) {
      flush();
      const code = [];
      while (++i < lines.length && !lines[i].startsWith('```')) code.push(lines[i]);
      blocks.push({ kind: 'code', text: code.join('\n'), language: fence[1] });
    } else if (/^# /.test(line)) {
      flush();
      blocks.push({ kind: 'title', text: line.slice(2) });
    } else if (/^## /.test(line)) {
      flush();
      blocks.push({ kind: 'heading', text: line.slice(3) });
    } else if (place) {
      flush();
      blocks.push({ kind: /** @type {'figures' | 'drawn' | 'picture'} */ (place[1]), text: place[2] });
    } else if (/^\|/.test(line)) {
      flush();
      const rows = [line];
      while (/^\|/.test(lines[i + 1] ?? '')) rows.push(lines[++i]);
      blocks.push({ kind: 'table', text: '', rows: rows.filter((row) => !/^\|-/.test(row)).map((row) => row.split('|').slice(1, -1).map((cell) => cell.trim())) });
    } else if (/^> (?:answer|note): /.test(line)) {
      flush();
      const kind = line.startsWith('> note') ? 'note' : 'answer';
      const said = [line.slice(`> ${kind}: `.length)];
      while (/^> (?!(?:answer|note|figures|drawn|picture): )/.test(lines[i + 1] ?? '')) said.push(lines[++i].slice(2));
      blocks.push({ kind, text: said.join('\n') });
    } else if (item) {
      flush();
      const { items } = blocks.at(-1) ?? {};
      if (items && lines[i - 1] !== '') items.push(item[1]);
      else blocks.push({ kind: 'list', text: '', items: [item[1]] });
    } else if (!line.trim()) flush();
    else text.push(line);
  }
  flush();
  return blocks;
}

/**
 * The blocks between headings: [[heading, blocks], …]; the first has no heading.
 * @param {string} source
 */
export function sections(source) {
  let blocks = /** @type {Block[]} */ ([]);
  const found = /** @type {[string, Block[]][]} */ ([['', blocks]]);
  for (const block of parse(source)) {
    if (block.kind === 'heading') found.push([block.text, blocks = []]);
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
    else if (m[2]) parts.push(html`<strong>${breakable(m[2])}</strong>`);
    else if (m[3]) parts.push(html`<em>${m[3]}</em>`);
    else if (m[4]) parts.push(linked(m[4], to(m[5])));
    else parts.push(html`<cite translate=${false}>${m[6]}</cite>`);
  }
  return [...parts, text.slice(end)];
}

/**
 * A link whose text may have `code` in it: titles are as they are, in either language.
 * @param {string} text @param {string | null} href
 */
function linked(text, href) {
  const said = text.includes('`') ? inline(text) : breakable(text);
  return href === null ? said : html`<a href=${href} translate=${false}>${said}</a>`;
}

/**
 * figures and drawing: of a place for them.
 * @param {{blocks: Block[], strategies: Set<string>, figures?: (command: string, key: number) => unknown, drawing?: (place: string, key: number) => unknown}} props
 */
export function Blocks({ blocks, strategies, figures, drawing }) {
  return blocks.map((b, i) => {
    const [head = [], ...rows] = b.rows ?? [];
    switch (b.kind) {
      case 'code': return html`<pre key=${i} tabindex="0"><code>${highlight(b.text, languageOf(b.language || guess(b.text)))}</code></pre>`;
      case 'list': return html`<ul key=${i} class="items">${b.items?.map((item, n) => html`<li key=${n}>${inline(item, strategies)}</li>`)}</ul>`;
      case 'table': return html`<div key=${i} class="scroll" tabindex="0" role="region" aria-label=${head[0]}><table class="in-text">
        <thead><tr>${head.map((cell, n) => html`<th key=${n} scope="col">${inline(cell, strategies)}</th>`)}</tr></thead>
        <tbody>${rows.map((row, n) => html`<tr key=${n}>${row.map((cell, c) => html`<td key=${c}>${inline(cell, strategies)}</td>`)}</tr>`)}</tbody></table></div>`;
      case 'picture': return html`<${Sketch} key=${i} name=${b.text} />`;
      case 'figures': return figures?.(b.text, i);
      case 'drawn': return drawing?.(b.text, i);
      case 'answer': return html`<details key=${i} class="answer"><summary>${lessonWords().answer}</summary><p>${inline(b.text, strategies)}</p></details>`;
      case 'title': case 'note': return null; // the screen has its own; a note is for who speaks
      default: return html`<p key=${i}>${inline(b.text, strategies)}</p>`;
    }
  });
}

/**
 * A fence without a language shows commands, mostly for Redis.
 * @param {string} text
 */
const guess = (text) => (/^\s*(SET|GET|DEL|SETNX|EVAL|BLPOP|MULTI|DECRBY|EXPIRE|GETSET)\b/m.test(text) ? 'redis' : '');
