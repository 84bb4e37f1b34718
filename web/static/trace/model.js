// The model of a trace: its lanes, what the servers keep after each step, and
// which locks are held. Computed once, drawn often.

/** @type {Record<string, string>} */
export const servers = { sql: 'MySQL', redis: 'Redis', zookeeper: 'ZooKeeper', etcd: 'etcd' };
/** @type {Record<string, string>} */
export const narrow = { ...servers, sql: 'SQL', zookeeper: 'ZK' }; // for narrow lanes

/**
 * A counterexample, or a live trace, whose steps have times in microseconds.
 * @typedef {object} Trace
 * @property {string} strategy
 * @property {string} question
 * @property {string} name
 * @property {number} stock
 * @property {Buyer[]} buyers
 * @property {Step[]} steps
 * @property {{who: string, answer: string}[]} told
 * @property {{rule: string, message: string}[]} problems
 * @property {Value[]} [before] what the servers kept before the first step
 * @property {{who: string, from_us: number, to_us: number}[]} [held]
 * @property {Belief[]} [beliefs] when buyers thought that they had the lock
 * @property {boolean} [cut]
 * @property {boolean} [live]
 * @property {string} [started] of a live one
 * @property {string} [title] of its drawing, in words: the drawing has no step numbers then
 * @property {Record<string, string>} [named] other names of servers
 *
 * @property {number} [renewals] how often renewers may act
 *
 * @typedef {{name: string, value: string}} Value
 * @typedef {{who: string, from: number, to: number}} Belief from the step that granted the lock to the one that gives it back
 * @typedef {{name: string, process: number, quantity?: number, does?: string, same?: string, again?: number, other?: boolean}} Buyer
 *   does: its role in the scenario
 * @typedef {{who: string, fault: string, backend: string, command: string, result: string, reply: string, woke: string[], values: Value[],
 *   background?: boolean, start?: number, took?: number}} Step
 */

/** @typedef {Map<string, string>} Kept by the servers, by name */

/**
 * @typedef {{who: string, kind: 'key'|'row'|'flight'|'held'|'stale', from: number, to: number, name: string}} Bar indexes of steps, to included
 * @typedef {{buyers: string[], servers: string[], states: Kept[], bars: Bar[]}} Model
 */

/** @param {Trace} trace @returns {Model} */
export function model(trace) {
  const named = [...trace.buyers.map((b) => b.name), ...trace.steps.map((s) => s.who).filter(Boolean)];
  const states = statesOf(trace);
  return {
    buyers: [...new Set(named)],
    servers: Object.keys(servers).filter((name) => trace.steps.some((s) => s.backend === name)),
    states,
    bars: [...flights(trace.steps), ...locks(trace, states)],
  };
}

/**
 * Bars of locks. What a buyer believes goes before what the servers keep; where
 * the two differ, the bar is stale.
 * @param {Trace} trace @param {Kept[]} states @returns {Bar[]}
 */
function locks(trace, states) {
  const sessions = rows(trace.steps);
  if (trace.held) return [...sessions, ...timed(trace)];
  const written = keys(trace.steps, states);
  if (!trace.beliefs?.length) return [...sessions, ...written];
  const ofServers = [...written, ...sessions.filter((b) => b.name === 'GET_LOCK')];
  const bars = sessions.filter((b) => b.name !== 'GET_LOCK');
  for (const { who, from, to } of trace.beliefs) {
    const own = ofServers.filter((b) => b.who === who && b.from <= to && b.to >= from);
    const kept = (/** @type {number} */ at) => !own.length || own.some((b) => b.from <= at && (at < b.to || b.to === trace.steps.length - 1));
    const start = Math.max(from, 0);
    for (let at = start; at <= to; at++) {
      const kind = kept(at === to ? Math.max(start, at - 1) : at) ? 'held' : 'stale'; // the last step is the release itself
      const last = bars.at(-1);
      if (last?.who === who && last.kind === kind && last.to === at - 1) last.to = at;
      else bars.push({ who, kind, from: at, to: at, name: 'lock' });
    }
  }
  return bars;
}

/**
 * What a buyer knows after n steps: what they read, and at which step; what they
 * will write because of it, or wrote last; and whether they think that they have
 * the lock. outdated, stale: the servers say otherwise.
 * @param {Trace} trace @param {Model} m @param {string} who @param {number} n
 */
