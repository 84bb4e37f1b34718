// Every strategy with its figures; a column's head sorts by it.
import { link } from '../route.js';
import { count, html, ms, useState } from '../ui.js';
import { Badge, kindOf } from './badge.js';
import { words } from './text.js';

const kinds = ['wrong', 'missed', 'void', 'caught', 'held'];
/** @param {number} x */
const ratio = (x) => (x >= 0.0995 ? x.toFixed(2) : x.toFixed(3));
/** @param {Json.Entry} e */
const commands = (e) => e.commands.reduce((sum, c) => sum + c.per_purchase, 0);

/**
 * by: what a row is sorted by; show: what it shows. Figures begin with the most, words with the first.
 * @typedef {{id: string, by: (e: Json.Entry) => string | number | undefined, show: (e: Json.Entry) => unknown, words?: boolean, baseline?: boolean}} Column
 */
/** @type {Column[]} */
const columns = [
  { id: 'strategy', by: (e) => e.strategy, show: (e) => e.strategy, words: true },
  { id: 'verdict', by: (e) => kinds.indexOf(kindOf(e)), show: (e) => html`<${Badge} entry=${e} />`, words: true },
  { id: 'sold', by: (e) => e.sold_share, show: (e) => `${Math.round(100 * e.sold_share)} %` },
  { id: 'sales', by: (e) => e.sales_per_second.median, show: (e) => count(e.sales_per_second.median) },
  { id: 'p50', by: (e) => e.p50_ms.median, show: (e) => ms(e.p50_ms.median) },
  { id: 'p99', by: (e) => e.p99_ms.median, show: (e) => ms(e.p99_ms.median) },
  { id: 'wait', by: (e) => e.lock_wait_ms?.median, show: (e) => e.lock_wait_ms && ms(e.lock_wait_ms.median) },
  { id: 'commands', by: (e) => commands(e) || undefined, show: (e) => commands(e).toFixed(1) },
  ...['transaction', 'gin'].map((id) => ({
    id, baseline: true, by: (e) => e.ratios[id]?.median, show: (e) => ratio(e.ratios[id].median),
  })),
];

// The other baselines are in the report: their ratios say much the same.
/** @param {{result: Json.ComparisonResult}} props */
export function Table({ result }) {
  const [order, setOrder] = useState({ id: '', down: true });
  const w = words();
  const shown = columns.filter((c) => !c.baseline || result.strategies.some((e) => e.ratios[c.id]));
  const column = shown.find((c) => c.id === order.id);
  const rows = column ? sorted(result.strategies, column, order.down) : result.strategies;
  const sort = (/** @type {Column} */ c) => setOrder({ id: c.id, down: order.id === c.id ? !order.down : !c.words });
  return html`
    <section class="panel" aria-labelledby="table-title">
      <h2 id="table-title">${w.table}</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="table-title">
        <table class="results">
          <thead><tr>${shown.map((c) => html`
            <th key=${c.id} scope="col" class=${c.words ? '' : 'n'} title=${w.columnHints[c.id]}
              aria-sort=${order.id === c.id ? (order.down ? 'descending' : 'ascending') : undefined}>
              <button type="button" class="sort" onClick=${() => sort(c)}>${w.columns[c.id]}<span aria-hidden="true">${order.id === c.id ? (order.down ? '▾' : '▴') : ''}</span></button></th>`)}</tr></thead>
          <tbody>${rows.map((e) => html`
            <tr key=${e.strategy}>
              ${shown.map((c) => (c.id === 'strategy'
    ? html`<th key=${c.id} scope="row"><a href=${link('lessons', e.strategy)}><code>${e.strategy}</code></a></th>`
    : html`<td key=${c.id} class=${c.words ? '' : 'n'}>${c.by(e) === undefined ? '–' : c.show(e)}</td>`))}
            </tr>`)}</tbody>
        </table>
      </div>
      <p class="hint">${w.tableNote}</p>
    </section>`;
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
