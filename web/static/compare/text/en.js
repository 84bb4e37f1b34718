// Every word of the comparisons in English. zh.js has the same keys.
import { count } from '../../ui.js';

const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
const tidy = (s) => (s < 90 ? `${Math.max(1, Math.round(s))} s` : `${count(Math.round(s / 60))} min`);

export default {
  title: 'Compare',
  what: 'The same sale, with the same buyers in the same order, for one strategy after the other: in rounds of alternating order, '
    + 'so that a machine’s good and bad minutes hit all alike, and beside floors, the same work without any strategy.',

  form: 'What is compared',
  strategies: 'Strategies',
  chosen: (n, all) => `${count(n)} of ${count(all)} chosen`,
  search: 'Search', broken: 'broken',
  all: 'All', none: 'None',
  notFound: (text) => `No strategy is like “${text}”.`,
  foreign: (names) => `This lab does not know ${names}.`,
  dropThem: 'Leave them out',
  fields: {
    stock: ['Stock', 'units for sale'],
    buyers: ['Buyers', 'one purchase each'],
    concurrency: ['At a time', 'buyers under way at once'],
    quantity: ['Units each', 'asked for by every buyer'],
    repeats: ['Rounds', 'every other one backwards'],
    turn_ms: ['Turn, ms', 'measured at least, each round'],
    few: ['Few', 'buyers at a time, again; 0: no'],
    seed: ['Seed', 'repeats the buyers in their order'],
  },
  anySeed: 'random',
  wrong: {
    none: () => 'Choose at least one strategy.',
    few: ({ concurrency }) => `Give fewer than the ${count(concurrency)} at a time of the comparison itself, or 0.`,
    token: () => 'Give the token that this lab was started with.',
  },
  refused: {
    run_in_progress: 'Something else drives the lab just now: a run, a comparison or a trace. Wait for its end, or stop it.',
    unknown_comparison: 'There is no such comparison any more.',
    result_gone: 'The result of this comparison is not in the history’s folder any more, or cannot be read there.',
    not_ended: 'This comparison is still on.',
    backend_unavailable: 'No service process answers, so nothing can be compared.',
  },
  estimate: {
    guessed: (from, to) => `Takes about ${tidy(from)} to ${tidy(to)}, by the machine and the strategies.`,
    measured: (s) => `Takes about ${tidy(s)}, as such a comparison did before.`,
  },
  start: 'Compare', stop: 'Stop', stopping: 'Stopping …',
  sameCommand: 'The same on the command line:',
  copyCommand: 'Copy command', copyLink: 'Copy link',
  copied: 'copied', notCopied: 'this browser does not let pages copy',

  progress: {
    begins: 'Measuring begins …',
    on: (step) => `${step} has its turn …`,
    stopping: 'Stopped: judging what was measured …',
    turns: (done, total) => (total ? `${count(done)} of ${plural(total, 'turn')}` : 'first turn'),
    standings: 'Verdicts so far',
    nothing: 'The first strategy has not ended its turn yet.',
    rounds: 'Rounds',
  },
  verdicts: {
    held: () => 'HELD',
    caught: (v) => (v === 'lost' ? 'LOST, as known' : 'OVERSOLD, as known'),
    wrong: (v) => ({ lost: 'LOST', blocked: 'BLOCKED' }[v] ?? 'OVERSOLD'),
    missed: () => 'NOT CAUGHT',
    void: () => 'NOT VALID',
    notRun: 'not run',
  },
  announce: { on: 'A comparison is on.', over: (text) => `The comparison is over: ${text}` },
  isOn: 'A comparison is on: watch it',

  outcome: (v) => [
    v.held && `${count(v.held)} held`,
    v.caught && `${plural(v.caught, 'broken one', 'broken ones')} caught`,
    v.other && `${count(v.other)} came out otherwise than known`,
    v.not_run && `${count(v.not_run)} not run`,
  ].filter(Boolean).join(', ') || 'Nothing was measured',
  wasStopped: 'stopped early: what is here was measured until then',
  duration: (s) => (s < 60 ? `${s < 10 ? s.toFixed(1) : Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`),
  notKept: 'This result is in memory only, and is gone when the lab ends: download it. Why:',
  report: 'The whole report', download: 'Download:',
  bars: {
    title: 'Sales a second',
    hint: (rounds) => (rounds > 1 ? `Bar: median of ${plural(rounds, 'round')}; whisker: the slowest and the fastest.` : 'Of one round.'),
  },
  table: 'Every strategy',
  columns: {
    strategy: 'strategy', verdict: 'verdict', sold: 'sold', sales: 'sales/s', p50: 'p50', p99: 'p99', wait: 'lock wait', commands: 'commands',
    gin: 'of gin', transaction: 'of transaction',
  },
  columnHints: {
    sold: 'of the stock, by the ledger; the rest was refused as busy or conflict', sales: 'median of the rounds, until the last unit was sold',
    wait: 'how long a purchase waited for its lock', commands: 'that a purchase sent to backends',
    gin: 'requests a second, as a share of a bare gin handler’s', transaction: 'sales a second, as a share of the same transaction without HTTP',
  },
  tableNote: 'Medians of the rounds. A ratio is to the floor of the same round; choose a head to sort.',
  notRun: 'Not run', problems: 'What else went wrong',
  machine: (cpus, os) => `${plural(cpus, 'processor')}, ${os}`,
  services: (n) => plural(n, 'service process', 'service processes'),
  locks: (l) => `locks with lease ${count(l.lease_ms)} ms, wait ${count(l.wait_ms)} ms, poll ${count(l.poll_ms)} ms`,
  floors: 'Floors',
  floorNames: { gin: 'bare gin handler', redis_incr: 'bare Redis INCR', hot_row: 'bare hot-row UPDATE', transaction: 'same transaction, no HTTP' },
  perSecond: (n) => `${n}/s`,
  unknown: 'There is no such comparison here: it may be of another lab, or was removed. Those that there are stand below.',

  empty: {
    title: 'Nothing is being compared',
    text: ['Choose strategies and start. Each holds the same sale again and again, and the ledger is judged every time: a figure of a strategy that oversells is worth nothing.'],
    points: [
      'Verdicts come in while it is on; nothing else drives the lab meanwhile.',
      'In the end: sales a second with their spread, latency, lock waits, commands a purchase, and ratios to the floors.',
      'Results are kept below, also after a restart. Two of them can be put side by side.',
    ],
  },

  list: {
    title: 'History',
    empty: 'No comparison has been made yet.',
    pickTwo: (n) => ['Pick two to put them side by side.', 'Pick one more.', 'Two are picked.'][n],
    sideBySide: 'Side by side',
    pick: (time) => `Pick the comparison of ${time}`,
    started: 'Started', strategies: 'Strategies', sale: 'Sale', rounds: 'Rounds', verdicts: 'Verdicts', took: 'Took',
    names: (names) => (names.join() === 'all' ? 'all' : names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${count(names.length - 2)} more` : names.join(', ')),
    saleOf: (s) => `${plural(s.stock, 'unit')}, ${plural(s.buyers, 'buyer')}${s.quantity > 1 ? ` × ${count(s.quantity)}` : ''}, ${count(s.concurrency)} at a time`,
    roundsOf: (n, ms) => `${count(n)} × ${count(ms)} ms`,
    on: 'is on', stopped: 'stopped', inMemory: 'not on disk',
    held: (n) => `${count(n)} held`, caught: (n) => `${count(n)} caught`, other: (n) => `${count(n)} otherwise`, notRun: (n) => `${count(n)} not run`,
    reuse: 'Settings', remove: 'Remove', sure: 'Really remove?',
    kept: (folder, most) => `The last ${count(most)} are kept in ${folder}.`,
    notKept: 'The lab has no folder for its history: these are gone when it ends.',
    skipped: (n) => `${plural(n, 'file')} in the history’s folder could not be read`,
  },

  side: {
    title: 'Side by side',
    from: 'From', to: 'to', was: 'was', is: 'is', by: 'of the floor', change: 'change', comma: ', ',
    notComparable: 'These two cannot be compared: it was not the same sale.',
    differs: (name, was, is) => `${name}: ${count(was)}, then ${count(is)}`,
    nothingCommon: 'No strategy is in both.',
    slower: (n, limit) => `${plural(n, 'strategy', 'strategies')} slower by more than ${count(limit)} %, or with another verdict.`,
    fine: (limit) => `No strategy is slower by more than ${count(limit)} %, and all verdicts are the same.`,
    caveats: 'Not the same in both, so that a change may come from there:',
    caveat: {
      machine: 'the machine', version: 'the version of seckill', servers: 'the servers', durability: 'how durable commits are',
      services: 'the number of service processes', locks: 'the lock times of the service processes', turns: 'rounds and turns', interrupted: 'one was stopped early',
    },
    onlyIn: (time) => `Only in that of ${time}:`,
    floors: { gin: 'gin handler', redis_incr: 'INCR', hot_row: 'UPDATE', transaction: 'transaction', sales_per_second: 'sales a second' },
    percent: (p) => `${p > 0 ? '+' : p < 0 ? '−' : '±'}${Math.abs(p).toFixed(1)} %`,
    otherVerdict: 'other verdict', isSlower: 'slower',
    note: 'Ratios to a floor of the same run are compared where both have one: they take out how fast the machine was on that day.',
  },
};
