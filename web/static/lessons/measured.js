// Figures that `make figures` measured on one machine, for the places of
// figures in the chapters. They are fetched once, when a chapter has a place.
import { call } from '../api.js';
import { t } from '../text.js';
import { count, html, useEffect, useState } from '../ui.js';

/** @typedef {[number, number, number]} Spread the median of the rounds, the lowest, the highest */
/** @typedef {{command: string, begun: string, os: string, cpus: number, servers: string[]}} Run */

let asked = null;

/** What was not measured is not there. */
function loadFigures() {
  asked ??= call('GET', '/static/figures.json').catch(() => {
    asked = null; // ask again next time
    return {};
  });
  return asked;
}

export function Measured({ command }) {
  const [figures, setFigures] = useState({});
  useEffect(() => {
    let here = true;
    loadFigures().then((f) => here && setFigures(f));
    return () => { here = false; };
  }, []);
  const [, what, names = '', crowds = '8'] = command.match(
    /^seckill (compare|bench locks|bench claims)(?: --(?:strategies|locks) ([\w,-]+))?(?: --contenders ([\d,]+))?$/) ?? [];
  const run = { compare: figures.compare, 'bench locks': figures.locks, 'bench claims': figures.claims }[what];
  if (!run) return null;
  const l = t.lessons.measured;
  const tables = {
    compare: () => sales(run, names.split(','), l),
    'bench locks': () => locks(run, names.split(','), crowds.split(','), l),
    'bench claims': () => sweeps(run, l),
  }[what]().filter((table) => table.rows.length);
  if (!tables.length) return null;
  return html`
    <figure class="measured">
      ${tables.map((table) => html`<${Table} key=${table.head[0]} ...${table} />`)}
      <figcaption class="hint">${l.on(run.begun.slice(0, 10), run.cpus, run.servers.join(', '))} ${l.how[what](run)}</figcaption>
    </figure>`;
}

const sales = (run, names, l) => [{
  head: [l.strategy, l.sales, 'p50 ms', 'p99 ms', l.share],
  rows: names.filter((n) => run.strategies[n]).map((n) => {
    const s = run.strategies[n];
    return [html`<code>${n}</code>`, spread(s.sales_per_second), figure(s.p50_ms[0]), figure(s.p99_ms[0]), share(s.of_transaction[0])];
  }),
}];

const locks = (run, names, crowds, l) => [{
  head: [l.lock, l.alone, ...crowds.flatMap((n) => [l.crowd(n), l.wait(n)])],
  rows: names.filter((n) => run.locks[n]).map((n) => {
    const of = run.locks[n].crowds;
    return [html`<code>${n}</code>`, spread(of[1]?.locks_per_second),
      ...crowds.flatMap((c) => [spread(of[c]?.locks_per_second), of[c] ? figure(of[c].p99_ms[0]) : '–'])];
  }),
}];

const sweeps = (run, l) => [
  { head: [l.pause, l.rate, 'p99 ms', l.commands],
    rows: run.polls.map((s) => [`${figure(s.ms)} ms`, spread(s.locks_per_second), figure(s.p99_ms[0]), figure(s.commands)]) },
  { head: [l.lease, l.rate, l.lost],
    rows: run.leases.map((s) => [`${figure(s.ms)} ms`, spread(s.locks_per_second), `${figure(s.lost_percent[0])} %`]) },
];

function Table({ head, rows }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${head[0]}><table>
      <thead><tr>${head.map((h, i) => html`<th key=${i} scope="col" class=${i ? 'n' : ''}>${h}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${i}><th scope="row">${row[0]}</th>
        ${row.slice(1).map((cell, j) => html`<td key=${j} class="n">${cell}</td>`)}</tr>`)}</tbody>
    </table></div>`;
}

/** @param {number} x */
const figure = (x) => (x >= 100 ? count(x) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
const share = (x) => (x ? x.toFixed(2) : '–');

/** @param {Spread} [s] */
const spread = (s) => (!s ? '–' : s[1] === s[2] ? figure(s[0])
  : html`${figure(s[0])} <span class="range">(${figure(s[1])}–${figure(s[2])})</span>`);
