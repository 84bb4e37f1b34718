// The texts of comparisons, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const tidy = (s) => (s < 90 ? `${Math.max(1, Math.round(s))} s` : `${count(Math.round(s / 60))} min`);

const en = {
  title: 'Compare',
  what: 'Which is faster, and is it right? The same sale, with the same buyers in the same order, runs with one strategy after the other. Every other '
    + 'round runs in reverse, so that a slow minute of the machine does not hit one strategy only.',

  form: 'What to compare', preset: 'The sale', advanced: 'Strategies and settings',
  presets: {
    'flash-sale': ['Flash sale', 'Few units, 20 buyers for each: which answers most buyers?'],
    'hot-row': ['Hot row', 'The stock never ends: how fast can one row sell?'],
    'many-skus': ['Many SKUs', '50 SKUs: which lock or scan makes buyers of other SKUs wait?'],
    'few-buyers': ['Few buyers', 'Two at a time: how long does a purchase take without a queue?'],
  },
  fields: {
    skus: ['SKUs', 'each with this stock'],
    zipf: ['How uneven', '0: all SKUs alike; 1.5: one is hot'],
    rounds: ['Rounds', 'every other one in reverse'],
    turn: ['Shortest measurement, ms', 'short sales are repeated until one has lasted this long'],
    crowds: ['More crowd sizes', 'buyers at a time, by comma: 1, 16, 256'],
    seed: ['Seed', 'gives the same buyers in the same order'],
  },
  keys: 'Measure each also without the Idempotency-Key that every request has', keyless: ', no key',
  anySeed: 'random', noCrowds: 'none',
  busy: 'The lab is busy with a run, a comparison or a trace. Wait until it ends, or stop it.',
  start: 'Compare',
  sameCommand: 'The same on the command line:',
  copyCommand: 'Copy command', copyLink: 'Copy link',

  progress: {
    begins: 'Starting to measure …',
    on: (name, crowd) => `Measuring ${name}${crowd ? ` with ${plural(crowd, 'buyer')} at a time` : ''} …`,
    stopping: 'Stopped: judging the results so far …',
    turns: (done, total) => (total ? `${count(done)} of ${plural(total, 'turn')}` : 'first turn'),
    left: (s) => `about ${tidy(s)} left`,
  },
  verdicts: {
    held: () => 'right',
    caught: (v) => `${{ lost: 'lost', blocked: 'blocked' }[v] ?? 'oversold'}, as known`,
    wrong: (v) => ({ lost: 'LOST', blocked: 'BLOCKED' }[v] ?? 'OVERSOLD'),
    missed: () => 'NOT CAUGHT',
    void: () => 'NOT VALID',
  },
  served: { yes: 'served', no: 'not served', not_known: 'served? not known', '': '–' },
  over: (n) => `${plural(n, 'unit')} too many`,
  answer: {
    answers: (one, times, other) => [one, ' answers ', times, ' × as many buyers as ', other],
    sales: (one, times, other) => [one, ' sells ', times, ' × as fast as ', other],
    alike: (one, other) => [one, ' and ', other, ' cannot be told apart'],
    breaks: (one, questions) => ['In the proof ', one, ' breaks: ', questions],
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
  table: 'Every strategy', factorOf: (name) => `× ${name}`,
  columns: {
    strategy: ['strategy'], right: ['right?', 'is the ledger right, and what buyers were told?'], served: ['served?', 'in time, with a certain answer, until all was sold'],
    answers: ['answers/s', 'to all buyers, also those who were refused'], sales: ['sales/s', 'until a sale’s last unit'],
    sell_out: ['sold out in', 'from the first request to the last sale; only if all was sold'],
    bought: ['bought, ms p50 / p99', 'half, and 99 of 100, of those who got a unit waited no longer'],
    refused: ['refused, ms p50 / p99', 'half, and 99 of 100, of those who got none waited no longer'],
    commands: ['commands', 'to the backends, for each purchase'],
    processor: ['CPU, ms service / servers', 'processor time of the service processes, and of the private servers, for each request'],
    keys: ['key / no key', 'the rate with an Idempotency-Key divided by the rate without, with its 95 % interval'],
    factor: ['', 'with its 95 % interval'],
  },
  tableNote: (rounds) => (rounds > 1
    ? `Medians of ${plural(rounds, 'round')}. The factor is the geometric mean of the rounds’ ratios, followed by its 95 % confidence interval. `
      + 'If the interval includes 1, the two strategies cannot be told apart; more rounds narrow it. Click a column to sort.'
    : 'One round says nothing about how much it varies: give two or more for an interval. Click a column to sort.'),
  charts: {
    crowds: { answers: 'Answers per second by buyers at a time', sales: 'Sales per second by buyers at a time' }, crowdsHint: 'medians of the rounds',
    waits: 'How long buyers waited', waitsHint: 'how many in 100 waited no longer than this',
    table: 'As a table',
  },
  found: 'What the judge found',
  notRun: 'Not run', problems: 'Other problems',
  machine: (cpus, os) => `${plural(cpus, 'processor')}, ${os}`,
  unknown: 'There is no such comparison here: it may belong to another lab. The available ones are listed below.',

  list: {
    title: 'History',
    empty: 'There are no comparisons yet.',
    started: 'Started', strategies: 'Strategies', sale: 'Sale', rounds: 'Rounds', verdicts: 'Verdicts', took: 'Took',
    names: (names) => (names.join() === 'all' ? 'all' : names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${count(names.length - 2)} more` : names.join(', ')),
    saleOf: (s) => `${plural(s.stock, 'unit')}, ${plural(s.buyers, 'buyer')}${s.quantity > 1 ? ` × ${count(s.quantity)}` : ''}, ${count(s.concurrency)} at a time`,
    roundsOf: (n, ms) => `${count(n)} × ${count(ms)} ms`,
    on: 'in progress', stopped: 'stopped',
    held: (n) => `${count(n)} held`, caught: (n) => `${count(n)} caught`, other: (n) => `${count(n)} different`, notRun: (n) => `${count(n)} not run`,
    reuse: 'Settings',
    kept: (folder, most) => `The last ${count(most)} are kept in ${folder}.`,
    notKept: 'The lab has no history folder: these are lost when it stops.',
  },
};

export const words = chosenOf(en, zh);
