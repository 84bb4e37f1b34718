// Which strategies fit what a reader answers. Pure functions over the matrix
// and the figures: no strategy is known here by its name.
import { markOf } from '../guarantees/marks.js';
import { elsewhere, listed, meets } from '../guarantees/rows.js';

export const stocks = [100, 1000, 10000, 100000];
export const rates = [0, 100, 1000, 3000, 10000]; // 0: not known
/** What each server offers. A SQL database for the ledger is always there. */
export const servers = { mysql: ['RowLocks', 'Procedures', 'SkipLocked'], redis: ['Redis'], redis5: ['Redis', 'RedisQuorum'], zookeeper: ['ZooKeeper'], etcd: ['Etcd'] };
/** What readers may have: servers, and more than one service process. */
export const having = [...Object.keys(servers), 'processes'];
/** Failures are questions of the matrix. */
export const failures = ['dead-holder', 'lease-end', 'lost-reply', 'late-command', 'clocks', 'node-loss'];
/** Asked of every strategy, whatever the answers are. */
const always = ['oversell', 'lost-update', 'history'];

/** @typedef {{stock: number, rate: number, have: string[], fails: string[], order: boolean}} Answers */

/**
 * The answers of an address; what it leaves open, or gets wrong, is as usual.
 * @param {Record<string, string>} query @returns {Answers}
 */
export const answersOf = (query) => ({
  stock: stocks.find((n) => String(n) === query.stock) ?? 1000,
  rate: rates.find((n) => String(n) === query.rate) ?? 0,
  have: having.filter((s) => listed(query.have ?? 'mysql,processes').includes(s)),
  fails: failures.filter((q) => listed(query.fails).includes(q)),
  order: query.order === 'yes',
});

/** @param {Answers} a @returns {Record<string, string>} their address */
export const addressOf = (a) => ({
  stock: String(a.stock), rate: String(a.rate || ''), have: a.have.join() || 'nothing', fails: a.fails.join(), order: a.order ? 'yes' : '',
});

/**
 * Why a strategy does not fit: nothing, or keys like "need:ZooKeeper". "wrong"
 * and "unproven" are no answer's fault.
 * @param {Answers} a @param {Json.Strategy} strategy @param {Json.Row} [row]
 */
function objections(a, strategy, row) {
  if (!row) return ['unproven'];
  const offered = ['SQL', ...a.have.flatMap((s) => servers[s] ?? [])];
  return [
    ...(always.every((q) => meets(row, q)) ? [] : ['wrong']),
    ...strategy.needs.filter((need) => !offered.includes(need)).map((need) => `need:${need}`),
    ...(a.have.includes('processes') && !meets(row, 'processes') ? ['processes'] : []),
    ...a.fails.filter((q) => !withstands(row.cells[q])).map((q) => `fails:${q}`),
    ...(a.order && !meets(row, 'order') ? ['order'] : []),
  ];
}

/**
 * A failure that does not apply does no harm; one that was not determined may.
 * @param {Json.Cell} [cell]
 */
const withstands = (cell) => cell?.answer === 'holds' || cell?.answer === 'n/a';

/**
 * The answers without an objection.
 * @param {Answers} a @param {string} objection @returns {Answers}
 */
export function without(a, objection) {
  const [kind, what] = objection.split(':');
  if (kind === 'need') {
    const server = Object.keys(servers).find((s) => servers[s].includes(what)) ?? '';
    return { ...a, have: having.filter((s) => a.have.includes(s) || s === server) };
  }
  if (kind === 'processes') return { ...a, have: a.have.filter((s) => s !== 'processes') };
  if (kind === 'fails') return { ...a, fails: a.fails.filter((q) => q !== what) };
  return { ...a, order: false };
}

/**
 * @typedef {object} Fit
 * @property {Json.Strategy} strategy
 * @property {Json.Row} row
 * @property {string[]} asked the questions that the answers ask
 * @property {string[]} breaks the other questions that it breaks
 * @property {Json.Rounds | null} speed sales per second: median, lowest, highest; null: no figure that says anything
 * @property {string} verdict of the run that was measured; '' if none was
 */

