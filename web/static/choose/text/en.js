// All texts of the chooser in English. zh.js has the same keys.
import { count, plural } from '../../ui.js';

const strategies = (/** @type {number} */ n) => plural(n, 'strategy', 'strategies');
const figure = (/** @type {number} */ n) => (n < 10 ? n.toFixed(1) : count(n));

const offers = {
  SQL: 'a SQL database', RowLocks: 'MySQL or MariaDB', Procedures: 'stored procedures', SkipLocked: 'SKIP LOCKED', Redis: 'Redis', RedisQuorum: 'five independent Redis servers', ZooKeeper: 'ZooKeeper', Etcd: 'etcd',
};
const when = {
  'dead-holder': 'when a buyer’s process dies', 'lease-end': 'when a holder pauses past its lease', 'lost-reply': 'when a reply is lost',
  'late-command': 'when a command arrives late', clocks: 'when clocks disagree', 'node-loss': 'when the lock loses a server',
};

export default {
  title: 'Choose a strategy',
  what: 'Five answers lead to the strategies that fit them. Each reason comes from the computed matrix and the measured figures.',
  matrix: 'See the whole matrix.',
  questions: {
    stock: 'How many units are for sale?', rate: 'How many buyers come in a second?', have: 'What do you run?',
    fails: 'What may fail?', order: 'Must waiters be served in order?',
  },
  hints: {
    stock: 'No second sells more than the stock, however many buyers come.',
    rate: 'Compared with sales per second on one machine.',
    have: 'The ledger is in a SQL database in any case; without MySQL that is SQLite.',
    fails: 'A strategy that breaks then is excluded.', order: 'Measured at the lock, with six waiting buyers.',
  },
  rate: (n) => (n ? count(n) : 'not known'),
  have: {
    mysql: 'MySQL or MariaDB', redis: 'Redis', redis5: 'five independent Redis servers', zookeeper: 'ZooKeeper', etcd: 'etcd',
    processes: 'more than one service process',
  },
  fails: {
    'dead-holder': 'a buyer’s process dies', 'lease-end': 'a holder pauses past its lease', 'lost-reply': 'a reply is lost',
    'late-command': 'a command arrives late', clocks: 'the clocks disagree', 'node-loss': 'the lock loses a server',
  },
  order: { no: 'no', yes: 'yes, first come first served' },
  reset: 'Reset the answers', copy: 'The answers are in the address: keep it, or send it.',

  results: 'What fits',
  found: (n, all) => (n ? `${count(n)} of ${strategies(all)} ${n === 1 ? 'fits' : 'fit'}.` : `None of the ${strategies(all)} fits.`),
  ways: (n) => `Together, the answers exclude all. ${n === 1 ? 'Changing one of these is enough' : `At least ${count(n)} must change`}:`,
  way: (changes, n) => `${changes.join(', ')}: ${n === 1 ? '1 strategy fits' : `${strategies(n)} fit`}`,
  change: {
    need: (what) => `add ${offers[what] ?? what}`, processes: () => 'run a single service process',
    fails: (q) => `accept damage ${when[q]}`, order: () => 'serve waiters in any order',
  },
  tooFast: (wanted, best, n) => `None that fits was measured at ${count(wanted)} sales per second.${best ? ` The fastest of ${strategies(n)} sold ${figure(best)}.` : ''} Measure on your own machine.`,
  fits: (wanted) => (wanted ? `Measured at ${count(wanted)} sales per second or more` : 'The best first: fewest broken questions, then most sales per second'),
  slower: (n, wanted) => `${strategies(n)} fit too, and sold less than ${count(wanted)} per second on that machine`,
  unmeasured: (n) => `${strategies(n)} fit too, and no figure says how fast`,
  more: (n) => `${plural(n, 'more', 'more')} that fit`,
  speed: ([median, low, high], stock) => `Sold ${figure(median)} per second (${figure(low)}–${figure(high)}): ${count(stock)} units in ${figure(stock / median)} s.`,
  noFigure: (verdict) => (verdict ? `No figure: it ${verdict === 'oversold' ? 'oversold' : 'did not hold'} when it was measured over two processes.` : 'No figure: it was not measured.'),
  answered: (titles, says) => `${says}: ${titles}`, void: (title, why) => `${title} does not apply: ${why}`,
  needs: (list) => `Needs ${new Intl.ListFormat('en').format(list.map((n) => offers[n] ?? n))}.`,
  notHere: 'It cannot run in this lab.',
  breaks: 'Not asked for, but it breaks:', nothing: 'It breaks in no question.',
  elsewhere: (servers, title) => `On ${servers} it breaks: ${title}.`,
  lesson: 'Lesson', run: 'Run it', compare: 'Compare these by their differences', runAll: 'Run them side by side',

  excluded: 'Excluded',
  because: {
    unproven: (n) => `${count(n)}: the matrix has no row for ${n === 1 ? 'it' : 'them'}`,
    wrong: (n) => `${count(n)}: ${n === 1 ? 'breaks' : 'break'} without any fault`,
    need: (n, what) => `${count(n)}: ${n === 1 ? 'needs' : 'need'} ${offers[what] ?? what}`,
    processes: (n) => `${count(n)}: ${n === 1 ? 'breaks' : 'break'} across processes`,
    fails: (n, q) => `${count(n)}: ${n === 1 ? 'breaks' : 'break'} ${when[q]}`,
    order: (n) => `${count(n)}: luck decides who is next, or there is no queue`,
  },
  oneMachine: 'The figures are from one machine and compare the strategies with each other; they say little about yours. They do not say how fast the buyers are refused who get nothing.',
  noFigures: 'The measured figures could not be loaded: nothing is said about speed.',
  figures: 'All figures', proven: (servers) => `The matrix was computed on ${servers}.`,
};
