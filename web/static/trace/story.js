// The rows of a trace's diagram, from top to bottom: commands with their
// answers, events, and where the judge's sentences belong.
import { belief } from './model.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Step} Step */

/**
 * message: a command and its answer; sent, answer: they are apart; late: a
 * command that arrives; event: happens to all; act: of one buyer alone;
 * again: steps before it, repeated; rest: what is left out.
 * @typedef {'message'|'sent'|'answer'|'late'|'event'|'act'|'again'|'rest'} Kind
 * @typedef {{kind: Kind, steps: number[], step: Step, times: number, notes: Note[], problems: Trace['problems'], sent?: number, fatal?: boolean}} Row
 *   steps: their indexes; times: how often it came in a row; sent: of late and answer, the index of the step that began it;
 *   fatal: its problems happened in this very step
 * @typedef {{who: string, kind: 'read'|'old'|'stale', read: string, will: string}} Note
 */

const mostRows = 150;

/** @param {Trace} trace @param {Model} m @param {boolean} [brief] without what comes when all is lost @returns {Row[]} */
export function story(trace, m, brief = false) {
  const rows = short(folded(apart(trace), trace, m), trace);
  annotate(rows, trace, m);
  for (const { at, problem } of verdicts(trace, m)) {
    const here = rows.find((r) => at >= 0 && r.steps.includes(at) && r.kind !== 'answer');
    if (here) here.fatal = true;
    (here ?? rows[rows.length - 1]).problems.push(problem);
  }
  return brief ? ended(rows, trace) : rows;
}

/**
 * Without those who come when the others are done, if they add nothing.
 * @param {Row[]} rows @param {Trace} trace
 */
function ended(rows, trace) {
  const end = rows.reduce((last, r, i) => (r.problems.length > 0 || r.step.who !== 'next' ? i + 1 : last), 0);
  const left = rows.slice(end);
  return left.length === 0 ? rows : [...rows.slice(0, end), { ...row('rest', trace.steps.length - 1, left[0].step), steps: left.flatMap((r) => r.steps) }];
}

/** @param {Kind} kind @param {number} at @param {Step} step @param {number} [sent] @returns {Row} */
const row = (kind, at, step, sent) => ({ kind, steps: [at], step, times: 1, notes: [], problems: [], sent });

/** @param {Step} s @returns {Kind} */
function kindOf(s) {
  if (s.fault === 'delayed') return 'sent';
  if (s.fault === 'arrives late') return 'late';
  if (!s.who || s.fault === 'given up by the server') return 'event';
  return s.fault === 'dies' || !s.command || ['', 'work', 'wait'].includes(s.backend) ? 'act' : 'message';
}

/**
 * A row for each command; two where others come between it and its answer.
 * @param {Trace} trace
 */
function apart({ steps, live }) {
  if (live) return byTime(steps);
  const waiting = /** @type {Map<string, number>} */ (new Map());
  const late = /** @type {Map<string, number[]>} */ (new Map());
  return steps.flatMap((s, i) => {
    const kind = s.result === 'waits' && s.backend ? 'sent' : kindOf(s);
    if (s.result === 'waits' && !s.fault) waiting.set(s.who, i);
    if (s.fault === 'delayed') late.set(s.who, [...late.get(s.who) ?? [], i]);
    const began = s.fault === 'arrives late' ? late.get(s.who)?.shift() : undefined;
    return [row(kind, i, s, began), ...s.woke.flatMap((who) => {
      const at = waiting.get(who);
      waiting.delete(who);
      return at === undefined ? [] : [row('answer', at, steps[at], at)];
    })];
  });
}

/**
 * In a live trace commands overlap, and the clock says how.
 * @param {Step[]} steps
 */
function byTime(steps) {
  const ends = steps.flatMap((s, i) => (kindOf(s) === 'message' ? [{ i, at: s.start ?? 0, ends: false }, { i, at: (s.start ?? 0) + (s.took ?? 0), ends: true }] : [{ i, at: s.start ?? 0, ends: false }]))
    .sort((a, b) => a.at - b.at || a.i - b.i || Number(a.ends) - Number(b.ends));
  return ends.flatMap(({ i, ends: end }, n) => {
    if (kindOf(steps[i]) !== 'message') return [row(kindOf(steps[i]), i, steps[i])];
    if (end) return ends[n - 1]?.i === i ? [] : [row('answer', i, steps[i], i)];
    return [row(ends[n + 1]?.i === i ? 'message' : 'sent', i, steps[i])];
  });
}

/**
 * Rows that repeat what comes just before them, and change nothing, are one:
 * the nodes of a lock, the polls of those who wait.
 * @param {Row[]} rows @param {Trace} trace @param {Model} m
 */
