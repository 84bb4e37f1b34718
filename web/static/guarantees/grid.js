// Strategies by what they are asked: a table, or on a narrow screen a card each. Locks
// stand apart from ways without one.
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

/**
 * says: the answer in words; what: what broke; href: where it is shown in full.
 * @typedef {{sign: string, kind: string, says: string, what?: string, href?: string, seen?: string}} Answer
 */
/** @typedef {{id: string, title: string, asks?: string, begins?: boolean, chosen?: boolean, first?: boolean}} Column */
/**
 * @typedef {object} Grid
 * @property {string} label
 * @property {{name: string, title: string, lock: boolean}[]} rows
 * @property {Column[]} columns
 * @property {{title: string, columns: number}[]} [groups] of all columns
 * @property {boolean} [firstOnly] a table has only the first columns, and names what else breaks
 * @property {(name: string, id: string) => Answer} answer
 * @property {(name: string) => string} to the address of a row
 * @property {(name: string) => string} [held] what is said of a row without a cross
 */

const few = 4; // cards of a part, until all are asked for
const narrow = matchMedia('(max-width: 43.75rem)'); // too narrow for a table of many columns

/** @param {Grid} props */
export function Grid(props) {
  const [all, setAll] = useState(false);
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    look(); // it may have changed since the first drawing
    return () => narrow.removeEventListener('change', look);
  }, []);
  const { rows } = props;
  const parts = [{ title: words().locks, rows: rows.filter((r) => r.lock) }, { title: words().lockless, rows: rows.filter((r) => !r.lock) }].filter((p) => p.rows.length);
  const breaks = (/** @type {Grid['rows'][number]} */ row) => props.columns.some((c) => props.answer(row.name, c.id).kind === 'bad');
  if (!isNarrow) return html`<${Table} ...${props} parts=${parts} />`;
  const left = parts.reduce((n, p) => n + Math.max(0, p.rows.length - few), 0);
  return html`
    ${parts.map((p) => html`<h2 key=${p.title}>${p.title}</h2>
      <ul class="cards" aria-label=${p.title}>${(all ? p.rows : firstOf(p.rows, breaks)).map((row) => html`<${Card} key=${row.name} row=${row} ...${props} />`)}</ul>`)}
    ${!all && left > 0 && html`<p><button type="button" class="offer" id="all" onClick=${() => setAll(true)}>${words().all(rows.length)}</button></p>`}`;
}

/**
 * A few rows in their order, at least half of them with a cross, so that there is one to select.
 * @param {Grid['rows']} rows @param {(row: Grid['rows'][number]) => boolean} breaks
 */
function firstOf(rows, breaks) {
  const broken = rows.filter(breaks).slice(0, few / 2);
  const chosen = [...broken, ...rows.filter((row) => !broken.includes(row))].slice(0, few);
  return rows.filter((row) => chosen.includes(row));
}

/** @param {Grid & {parts: {title: string, rows: Grid['rows']}[]}} props */
function Table({ label, columns, groups, firstOnly, answer, to, parts }) {
  const shown = columns.filter((c) => !firstOnly || c.first);
  const rest = columns.filter((c) => !shown.includes(c));
  return html`
    <div class=${classes('matrix', firstOnly && 'first')} tabindex="0" role="region" aria-label=${label}>
      <table>
        <thead>
          ${groups && !firstOnly && html`<tr class="groups"><th rowspan="2" scope="col">${t.history.strategy}</th>
            ${groups.map((g) => html`<th key=${g.title} class="begins" colspan=${g.columns} scope="colgroup">${g.title}</th>`)}</tr>`}
          <tr>${(!groups || firstOnly) && html`<th scope="col">${t.history.strategy}</th>`}${shown.map((c) => html`
            <th key=${c.id} scope="col" class=${classes('asks', c.begins && 'begins', c.chosen && 'chosen')} title=${c.asks}><span>${c.title}</span></th>`)}
            ${firstOnly && html`<th scope="col" class="also">${words().also}</th>`}</tr>
        </thead>
        ${parts.map((p) => html`
          <tbody key=${p.title}>
            <tr class="family"><th colspan=${shown.length + 1 + Number(firstOnly)} scope="rowgroup"><span>${p.title}</span></th></tr>
            ${p.rows.map((row) => html`
              <tr key=${row.name}><th scope="row" title=${row.title}><a href=${to(row.name)}>${row.name}</a>${!groups && html` <span class="hint">${row.title}</span>`}</th>
                ${shown.map((c) => html`<td key=${c.id} class=${classes(c.begins && 'begins', c.chosen && 'chosen')}><${Cell} ...${answer(row.name, c.id)} cell=${`${row.name}.${c.id}`} of=${`${row.name}, ${c.title}`} /></td>`)}
                ${firstOnly && html`<td class="also"><${Broken} of=${row.name} columns=${rest} answer=${answer} /></td>`}</tr>`)}
          </tbody>`)}
      </table>
    </div>`;
}

/**
 * The columns in which a row breaks, by name.
 * @param {{of: string} & Pick<Grid, 'columns' | 'answer'>} props
 */
function Broken({ of, columns, answer }) {
  const broken = columns.map((c) => ({ c, a: answer(of, c.id) })).filter(({ a }) => a.kind === 'bad');
  return broken.length > 0 && html`<ul>${broken.map(({ c, a }) => html`
    <li key=${c.id}><span class="mark bad" aria-hidden="true">✗</span> ${a.href ? html`<a href=${a.href}>${c.title}</a>` : c.title} <span class="hint">${a.what}</span></li>`)}</ul>`;
}

/** @param {Answer & {cell: string, of: string}} props */
function Cell({ sign, kind, says, what, href, seen, cell, of }) {
  const inside = html`<span aria-hidden="true">${seen ?? sign}</span>${what && html`<small aria-hidden="true">${what}</small>`}`;
  const look = { class: `mark ${kind}`, title: says, 'data-cell': cell };
  return href ? html`<a ...${look} href=${href}><span class="hidden">${of}: ${says}</span>${inside}</a>`
    : html`<span ...${look} role="img" aria-label=${`${of}: ${says}`}>${inside}</span>`;
}

/** @param {{row: Grid['rows'][number]} & Grid} props */
const Card = ({ row, columns, answer, to, held }) => html`
  <li class="panel"><h3><a href=${to(row.name)}><code>${row.name}</code></a></h3>
    <p class="hint">${row.title}</p>
    ${columns.some((c) => answer(row.name, c.id).kind === 'bad') ? html`<${Broken} of=${row.name} columns=${columns} answer=${answer} />`
    : html`<p><span class="mark good" aria-hidden="true">✓</span> ${held?.(row.name) ?? words().nothing}</p>`}</li>`;

/**
 * The way from a dialog to where a strategy is read and run.
 * @param {{name: string, sale?: Record<string, string>}} props sale: of the run
 */
export const Ways = ({ name, sale = {} }) => html`
  <a class="offer small" href=${link('lessons', name)}>${words().lesson}</a>
  <a class="offer small" href=${link('lab', '', { strategies: name, ...sale })}>${words().run}</a>`;
