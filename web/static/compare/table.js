// Every strategy with its figures; a column's head sorts by it. Which columns
// there are, and the order, is kept in this browser.
import { remember, remembered } from '../preferences.js';
import { link } from '../route.js';
import { count, html, ms, useState } from '../ui.js';
import { Badge, kindOf } from './badge.js';
import { words } from './text.js';

const kinds = ['wrong', 'missed', 'void', 'caught', 'held'];
/** @param {number} x */
const ratio = (x) => (x >= 0.0995 ? x.toFixed(2) : x.toFixed(3));
/** @param {number} s */
const seconds = (s) => (s < 1 ? ms(1000 * s) : `${s.toFixed(s < 10 ? 2 : 1)} s`);
/** @param {Json.Entry} e */
const commands = (e) => e.commands.reduce((sum, c) => sum + c.per_purchase, 0);

/**
 * by: what a row is sorted by; show: what it shows. Figures begin with the most, words with the first.
 * @typedef {{id: string, by: (e: Json.Entry) => string | number | undefined, show: (e: Json.Entry) => unknown, words?: boolean, extra?: boolean}} Column extra: not shown until it is chosen
 */
/** @param {number} x */
const percent = (x) => `${x > 0 && x < 0.01 ? (100 * x).toFixed(2) : Math.round(100 * x)} %`;
/**
 * A share of the requests; none were asked if the strategy never had its turn.
 * @param {string} id @param {'failed_share' | 'busy_share'} field @param {boolean} [extra] @returns {Column}
 */
const share = (id, field, extra) => ({ id, extra, by: (e) => (e.asked ? e[field] ?? 0 : undefined), show: (e) => percent(e[field] ?? 0) });
/** @param {string} id @param {'services_ms' | 'servers_ms' | 'generator_ms'} field @param {boolean} [extra] @returns {Column} */
const processor = (id, field, extra) => ({ id, extra, by: (e) => e.processor?.[field], show: (e) => `${(e.processor?.[field] ?? 0).toFixed(2)} ms` });
/** @param {string} id @param {boolean} [extra] @returns {Column} */
const ratioTo = (id, extra) => ({ id, extra, by: (e) => e.ratios[id]?.median, show: (e) => ratio(e.ratios[id].median) });
/** @type {Column[]} */
const columns = [
  { id: 'strategy', by: (e) => e.strategy, show: (e) => e.strategy, words: true },
  { id: 'verdict', by: (e) => kinds.indexOf(kindOf(e)), show: (e) => html`<${Badge} entry=${e} />`, words: true },
  { id: 'sold', by: (e) => e.sold_share, show: (e) => `${Math.round(100 * e.sold_share)} %` },
  { id: 'sales', by: (e) => e.sales_per_second.median, show: (e) => count(e.sales_per_second.median) },
  { id: 'sellOut', by: (e) => e.sell_out_s?.median, show: (e) => seconds(e.sell_out_s?.median ?? 0) },
  { id: 'p50', extra: true, by: (e) => e.p50_ms.median, show: (e) => ms(e.p50_ms.median) },
  { id: 'p99', by: (e) => e.p99_ms.median, show: (e) => ms(e.p99_ms.median) },
  { id: 'p999', extra: true, by: (e) => e.latency?.p99_9_ms, show: (e) => ms(e.latency?.p99_9_ms ?? 0) },
  share('failed', 'failed_share'),
  share('busy', 'busy_share', true),
  processor('services', 'services_ms'),
  processor('servers', 'servers_ms'),
  processor('generator', 'generator_ms', true),
  { id: 'wait', extra: true, by: (e) => e.lock_wait_ms?.median, show: (e) => e.lock_wait_ms && ms(e.lock_wait_ms.median) },
  { id: 'commands', extra: true, by: (e) => commands(e) || undefined, show: (e) => commands(e).toFixed(1) },
  ratioTo('transaction'),
  ratioTo('gin', true),
];

const key = 'compare-table';
/** @typedef {{shown: string[], sort: string, down: boolean}} Look */

/** @returns {Look} */
function kept() {
  const usual = { shown: columns.filter((c) => !c.extra).map((c) => c.id), sort: '', down: true };
  try {
    const { shown, sort, down } = JSON.parse(remembered(key) ?? '');
    return Array.isArray(shown) ? { shown, sort: String(sort), down: !!down } : usual;
  } catch {
    return usual;
  }
}

// The ratios to the other baselines say much the same.
/** @param {{result: Json.ComparisonResult}} props */
export function Table({ result }) {
  const [look, setLook] = useState(kept);
  const w = words();
  const known = columns.filter((c) => c.words || result.strategies.some((e) => c.by(e) !== undefined));
  const shown = known.filter((c) => c.id === 'strategy' || look.shown.includes(c.id));
  const column = shown.find((c) => c.id === look.sort);
  const rows = column ? sorted(result.strategies, column, look.down) : result.strategies;
  const change = (/** @type {Partial<Look>} */ part) => {
    const next = { ...look, ...part };
    setLook(next);
    remember(key, JSON.stringify(next));
  };
  const sort = (/** @type {Column} */ c) => change({ sort: c.id, down: look.sort === c.id ? !look.down : !c.words });
  const pick = (/** @type {string} */ id) => change({ shown: look.shown.includes(id) ? look.shown.filter((other) => other !== id) : [...look.shown, id] });
  return html`
    <section class="panel" aria-labelledby="table-title">
      <h2 id="table-title">${w.table}</h2>
      <details class="pick-columns"><summary>${w.pickColumns}</summary>
        <ul>${known.filter((c) => c.id !== 'strategy').map((c) => html`
          <li key=${c.id}><label><input type="checkbox" class="pick" value=${c.id} checked=${look.shown.includes(c.id)} onChange=${() => pick(c.id)} />
            <span>${w.columns[c.id]}${w.columnHints[c.id] && html`<small>${w.columnHints[c.id]}</small>`}</span></label></li>`)}</ul>
      </details>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="table-title">
        <table class="results">
          <thead><tr>${shown.map((c) => html`
            <th key=${c.id} scope="col" class=${c.words ? '' : 'n'} title=${w.columnHints[c.id]}
              aria-sort=${look.sort === c.id ? (look.down ? 'descending' : 'ascending') : undefined}>
              <button type="button" class="sort" onClick=${() => sort(c)}>${w.columns[c.id]}<span aria-hidden="true">${look.sort === c.id ? (look.down ? '▾' : '▴') : ''}</span></button></th>`)}</tr></thead>
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