export function belief(trace, m, who, n) {
  let read = '', readAt = -1, written = '', over = false;
  for (let i = 0; i < n; i++) {
    const s = trace.steps[i];
    if (s.who !== who || s.background) continue;
    over ||= s.fault === 'dies' || (/^(COMMIT|CALL)\b/i.test(s.command) && s.fault !== 'delayed' && s.fault !== 'command lost');
    const found = /^SELECT\b/i.test(s.command) ? s.reply.match(/(?:^|, )num = (-?\d+)/)?.[1] : undefined;
    if (found !== undefined) [read, readAt, written, over] = [found, i, '', false];
    if (!s.fault) written = decided(s) ?? written;
  }
  const at = n - 1;
  const holds = trace.beliefs?.some((b) => b.who === who && b.from <= at && at < b.to);
  const stale = holds && m.bars.some((b) => b.who === who && b.kind === 'stale' && b.from <= at && at <= b.to);
  const row = m.states[n].get('stock.num');
  return { read, readAt, written, will: read !== '' && written === '' ? next(trace.steps, who, n) : '',
    outdated: !over && read !== '' && row !== undefined && row !== read && row !== written, lock: stale ? 'stale' : holds ? 'held' : '' };
}

/**
 * The number that a command writes into the stock row.
 * @param {Step} s
 */
const decided = (s) => s.command.match(/^UPDATE stock SET num = (-?\d+)\b/i)?.[1];

/**
 * What a buyer has decided to write: their next write, unless they read again before.
 * @param {Step[]} steps @param {string} who @param {number} n
 */
function next(steps, who, n) {
  for (const s of steps.slice(n)) {
    if (s.who !== who || s.background) continue;
    const value = decided(s);
    if (value !== undefined) return value;
    if (/^SELECT num\b/i.test(s.command)) return '';
  }
  return '';
}

/**
 * states[n] is what the servers keep after n steps; unread values are the last ones seen.
 * @param {Trace} trace
 */
function statesOf({ stock, steps, before }) {
  const kept = (/** @type {Value[]} */ values) => new Map(values.map((v) => [v.name, v.value]));
  let last = kept(before ?? [{ name: 'stock.num', value: String(stock) }]);
  const states = [last];
  for (const s of steps) {
    if (s.values.length) last = kept(s.values);
    states.push(last);
  }
  return states;
}

