// Every strategy with its figures; a column's head sorts by it.
import { link } from '../route.js';
import { count, html, ms, useState } from '../ui.js';
import { Badge, Served, kindOf } from './badge.js';
import { words } from './text.js';

const kinds = ['wrong', 'missed', 'void', 'caught', 'held'];
/** @param {number} x */
export const times = (x) => (x < 9.995 ? x.toFixed(2) : x < 99.5 ? x.toFixed(1) : x.toFixed(0));
/** @param {number} s */
const seconds = (s) => (s < 1 ? ms(1000 * s) : `${s.toFixed(s < 10 ? 2 : 1)} s`);

/**
 * by: what a row is sorted by; show: what it shows. Figures begin with the most, words with the first.
 * @typedef {{id: string, by: (e: Json.Entry) => string | number | undefined, show: (e: Json.Entry) => unknown, words?: boolean}} Column
 */
/** @param {string} id @param {(x: number) => string} show @returns {Column} */
const figure = (id, show) => ({ id, by: (e) => e.figures[id]?.[0], show: (e) => show(e.figures[id][0]) });

/**
 * Two figures of a kind in one column, which the second one sorts.
 * @param {string} id @param {string} one @param {string} other @param {(x: number) => string} show @returns {Column}
 */
const pair = (id, one, other, show) => ({ id, by: ({ figures }) => (figures[other] ?? figures[one])?.[0],
  show: ({ figures }) => [one, other].map((name) => (figures[name] ? show(figures[name][0]) : '–')).join(' / ') });

/** @param {string} id @param {(e: Json.Entry) => Json.Factor | undefined} of @returns {Column} */
const ratio = (id, of) => ({ id, by: (e) => of(e)?.times, show: (e) => { const f = of(e); return f && html`${times(f.times)} <small>${interval(f)}</small>`; } });

/** @param {number} x */
const brief = (x) => (x < 10 ? x.toFixed(1) : count(x));

/** @type {Column[]} */
const columns = [
  { id: 'strategy', by: (e) => e.strategy, show: (e) => e.strategy, words: true },
  { id: 'right', by: (e) => (e.baseline ? undefined : kinds.indexOf(kindOf(e))), show: (e) => html`<${Badge} entry=${e} />`, words: true },
  { id: 'served', by: (e) => e.served || undefined, show: (e) => html`<${Served} entry=${e} />`, words: true },
  figure('answers', count),
  ratio('factor', (e) => e.factor), ratio('keys', (e) => e.ratios?.without_keys),
  figure('sales', count), figure('sell_out', seconds),
  pair('bought', 'bought_p50', 'bought_p99', brief), pair('refused', 'refused_p50', 'refused_p99', brief),
  figure('commands', (x) => x.toFixed(1)), pair('processor', 'services', 'servers', (x) => x.toFixed(2)),
];

/** @param {Json.Factor} f */
export const interval = (f) => (f.high > 0 ? `${times(f.low)}–${times(f.high)}` : '');

/** @param {Json.Factor} f */
export const apart = (f) => f.low > 1 || (f.high > 0 && f.high < 1);

/** @param {{entries: Json.Entry[], relativeTo?: string}} props */
export function Table({ entries, relativeTo }) {
  const [look, setLook] = useState({ sort: '', down: true });
  const w = words();
  const shown = columns.filter((c) => c.words || entries.some((e) => c.by(e) !== undefined));
  const column = shown.find((c) => c.id === look.sort);
  const rows = column ? sorted(entries, column, look.down) : entries;
  const sort = (/** @type {Column} */ c) => setLook({ sort: c.id, down: look.sort === c.id ? !look.down : !c.words });
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${w.list.strategies}>
      <table class="results">
        <thead><tr>${shown.map((c) => html`
          <th key=${c.id} scope="col" class=${c.words ? '' : 'n'} title=${w.columns[c.id][1]}
            aria-sort=${look.sort === c.id ? (look.down ? 'descending' : 'ascending') : undefined}>
            <button type="button" class="sort" onClick=${() => sort(c)}>${c.id === 'factor' ? w.factorOf(relativeTo ?? '') : w.columns[c.id][0]}<span aria-hidden="true">${look.sort === c.id ? (look.down ? '▾' : '▴') : ''}</span></button></th>`)}</tr></thead>
        <tbody>${rows.map((e) => html`
          <tr key=${e.strategy + e.keyless}>
            ${shown.map((c) => (c.id === 'strategy'
    ? html`<th key=${c.id} scope="row">${e.baseline ? e.title : html`<a href=${link('lessons', e.strategy)}><code>${e.strategy}</code></a>${e.keyless && w.keyless}`}</th>`
    : html`<td key=${c.id} class=${c.words ? '' : 'n'}>${c.by(e) === undefined ? '–' : c.show(e)}</td>`))}
          </tr>`)}</tbody>
      </table>
    </div>`;
}

/**
 * Rows without a figure come last in both directions.
 * @param {Json.Entry[]} entries @param {Column} column @param {boolean} down
 */
function sorted(entries, { by }, down) {
  const known = entries.filter((e) => by(e) !== undefined);
  known.sort((one, other) => {
    const [a, b] = [by(one) ?? '', by(other) ?? ''];
    return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
  });
  return [...known, ...entries.filter((e) => by(e) === undefined)];
}
