// Which strategies fit five answers, the simplest first. Pure functions over the matrix
// and the figures: no strategy is known here by its name.
import { listed, meets } from '../guarantees/rows.js';

export const rates = [0, 100, 1000, 3000]; // sales a second; 0: not known
/** What each server offers. A SQL database for the ledger is always there. */
export const servers = { mysql: ['RowLocks', 'Procedures', 'SkipLocked', 'ReadCommitted'], redis: ['Redis'], redis5: ['Redis', 'RedisQuorum'], zookeeper: ['ZooKeeper'], etcd: ['Etcd'] };
/** Failures are questions of the matrix. */
export const failures = ['dead-holder', 'lease-end', 'lost-reply', 'late-command', 'clocks', 'node-loss'];
/** Asked of every strategy, whatever the answers are. */
const always = ['oversell', 'lost-update', 'other-skus'];
/** The simpler a family is to run and to explain, the earlier it stands. */
const simplest = ['sqlrow', 'mysqllock', 'counter', 'redislock', 'zklock', 'etcdlock', 'hotsku', 'local'];

/** @typedef {{need: 'stock' | 'lock', rate: number, have: string[], processes: boolean, fails: string[]}} Answers */
/** @typedef {{strategy: Json.Strategy, row: Json.Row, speed: Json.Rounds | null, breaks: string[]}} Fit */

/**
 * The answers of an address; what it leaves open, or gets wrong, is as usual.
 * @param {Record<string, string>} query @returns {Answers}
 */
export const answersOf = (query) => ({
  need: query.need === 'lock' ? 'lock' : 'stock', rate: rates.find((n) => String(n) === query.rate) ?? 0,
  have: Object.keys(servers).filter((s) => listed(query.have ?? 'mysql').includes(s)), processes: query.processes !== 'one',
  fails: failures.filter((q) => listed(query.fails).includes(q)),
});

/** @param {Answers} a @returns {Record<string, string>} their address */
export const addressOf = (a) => ({
  need: a.need === 'lock' ? 'lock' : '', rate: String(a.rate || ''), have: a.have.join() || 'nothing', processes: a.processes ? '' : 'one', fails: a.fails.join(),
});

/**
 * The questions of the matrix that answers ask.
 * @param {Answers} a
 */
export const askedOf = (a) => [...new Set([...strictly(a), ...(a.processes ? ['processes'] : []), ...a.fails])];

/**
 * Those that must hold, and not merely fail to apply. Only a lock that its owner alone
 * releases can guard anything else. The loss of a server does not apply where the lock's
 * only server holds the stock, too: that is no lock that survives it.
 * @param {Answers} a
 */
const strictly = (a) => [...always, ...(a.need === 'lock' ? ['owner', ...a.fails.filter((q) => q === 'node-loss')] : [])];

/**
 * The strategies that hold what is asked, run on what there is and meet the load, the
 * simplest first, and of one family those that fewest questions break. One that another
 * one mends is a lesson, and never an answer.
 * @param {Answers} a @param {Json.Strategy[]} strategies @param {Json.Matrix} matrix @param {Json.Figures} figures
 * @returns {Fit[]}
 */
export function choose(a, strategies, matrix, figures) {
  const offered = ['SQL', ...a.have.flatMap((s) => servers[s] ?? [])];
  const holds = (/** @type {Json.Row} */ row, /** @type {string} */ q) => meets(row, q) || (!strictly(a).includes(q) && row.cells[q]?.answer === 'n/a');
  const beyond = (/** @type {Fit} */ f) => f.strategy.needs.filter((n) => !['SQL', ...servers.mysql].includes(n)).length;
  const simple = (/** @type {Fit} */ f) => simplest.indexOf(f.strategy.family);
  return strategies.flatMap((strategy) => {
    const row = matrix.rows.find((r) => r.strategy === strategy.name);
    if (!row || strategy.broken || strategy.repair || !askedOf(a).every((q) => holds(row, q)) || !strategy.needs.every((need) => offered.includes(need))) return [];
    const figure = figures['hot-row']?.strategies[strategy.name];
    const speed = figure?.verdict === 'held' ? figure.sales_per_second ?? null : null;
    if (a.rate && !(speed && speed[0] >= a.rate)) return [];
    return [{ strategy, row, speed, breaks: matrix.questions.map((q) => q.id).filter((q) => row.cells[q]?.answer === 'breaks') }];
  }).sort((x, y) => beyond(x) - beyond(y) || simple(x) - simple(y) || x.breaks.length - y.breaks.length);
}

/**
 * The answers that are each enough to change, so that something fits.
 * @param {Answers} a @param {(a: Answers) => Fit[]} fitting @returns {{answers: Answers, what: string, fits: Fit[]}[]}
 */
export const waysOut = (a, fitting) => [
  { what: 'rate', answers: { ...a, rate: 0 } }, { what: 'processes', answers: { ...a, processes: false } },
  ...Object.keys(servers).map((s) => ({ what: s, answers: { ...a, have: [...new Set([...a.have, s])] } })),
  ...a.fails.map((q) => ({ what: q, answers: { ...a, fails: a.fails.filter((one) => one !== q) } })),
].map((way) => ({ ...way, fits: fitting(way.answers) })).filter(({ fits }) => fits.length);