function folded(rows, trace, m) {
  if (trace.live) return rows; // there each has its time
  const own = (/** @type {string} */ name) => !/ on node \d+$/.test(name);
  const still = (/** @type {number} */ at) => [...m.states[at + 1]].every(([name, value]) => !own(name) || m.states[at].get(name) === value)
    && [...m.states[at].keys()].every((name) => m.states[at + 1].has(name));
  const signs = rows.map(({ kind, step: s }) => (kind === 'message' || kind === 'event') && `${kind} ${s.who} ${s.fault} ${s.command.replace(/^node \d+: /, '')} ${s.result} ${s.reply}`);
  const repeats = (/** @type {number} */ at, /** @type {number} */ period) => {
    let end = at + period;
    while (end < rows.length && signs[end] && signs[end] === signs[end - period] && still(rows[end].steps[0])) end++;
    return Math.floor((end - at) / period) - 1;
  };
  const out = /** @type {Row[]} */ ([]);
  for (let i = 0; i < rows.length;) {
    const period = signs[i] ? [1, 2, 3, 4, 5, 6, 7, 8].find((p) => repeats(i, p) > 0 && rows.slice(i, i + p).every((_, n) => signs[i + n])) ?? 0 : 0;
    const times = period ? repeats(i, period) : 0;
    if (!times) out.push(rows[i++]);
    else {
      const again = rows.slice(i + period, i + period * (times + 1)).flatMap((r) => r.steps);
      if (period === 1) out.push({ ...rows[i], steps: [...rows[i].steps, ...again], times: times + 1 });
      else out.push(...rows.slice(i, i + period), { ...row('again', again[0], (rows.slice(i, i + period).find((r) => r.step.who) ?? rows[i]).step), steps: again, times });
      i += period * (times + 1);
    }
  }
  return out;
}

/**
 * A very long trace ends early: the player steps through the rest.
 * @param {Row[]} rows @param {Trace} trace
 */
function short(rows, trace) {
  if (rows.length <= mostRows) return rows;
  const left = new Set(rows.slice(mostRows).flatMap((r) => r.steps));
  return [...rows.slice(0, mostRows), { ...row('rest', trace.steps.length - 1, rows[mostRows].step), steps: [...left] }];
}

/**
 * What buyers learn, and when it is no longer true.
 * @param {Row[]} rows @param {Trace} trace @param {Model} m
 */
function annotate(rows, trace, m) {
  const known = /** @type {Map<string, {read: string, at: number, outdated: boolean, stale: boolean}>} */ (new Map());
  for (const r of rows) {
    if (r.kind === 'rest' || trace.live) continue;
    const n = r.steps[r.steps.length - 1] + 1;
    for (const who of r.kind === 'answer' ? [] : m.buyers) {
      const b = belief(trace, m, who, n);
      const was = known.get(who) ?? { read: '', at: -1, outdated: false, stale: false };
      const now = { read: b.read, at: b.readAt, outdated: b.outdated, stale: b.lock === 'stale' };
      if (now.at !== was.at && b.read !== '') r.notes.push({ who, kind: 'read', read: b.read, will: b.will });
      if (now.outdated && !was.outdated) r.notes.push({ who, kind: 'old', read: b.read, will: '' });
      if (now.stale && !was.stale) r.notes.push({ who, kind: 'stale', read: '', will: '' });
      known.set(who, now);
    }
  }
}

const ofStock = /^(oversold|lost_update|negative_stock|wrong_receipt|bought_twice|released_twice)$/;
const ofLoss = /^(lost_units|missing_order|counter_and_row_differ)$/; // something was left half done
const cutsOff = ['dies', 'reply lost', 'command lost'];

/**
 * Where each sentence of the judge belongs: the step that made it true, -1 if
 * that cannot be told, and it is said at the end.
 * @param {Trace} trace @param {Model} m
 */
function verdicts(trace, m) {
  const { steps, problems } = trace;
  const last = (/** @type {(s: Step, i: number) => boolean} */ is) => steps.reduce((found, s, i) => (is(s, i) ? i : found), -1);
  const moved = (/** @type {number} */ i) => [...m.states[i + 1]].some(([name, v]) => /^(stock\.num|seckill:stock:\d+)$/.test(name) && m.states[i].get(name) !== undefined && m.states[i].get(name) !== v);
  const at = (/** @type {Trace['problems'][number]} */ { rule, message }) => {
    const named = message.match(/\bafter step (\d+)\b/);
    if (named) return Number(named[1]) - 1;
    const who = message.match(/^(\w+) /)?.[1];
    if (rule === 'blocked') return steps.findIndex((s) => s.who === who && /^gives up/.test(s.result));
    if (rule === 'hindered') return steps.findIndex((s) => s.who === who && s.result === 'waits');
    if (rule === 'stolen') return m.bars.find((b) => b.who === who && b.kind === 'stale')?.from ?? -1;
    if (ofLoss.test(rule) && steps.filter((s) => s.fault).length === 1) return steps.findIndex((s) => cutsOff.includes(s.fault));
    if (trace.live || !ofStock.test(rule)) return -1;
    return last((s, i) => Boolean(s.who) && s.who !== 'next' && moved(i));
  };
  return problems.map((problem) => ({ problem, at: at(problem) }));
}
