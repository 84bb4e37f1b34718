// Reads a counterexample of `seckill prove`, which may be a file of anybody's: what is
// missing is empty, and what is no counterexample is refused.

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

/** @param {string} text @returns {import('./model.js').Trace} */
export function readExample(text) {
  let e;
  try {
    e = JSON.parse(text);
  } catch {
    throw new Unreadable('notExample');
  }
  if (!isText(e?.strategy) || !Array.isArray(e.steps) || !e.steps.length || !Array.isArray(e.scenario?.buyers)) throw new Unreadable('notExample');
  if (e.format !== 1) throw new Unreadable('format', String(e.format).slice(0, 20));
  const steps = e.steps.map((s, i) => readStep(s, i + 1));
  return {
    strategy: e.strategy, question: text_(e.question), name: text_(e.scenario.name), stock: Number(e.scenario.stock) || 0, steps,
    buyers: e.scenario.buyers.map((b) => ({ name: text_(b?.name), quantity: Number(b?.quantity) || 0, process: Number(b?.process) || 0, does: text_(b?.does),
      same: text_(b?.same), again: Number(b?.again) || 0, other: b?.other === true })),
    renewals: Number(e.scenario.renewals) || 0,
    beliefs: list(e.held).map((h) => readBelief(h, steps)),
    told: list(e.told).map((a) => ({ who: text_(a?.who), answer: text_(a?.answer) })),
    problems: list(e.problems).map((p) => ({ rule: text_(p?.rule), message: text_(p?.message) })),
  };
}

/** @param {any} s @param {number} number @returns {import('./model.js').Step} */
function readStep(s, number) {
  if (!text_(s?.who) && !text_(s?.fault)) throw new Unreadable('step', number);
  if (s.fault && !faults.includes(s.fault)) throw new Unreadable('step', number);
  return {
    who: text_(s.who), fault: text_(s.fault), backend: text_(s.backend), command: text_(s.command).replace(renewerMark, ''), result: text_(s.result), reply: text_(s.reply),
    woke: list(s.woke).map(text_), values: list(s.values).map((v) => ({ name: text_(v?.name), value: text_(v?.value) })), byItself: s.by_itself === true,
    background: s.renewer === true || renewerMark.test(text_(s.command)),
  };
}

/** @param {any} h @param {import('./model.js').Step[]} steps @returns {import('./model.js').Belief} */
function readBelief(h, steps) {
  const within = (/** @type {unknown} */ n, /** @type {number} */ otherwise) => Math.max(-1, Math.min(Number(n ?? otherwise) || 0, steps.length - 1));
  const died = steps.findIndex((s, i) => s.who === h?.who && s.fault === 'dies' && i > Number(h.from));
  return { who: text_(h?.who), from: within(h?.from, 0), to: within(h?.to, died < 0 ? steps.length - 1 : died) };
}

/** @param {unknown} v @returns {v is string} */
const isText = (v) => typeof v === 'string' && v !== '';
/** @param {unknown} v */
const text_ = (v) => (typeof v === 'string' ? v : '');
/** @param {unknown} v @returns {any[]} */
const list = (v) => (Array.isArray(v) ? v : []);
