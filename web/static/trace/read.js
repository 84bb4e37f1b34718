// Reads a counterexample of `seckill prove`. The text is untrusted: everything in
// it is validated.

export const maxFile = 2_000_000; // characters
const maxSteps = 2000;
const maxLanes = 12;
const faults = ['lease ends', 'dies', 'leaves', 'given up by the server', 'reply lost', 'command lost', 'delayed',
  'arrives late', 'clock jumps', 'a node is lost', 'time passes'];

const renewerMark = /^\(renewer\) /; // before a command of a lock's renewer

/** An error: a key of words().wrong, with its arguments. */
export class Unreadable extends Error {
  /** @param {string} code @param {...(string | number)} args */
  constructor(code, ...args) {
    super(code);
    this.code = code;
    this.args = args;
  }
}

/** @param {string} text @returns {import('./model.js').Trace} the counterexample, complete and of the right types */
export function readExample(text) {
  if (text.length > maxFile) throw new Unreadable('tooLarge', maxFile);
  let e;
  try {
    e = JSON.parse(text);
  } catch {
    throw new Unreadable('notJSON');
  }
  if (!isObject(e) || !isObject(e.scenario) || !Array.isArray(e.steps)) throw new Unreadable('notExample');
  if (e.format !== 1) throw new Unreadable('format', String(e.format).slice(0, 20));
  if (!isText(e.strategy) || !e.strategy) throw new Unreadable('notExample');
  if (!Number.isSafeInteger(e.scenario.stock) || e.scenario.stock < 0) throw new Unreadable('stock');
  const buyers = list(e.scenario.buyers).map((b) => {
    if (!isObject(b) || !isText(b.name) || !b.name) throw new Unreadable('buyers');
    return { name: b.name, quantity: Number(b.quantity) || 0, process: Number(b.process) || 0, does: text_(b.does),
      same: text_(b.same), again: Number(b.again) || 0, other: b.other === true };
  });
  if (!buyers.length || new Set(buyers.map((b) => b.name)).size !== buyers.length) throw new Unreadable('buyers');
  if (!e.steps.length || e.steps.length > maxSteps) throw new Unreadable('steps', maxSteps);
  const steps = e.steps.map((s, i) => readStep(s, i + 1));
  if (new Set([...buyers.map((b) => b.name), ...steps.map((s) => s.who)]).size > maxLanes) throw new Unreadable('buyers');
  return {
    strategy: e.strategy, question: text_(e.question), name: text_(e.scenario.name), stock: e.scenario.stock, buyers, steps,
    renewals: Number(e.scenario.renewals) || 0,
    beliefs: list(e.held).map((h) => readBelief(h, steps)),
    told: list(e.told).filter(isObject).map((a) => ({ who: text_(a.who), answer: text_(a.answer) })),
    problems: list(e.problems).filter(isObject).map((p) => ({ rule: text_(p.rule), message: text_(p.message) })),
  };
}

/** @param {Record<string, unknown>} s @param {number} number @returns {import('./model.js').Step} */
function readStep(s, number) {
  const bad = (/** @type {string} */ what) => new Unreadable('step', number, what);
  if (!isObject(s)) throw bad('{}');
  for (const name of ['who', 'fault', 'backend', 'command', 'result', 'reply']) {
    if (s[name] !== undefined && !isText(s[name])) throw bad(name);
  }
  if (!s.who && !s.fault) throw bad('who');
  if (s.fault && !faults.includes(text_(s.fault))) throw bad('fault');
  for (const name of ['values', 'woke']) {
    if (s[name] !== undefined && s[name] !== null && !Array.isArray(s[name])) throw bad(name);
  }
  if (list(s.values).some((v) => !isObject(v) || !isText(v.name) || !isText(v.value))) throw bad('values');
  if (list(s.woke).some((w) => !isText(w))) throw bad('woke');
  return {
    who: text_(s.who), fault: text_(s.fault), backend: text_(s.backend), command: text_(s.command).replace(renewerMark, ''), result: text_(s.result), reply: text_(s.reply),
    woke: list(s.woke), values: list(s.values).map((v) => ({ name: v.name, value: v.value })), byItself: s.by_itself === true,
    background: s.renewer === true || renewerMark.test(text_(s.command)),
  };
}

/** @param {Record<string, unknown>} h @param {import('./model.js').Step[]} steps @returns {import('./model.js').Belief} */
function readBelief(h, steps) {
  const within = (/** @type {unknown} */ n) => Number.isSafeInteger(n) && Number(n) >= -1 && Number(n) <= steps.length;
  if (!isObject(h) || !isText(h.who) || !within(h.from) || (h.to !== undefined && !within(h.to))) throw new Unreadable('held');
  const died = steps.findIndex((s, i) => s.who === h.who && s.fault === 'dies' && i > Number(h.from));
  const to = h.to === undefined ? (died < 0 ? steps.length - 1 : died) : Number(h.to);
  return { who: h.who, from: Number(h.from), to: Math.min(to, steps.length - 1) };
}

/** @param {unknown} v */
const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
/** @param {unknown} v @returns {v is string} */
const isText = (v) => typeof v === 'string';
/** @param {unknown} v */
const text_ = (v) => (isText(v) ? v : '');
/** @param {unknown} v */
const list = (v) => (Array.isArray(v) ? v : []);