/**
 * @typedef {object} Choice
 * @property {number} wanted sales per second that the answers ask for; 0: any
 * @property {Fit[]} fits that were fast enough where they were measured, the best first
 * @property {Fit[]} slower that were not
 * @property {Fit[]} unmeasured of which no figure says anything
 * @property {{because: string, names: string[]}[]} excluded by their first objection
 * @property {{changes: string[], names: string[]}[]} ways out, if nothing fits: the fewest answers to change
 */

/**
 * @param {Answers} a @param {Json.Strategy[]} strategies @param {Json.Matrix} matrix @param {Json.Figures} figures
 * @returns {Choice}
 */
export function choose(a, strategies, matrix, figures) {
  const rows = new Map(matrix.rows.map((row) => [row.strategy, row]));
  const judged = strategies.map((strategy) => ({ strategy, row: rows.get(strategy.name), against: objections(a, strategy, rows.get(strategy.name)) }));
  const fits = judged.flatMap(({ strategy, row, against }) => (row && !against.length ? [fitOf(a, strategy, row, matrix, figures)] : [])).sort(byWorth);
  // A second cannot sell more than there is.
  const wanted = Math.min(a.rate, a.stock);
  const keepsUp = (/** @type {Fit} */ f) => !wanted || (f.speed !== null && f.speed[0] >= wanted);
  return {
    wanted, fits: fits.filter(keepsUp),
    slower: fits.filter((f) => !keepsUp(f) && f.speed),
    unmeasured: fits.filter((f) => !keepsUp(f) && !f.speed),
    excluded: together(judged.filter(({ against }) => against.length), (j) => j.against[0]).map(([because, list]) => ({ because, names: list.map(nameOf) })),
    ways: fits.length ? [] : waysOut(judged),
  };
}

/** @typedef {{strategy: Json.Strategy, against: string[]}} Judged */
const nameOf = (/** @type {Judged} */ { strategy }) => strategy.name;

/** @param {Answers} a @param {Json.Strategy} strategy @param {Json.Row} row @param {Json.Matrix} matrix @param {Json.Figures} figures @returns {Fit} */
function fitOf(a, strategy, row, matrix, figures) {
  const asked = [...always, ...(a.have.includes('processes') ? ['processes'] : []), ...a.fails, ...(a.order ? ['order'] : [])];
  const figure = figures.compare?.strategies[strategy.name];
  return {
    strategy, row, asked, verdict: figure?.verdict ?? '', speed: figure?.verdict === 'held' ? figure.sales_per_second : null,
    breaks: matrix.questions.map((q) => q.id).filter((q) => row.cells[q]?.answer === 'breaks'),
  };
}

/**
 * What breaks least comes first, then what sold fastest.
 * @param {Fit} x @param {Fit} y
 */
const byWorth = (x, y) => x.breaks.length - y.breaks.length || (y.speed?.[0] ?? 0) - (x.speed?.[0] ?? 0);

/**
 * The fewest answers that can be changed so that something fits.
 * @param {Judged[]} judged
 */
function waysOut(judged) {
  const possible = judged.filter(({ against }) => !against.includes('wrong') && !against.includes('unproven'));
  const fewest = Math.min(...possible.map(({ against }) => against.length));
  return together(possible.filter(({ against }) => against.length === fewest), ({ against }) => against.join())
    .map(([changes, list]) => ({ changes: changes.split(','), names: list.map(nameOf) }));
}

/**
 * Groups, in the order of their first members.
 * @template T
 * @param {T[]} all @param {(one: T) => string} key @returns {[string, T[]][]}
 */
function together(all, key) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return [...groups];
}

/**
 * The reasons of a fit: what its cells answer, by answer; those that do not
 * apply, with their own reason.
 * @param {Fit} fit
 */
export const answersIn = ({ row, asked }) => together(asked, (q) => (row.cells[q].answer === 'n/a' ? q : markOf(row.cells[q])))
  .map(([, questions]) => ({ mark: markOf(row.cells[questions[0]]), questions, cell: row.cells[questions[0]] }));

/**
 * The questions that a fit breaks on other servers only.
 * @param {Json.Matrix} matrix @param {Fit} fit
 */
export const breaksElsewhere = (matrix, { row }) => matrix.questions.flatMap(({ id }) => elsewhere(matrix, row.strategy, id)
  .filter(({ cell }) => cell.answer === 'breaks' && row.cells[id]?.answer !== 'breaks').map(({ servers: on }) => ({ question: id, servers: on })));