const writes = /^\s*(UPDATE|DELETE|INSERT|REPLACE)\b/i;
const locksRow = /\bFOR UPDATE\b|\bLOCK IN SHARE MODE\b|\bFOR SHARE\b/i;
const named = /\bGET_LOCK\s*\(/i;

/**
 * Rows locked by an open transaction, and locks held by a SQL session.
 * @param {Step[]} steps
 */
function rows(steps) {
  /** @type {Bar[]} */
  const bars = [];
  const open = /** @type {Map<string, Map<string, Bar>>} */ (new Map()); // by buyer: its bars, by name
  const inside = /** @type {Set<string>} */ (new Set()); // whose transaction is open
  const waits = /** @type {Map<string, string>} */ (new Map()); // by buyer: what it gets when it continues
  const take = (/** @type {string} */ who, /** @type {string} */ name, /** @type {number} */ at) => {
    const theirs = open.get(who) ?? /** @type {Map<string, Bar>} */ (new Map());
    open.set(who, theirs);
    if (theirs.has(name)) return;
    /** @type {Bar} */
    const bar = { who, kind: 'row', from: at, to: steps.length - 1, name };
    theirs.set(name, bar);
    bars.push(bar);
  };
  const free = (/** @type {string} */ who, /** @type {number} */ at, only = '') => {
    const theirs = open.get(who);
    for (const [name, bar] of theirs ?? []) {
      if (only && name !== only) continue;
      bar.to = at;
      theirs?.delete(name);
    }
  };
  const late = /** @type {Map<string, string>} */ (new Map()); // whose delayed command keeps a connection open, and what it is
  steps.forEach((s, at) => {
    for (const who of s.woke) {
      const what = waits.get(who);
      if (what) take(who, what, at);
      waits.delete(who);
      if (late.get(who) === 'waits') free(`${who} late`, at);
    }
    if (s.backend === 'sql' && s.fault === 'delayed') { // its connection holds its locks until the command arrives
      const theirs = open.get(s.who);
      if (theirs) open.set(`${s.who} late`, theirs);
      open.delete(s.who);
      inside.delete(s.who);
    }
    if (s.backend === 'sql' && s.fault === 'arrives late') {
      late.set(s.who, s.result);
      if (s.result !== 'waits') free(`${s.who} late`, at);
    }
    if (s.fault === 'dies' || s.fault === 'command lost' || s.fault === 'reply lost') {
      free(s.who, at); // the connection closes, and the server rolls back
      inside.delete(s.who);
    }
    if (s.fault === 'lease ends' && /connections/.test(s.command)) {
      for (const who of s.who ? [s.who] : [...open.keys()]) free(who, at);
    }
    if (s.fault || s.backend !== 'sql') return;
    const command = s.command.replace(/^\(renewer\) /, '');
    if (/^BEGIN\b|^START TRANSACTION\b/i.test(command)) inside.add(s.who);
    else if (/^(COMMIT|ROLLBACK)\b/i.test(command)) {
      free(s.who, at, 'rows');
      inside.delete(s.who);
    } else if (/\bRELEASE_LOCK\s*\(/i.test(command)) free(s.who, at, 'GET_LOCK');
    else {
      const what = named.test(command) ? 'GET_LOCK' : inside.has(s.who) && (writes.test(command) || locksRow.test(command)) ? 'rows' : '';
      if (!what || (s.result && s.result !== 'waits')) return;
      if (s.result === 'waits') waits.set(s.who, what);
      else take(s.who, what, at);
    }
  });
  return bars;
}

/**
 * Commands on their way. They arrive in the order in which they left.
 * @param {Step[]} steps
 */
function flights(steps) {
  /** @type {Bar[]} */
  const bars = [];
  steps.forEach((s, at) => {
    if (s.fault === 'delayed') bars.push({ who: s.who, kind: 'flight', from: at, to: steps.length - 1, name: s.command });
    const arrived = s.fault === 'arrives late' && bars.find((b) => b.who === s.who && b.to === steps.length - 1);
    if (arrived) arrived.to = at;
  });
  return bars;
}

/** @param {string | undefined} value */
const isFree = (value) => value === undefined || ['', '—', '<nil>', 'NULL', '0'].includes(value);

/**
 * The lock that a value (key, node, record) belongs to, if any.
 * @param {string} name
 */
function lockOf(name) {
  const base = name.replace(/ on node \d+$/, '');
  return /lock/.test(base) && !/^lock_(row|central)/.test(base) ? base : '';
}

/**
 * A state with one value per held lock, and none for a free one.
 * @param {Kept} state
 */
function whole(state) {
  const merged = /** @type {Kept} */ (new Map());
  for (const [name, value] of state) {
    const table = name.match(/^(distributed_lock|lock_record)\.(\w+)$/);
    if (!table) merged.set(name, value);
    else if (!['status', 'owner'].includes(table[2]) || !isFree(value)) {
      merged.set(table[1], `${merged.get(table[1]) ?? ''} ${table[2]}=${value}`);
    }
  }
  for (const [name, value] of merged) {
    if (/^(distributed_lock|lock_record)$/.test(name) && !/ (status|owner)=/.test(value)) merged.set(name, '—');
  }
  return merged;
}

/**
 * The writer of the current key (node, record): bars show only what the servers keep.
 * @param {Step[]} steps @param {Kept[]} looked
 */
function keys(steps, looked) {
  const states = looked.map(whole);
  /** @type {Bar[]} */
  const bars = [];
  const owner = /** @type {Kept} */ (new Map()); // of each value, by its place
  const places = new Set(states.flatMap((s) => [...s.keys()]).filter(lockOf));
  const held = /** @type {Map<string, Bar>} */ (new Map()); // by buyer and lock: the open bar
  steps.forEach((s, at) => {
    const now = /** @type {Map<string, {who: string, name: string}>} */ (new Map()); // buyer and lock of every key that is there
    for (const place of places) {
      const before = first(states[at].get(place));
      const after = first(states[at + 1].get(place));
      for (const value of queue(states[at + 1].get(place))) {
        if (!owner.has(`${place} ${value}`) && s.who && !s.fault.startsWith('given')) owner.set(`${place} ${value}`, s.who);
      }
      if (isFree(after)) {
        for (const k of [...owner.keys()]) if (k.startsWith(`${place} `)) owner.delete(k);
        continue;
      }
      if (isFree(before) && !place.startsWith('/')) owner.set(`${place} ${after}`, s.who || (owner.get(`${place} ${after}`) ?? ''));
      const who = owner.get(`${place} ${after}`);
      if (who) now.set(`${who} ${lockOf(place)}`, { who, name: lockOf(place) });
    }
    for (const [key, bar] of held) {
      if (now.has(key)) continue;
      bar.to = at;
      held.delete(key);
    }
    for (const [key, { who, name }] of now) {
      if (held.has(key)) continue;
      /** @type {Bar} */
      const bar = { who, kind: 'key', from: at, to: steps.length - 1, name };
      held.set(key, bar);
      bars.push(bar);
    }
  });
  return bars;
}

/** The members of a queue in ZooKeeper or etcd; other values have one. */
const queue = (value = '') => (value.startsWith('/') || /^\S+-\d{10}( |$)|^_c_/.test(value) ? value.split(' ') : isFree(value) ? [] : [value]);
/** @param {string} [value] */
const first = (value) => queue(value)[0] ?? value;

/**
 * In a live trace the lock itself reports who held it, and when.
 * @param {Trace} trace @returns {Bar[]}
 */
function timed({ steps, held = [] }) {
  return held.flatMap(({ who, from_us: from, to_us: to }) => {
    const during = steps.flatMap(({ start = 0, took = 0 }, i) => (start + took > from && start < to ? [i] : []));
    return during.length ? [{ who, kind: 'held', from: during[0], to: during[during.length - 1], name: 'lock' }] : [];
  });
}
