// Figures measured by `make figures` on one machine, for the chapters. They are
// fetched once, on demand.
import { call } from '../api.js';
import { once, useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { count, html } from '../ui.js';
import { words as lessonWords } from './text.js';

/** @typedef {ReturnType<typeof lessonWords>['measured']} Labels */

/** @type {() => Promise<Json.Figures>} */
export const loadFigures = once(() => call('GET', '/static/figures.json'));

/** @param {{command: string}} props */
export function Measured({ command }) {
  const figures = useLoaded(loadFigures, []).value ?? {};
  const [, what, preset = 'flash-sale', names = '', gated = '', crowds = '8'] = command.match(
    /^seckill (compare|bench locks|bench articles)(?: --preset ([\w-]+))?(?: --(?:strategies|locks) ([\w,-]+))?(?: --gated ([\w,-]+))?(?: --contenders ([\d,]+))?$/) ?? [];
  const l = lessonWords().measured;
  const { run, how, tables = [] } = shownOf(what, preset, names.split(',').flatMap((n) => (gated.split(',').includes(n) ? [n, `${n}-gated`] : [n])), crowds.split(','), figures, l) ?? {};
  const full = tables.filter((table) => table.rows.length);
  if (!run || !full.length) return null;
  return html`
    <figure class="measured">
      ${full.map((table) => html`<${Table} key=${table.head[0]} ...${table} />`)}
      <figcaption class="hint">${l.on(run.begun.slice(0, 10), run.cpus, run.servers.map(inWords).join(t.comma))}${how}</figcaption>
    </figure>`;
}

/**
 * The command of a place of figures, with the flags of the sale that was measured.
 * @param {string} command @param {Json.Figures} figures
 */
export function repeated(command, figures) {
  const run = command.startsWith('seckill compare') ? figures[command.match(/--preset ([\w-]+)/)?.[1] ?? 'flash-sale'] : undefined;
  return command + (run?.command.match(/ --(?:skus|stock|buyers|rounds|turn) \S+/g) ?? []).join('');
}

/** @param {string} server with how it was had: given, private or embedded */
const inWords = (server) => server.replace(/\((\w+)\)$/, (whole, tier) => (t.machines.tiers[tier] ? `(${t.machines.tiers[tier]})` : whole));

/**
 * The run that a place of figures names, and what to show of it.
 * @param {string | undefined} what @param {string} preset @param {string[]} names @param {string[]} crowds
 * @param {Json.Figures} figures @param {Labels} l
 */
function shownOf(what, preset, names, crowds, figures, l) {
  const { locks: taken, articles } = figures;
  const compare = /** @type {Json.SalesFigures | undefined} */ (figures[preset]);
  switch (what) {
    case 'compare': return compare && { run: compare, how: l.how.compare(compare), tables: sales(compare, names, l, preset !== 'flash-sale') };
    case 'bench locks': return taken && { run: taken, how: l.how[what](taken), tables: locks(taken, names, crowds, l) };
    case 'bench articles': return articles && { run: articles, how: l.how[what](articles), tables: sweeps(articles, l) };
    default: return undefined;
  }
}

/**
 * The rate of sales says nothing of a flash sale: it is over in a moment.
 * @param {Json.SalesFigures} run @param {string[]} names @param {Labels} l @param {boolean} lasts
 */
const sales = (run, names, l, lasts) => [{
  head: [l.strategy, l.answers, ...(lasts ? [l.sales] : []), 'p99 ms', l.share(run.relative_to ?? '')],
  rows: !names.some((n) => run.strategies[n]) ? [] : names.map((n) => {
    const s = run.strategies[n];
    return !s ? [html`<code>${n}</code>`, l.notYet, ...(lasts ? ['–'] : []), '–', '–']
      : [html`<code>${n}</code>`, spread(s.answers_per_second), ...(lasts ? [spread(s.sales_per_second)] : []), s.bought_p99_ms ? figure(s.bought_p99_ms[0]) : '–', spread(s.factor)];
  }),
}];

/** @param {NonNullable<Json.Figures['locks']>} run @param {string[]} names @param {string[]} crowds @param {Labels} l @param {string[]} [measured] of the crowds */
const locks = (run, names, crowds, l, measured = crowds.filter((c) => names.some((n) => run.locks[n]?.[c]))) => [{
  head: [l.lock, l.alone, ...measured.flatMap((n) => [l.crowd(n), l.wait(n)])],
  rows: names.filter((n) => run.locks[n]).map((n) => {
    const of = run.locks[n];
    return [html`<code>${n}</code>`, spread(of[1]?.locks_per_second),
      ...measured.flatMap((c) => [spread(of[c]?.locks_per_second), of[c] ? figure(of[c].p99_ms[0]) : '–'])];
  }),
}];

/** @param {NonNullable<Json.Figures['articles']>} run @param {Labels} l */
const sweeps = (run, l) => [
  { head: [l.pause, l.rate, 'p99 ms', l.commands],
    rows: run.polls.map((s) => [`${figure(s.ms)} ms`, spread(s.locks_per_second), figure(s.p99_ms[0]), figure(s.commands[0])]) },
  { head: [l.lease, l.rate, l.lost],
    rows: run.leases.map((s) => [`${figure(s.ms)} ms`, spread(s.locks_per_second), `${figure(s.lost_percent[0])} %`]) },
];

/** @param {{head: string[], rows: unknown[][]}} props */
function Table({ head, rows }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${head[0]}><table>
      <thead><tr>${head.map((h, i) => html`<th key=${i} scope="col" class=${i ? 'n' : ''}>${h}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${i}><th scope="row">${row[0]}</th>
        ${row.slice(1).map((cell, j) => html`<td key=${j} class="n">${cell}</td>`)}</tr>`)}</tbody>
    </table></div>`;
}

/** @param {number} x */
export const figure = (x) => (x >= 100 ? count(x) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
/** @param {Json.Rounds} [s] */
export const spread = (s) => (!s ? '–' : s[1] === s[2] ? figure(s[0])
  : html`${figure(s[0])} <span class="range">(${figure(s[1])}–${figure(s[2])})</span>`);
