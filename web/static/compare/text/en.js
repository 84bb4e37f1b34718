// All texts of the comparisons in English. zh.js has the same keys.
import { count } from '../../ui.js';

const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
const tidy = (s) => (s < 90 ? `${Math.max(1, Math.round(s))} s` : `${count(Math.round(s / 60))} min`);

export default {
  title: 'Compare',
  what: 'Runs the same sale, with the same buyers in the same order, with one strategy after the other. Every other round runs in '
    + 'reverse, so that a slow minute of the machine does not hit one strategy only. Baselines do the same work without a strategy.',

  form: 'What to compare',
  strategies: 'Strategies',
  chosen: (n, all) => `${count(n)} of ${count(all)} chosen`,
  search: 'Search', broken: 'broken',
  all: 'All', none: 'None',
  notFound: (text) => `No strategy matches “${text}”.`,
  foreign: (names) => `This lab does not know ${names}.`,
  dropThem: 'Remove them',
  fields: {
    stock: ['Stock', 'units for sale'],
    buyers: ['Buyers', 'one purchase each'],
    concurrency: ['At a time', 'concurrent buyers'],
    quantity: ['Units each', 'per buyer'],
    repeats: ['Rounds', 'every other one in reverse'],
    turn_ms: ['Turn, ms', 'at least, in each round'],
    few: ['Few', 'concurrent buyers, in a second run; 0: none'],
    seed: ['Seed', 'gives the same buyers in the same order'],
  },
  anySeed: 'random',
  wrong: {
    none: () => 'Choose at least one strategy.',
    few: ({ concurrency }) => `Enter less than ${count(concurrency)}, the concurrency of the comparison itself, or 0.`,
    token: () => 'Enter the token that this lab was started with.',
  },
  refused: {
    run_in_progress: 'The lab is busy with a run, a comparison or a trace. Wait until it ends, or stop it.',
    unknown_comparison: 'This comparison no longer exists.',
    result_gone: 'The result of this comparison is no longer in the history folder, or cannot be read.',
    not_ended: 'This comparison is still in progress.',
    backend_unavailable: 'No service process answers, so nothing can be compared.',
  },
  estimate: {
    guessed: (from, to) => `Takes about ${tidy(from)} to ${tidy(to)}, depending on the machine and the strategies.`,
    measured: (s) => `Takes about ${tidy(s)}, like an earlier comparison of this kind.`,
  },
  start: 'Compare', stop: 'Stop', stopping: 'Stopping …',
  sameCommand: 'The same on the command line:',
  copyCommand: 'Copy command', copyLink: 'Copy link',
  copied: 'copied', notCopied: 'this browser does not let pages copy',

  progress: {
    begins: 'Starting to measure …',
    on: (step) => `Measuring ${step} …`,
    stopping: 'Stopped: judging the results so far …',
    turns: (done, total) => (total ? `${count(done)} of ${plural(total, 'turn')}` : 'first turn'),
    standings: 'Verdicts so far',
    nothing: 'The first strategy has not finished its turn yet.',
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
  announce: { on: 'A comparison is in progress.', over: (text) => `The comparison is over: ${text}` },
  isOn: 'A comparison is in progress: watch it',

  outcome: (v) => [
    v.held && `${count(v.held)} held`,
    v.caught && `${plural(v.caught, 'broken one', 'broken ones')} caught`,
    v.other && `${count(v.other)} differed from what is known`,
    v.not_run && `${count(v.not_run)} not run`,
  ].filter(Boolean).join(', ') || 'Nothing was measured',
  wasStopped: 'stopped early: these are the results until then',
  duration: (s) => (s < 60 ? `${s < 10 ? s.toFixed(1) : Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`),
  notKept: 'This result is kept in memory only and is lost when the lab stops: download it. Reason:',
  report: 'Full report', download: 'Download:',
  bars: {
    title: 'Sales per second',
    hint: (rounds) => (rounds > 1 ? `Bar: median of ${plural(rounds, 'round')}; whisker: the slowest and the fastest.` : 'One round.'),
  },
  table: 'Every strategy',
  columns: {
    strategy: 'strategy', verdict: 'verdict', sold: 'sold', sales: 'sales/s', p50: 'p50', p99: 'p99', wait: 'lock wait', commands: 'commands',
    gin: 'of gin', transaction: 'of transaction',
  },
  columnHints: {
    sold: 'of the stock, by the ledger; other buyers were told busy or conflict', sales: 'median of the rounds, until the last unit was sold',
    wait: 'how long a purchase waited for its lock', commands: 'sent to backends per purchase',
    gin: 'requests per second, relative to a bare gin handler', transaction: 'sales per second, relative to the same transaction without HTTP',
  },
  tableNote: 'Medians of the rounds. A ratio is relative to the baseline of the same round. Click a column to sort.',
  notRun: 'Not run', problems: 'Other problems',
  machine: (cpus, os) => `${plural(cpus, 'processor')}, ${os}`,
  services: (n) => plural(n, 'service process', 'service processes'),
  locks: (l) => `locks with lease ${count(l.lease_ms)} ms, wait ${count(l.wait_ms)} ms, poll ${count(l.poll_ms)} ms`,
  baselines: 'Baselines',
  baselineNames: { gin: 'bare gin handler', redis_incr: 'bare Redis INCR', hot_row: 'bare hot-row UPDATE', transaction: 'same transaction, no HTTP' },
  perSecond: (n) => `${n}/s`,
  unknown: 'There is no such comparison here: it may belong to another lab, or it was removed. The available ones are listed below.',

  empty: {
    title: 'Nothing is being compared',
    text: ['Choose strategies and start. Each runs the same sale several times, and the ledger is judged every time: the figures of a strategy that oversells are worth nothing.'],
    points: [
      'Verdicts come in while it runs. The lab does nothing else meanwhile.',
      'The result: sales per second with their spread, latency, lock waits, commands per purchase, and ratios to the baselines.',
      'Results are kept below, also across restarts. Any two can be put side by side.',
    ],
  },

  list: {
    title: 'History',
    empty: 'There are no comparisons yet.',
    pickTwo: (n) => ['Select two to put them side by side.', 'Select one more.', 'Two are selected.'][n],
    sideBySide: 'Side by side',
    pick: (time) => `Select the comparison of ${time}`,
    started: 'Started', strategies: 'Strategies', sale: 'Sale', rounds: 'Rounds', verdicts: 'Verdicts', took: 'Took',
    names: (names) => (names.join() === 'all' ? 'all' : names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${count(names.length - 2)} more` : names.join(', ')),
    saleOf: (s) => `${plural(s.stock, 'unit')}, ${plural(s.buyers, 'buyer')}${s.quantity > 1 ? ` × ${count(s.quantity)}` : ''}, ${count(s.concurrency)} at a time`,
    roundsOf: (n, ms) => `${count(n)} × ${count(ms)} ms`,
    on: 'in progress', stopped: 'stopped', inMemory: 'not on disk',
    held: (n) => `${count(n)} held`, caught: (n) => `${count(n)} caught`, other: (n) => `${count(n)} different`, notRun: (n) => `${count(n)} not run`,
    reuse: 'Settings', remove: 'Remove', sure: 'Remove?',
    kept: (folder, most) => `The last ${count(most)} are kept in ${folder}.`,
    notKept: 'The lab has no history folder: these are lost when it stops.',
    skipped: (n) => `${plural(n, 'file')} in the history folder could not be read`,
  },

  side: {
    title: 'Side by side',
    from: 'From', to: 'to', was: 'was', is: 'is', by: 'of the baseline', change: 'change', comma: ', ',
    notComparable: 'These two cannot be compared: the sales differ.',
    differs: (name, was, is) => `${name}: ${count(was)}, then ${count(is)}`,
    nothingCommon: 'No strategy is in both.',
    slower: (n, limit) => `${plural(n, 'strategy', 'strategies')} slower by more than ${count(limit)} %, or with a different verdict.`,
    fine: (limit) => `No strategy is slower by more than ${count(limit)} %, and all verdicts are the same.`,
    caveats: 'These differ as well, and may be the cause of a change:',
    caveat: {
      machine: 'the machine', version: 'the version of seckill', servers: 'the servers', durability: 'the durability of commits',
      services: 'the number of service processes', locks: 'the lock times of the service processes', turns: 'rounds and turns', interrupted: 'one was stopped early',
    },
    onlyIn: (time) => `Only in the one of ${time}:`,
    baselines: { gin: 'gin handler', redis_incr: 'INCR', hot_row: 'UPDATE', transaction: 'transaction', sales_per_second: 'sales per second' },
    percent: (p) => `${p > 0 ? '+' : p < 0 ? '−' : '±'}${Math.abs(p).toFixed(1)} %`,
    otherVerdict: 'different verdict', isSlower: 'slower',
    note: 'Where both have a baseline, the ratios to it are compared: that removes how fast the machine was on that day.',
  },
};
