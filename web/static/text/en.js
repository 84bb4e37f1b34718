// Every word of the page in English. zh.js has the same keys.
import { count } from '../ui.js';

const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

export default {
  name: 'seckill lab',
  what: 'A flash sale: a few hundred units, thousands of buyers, all in the same second. Pick how the stock is deducted, '
    + 'let a real crowd loose on real databases, and see from the ledger whether anything was sold twice.',
  skip: 'Skip to the result',
  footer: 'seckill lab',
  version: (v) => `version ${v}`,
  lostConnection: 'Connection to the lab lost. Trying again …',

  nav: {
    label: 'Screens',
    lab: 'Lab', trace: 'Trace', guarantees: 'Guarantees', lessons: 'Lessons', shop: 'Shop',
    main: 'Skip to the content',
    language: '中文', languageHint: 'Show the page in Chinese',
    theme: 'Theme', themes: { auto: 'as the system', light: 'light', dark: 'dark' },
    large: 'Large type', largeHint: 'for a projector',
    loading: 'Loading …',
    failed: 'This screen could not be loaded: the lab does not answer.',
    again: 'Try again',
    unknown: (name) => `There is no screen “${name}”.`,
    home: 'Go to the lab',
  },

  form: {
    title: 'The sale',
    strategy: 'Strategy',
    stock: 'Stock',
    stockHint: 'units for sale',
    buyers: 'Buyers',
    buyersHint: 'one purchase each',
    concurrency: 'At a time',
    concurrencyHint: 'buyers under way at once',
    quantity: 'Units each',
    quantityHint: 'asked for by every buyer',
    run: 'Run',
    stop: 'Stop',
    stopping: 'Stopping …',
    token: 'Token',
    tokenHint: 'this lab was started with one',
    broken: 'broken on purpose',
    unavailable: 'not available',
    noStrategies: 'No service process answers: there is nothing to choose from.',
  },
  wrong: {
    strategy: 'Choose a strategy.',
    token: 'Give the token that this lab was started with.',
    number: (limit) => `Give a whole number from 1 to ${count(limit)}.`,
    tooMuch: (stock) => `Nobody could buy anything: the stock is ${count(stock)}.`,
    noDemand: (least) => `Give more than ${count(least)}: when there is enough for everybody, nothing can go wrong, and nothing is proven.`,
  },
  families: {
    sqlrow: 'One SQL row', local: 'Inside one process', mysqllock: 'Locks in MySQL', redislock: 'Locks in Redis',
    zklock: 'Locks in ZooKeeper', etcdlock: 'Locks in etcd', counter: 'Counters',
  },

  idle: {
    title: 'Nothing has run yet',
    text: 'First see it go wrong, then see it hold:',
    run: (name) => `Run ${name}`,
    breaksHint: 'reads the stock, subtracts, writes it back',
    holdsHint: 'one statement that checks and subtracts',
    meaning: {
      held: 'Nothing was sold that was not there, and the ledger agrees with what every buyer was told.',
      oversold: 'More was sold than there was, or the stock went below zero.',
      lost: 'The ledger does not add up: units or orders vanished, or stayed although they were wanted.',
      not_valid: 'Something disturbed the run, so that it proves nothing.',
    },
  },
  running: (name) => `${name} is selling …`,
  stoppingRun: (name) => `${name}: stopped, counting what was sold …`,
  auditing: (name) => `${name}: everybody has his answer, auditing the ledger …`,
  answered: (n, all) => `${count(n)} of ${plural(all, 'buyer')} answered`,
  startedAnnouncement: (name) => `Run of ${name} started.`,

  stock: {
    label: 'Stock left',
    of: (n) => `of ${plural(n, 'unit')}`,
    below: 'below zero',
    sold: 'Sold',
    bar: (sold, stock) => `${plural(sold, 'unit')} sold of ${count(stock)}`,
    tooMany: (n) => `${plural(n, 'unit')} too many`,
  },
  outcomes: {
    title: 'What buyers were told',
    sold: 'sold', sold_out: 'sold out', busy: 'busy', conflict: 'conflict',
    duplicate: 'duplicate', unknown: 'unknown', error: 'error',
  },
  charts: {
    rate: 'Answers a second',
    latency: 'Latency so far',
    seconds: 'seconds',
    p50: 'median',
    p99: '99th percentile',
    ms: 'ms',
    rateSummary: (n) => `Answers a second, ${count(n)} now`,
    latencySummary: (p50, p99) => `Latency: median ${p50}, 99th percentile ${p99}`,
  },

  verdicts: {
    held: 'HELD', oversold: 'OVERSOLD', lost: 'LOST', not_valid: 'NOT VALID', failed: 'NOT STARTED',
    running: 'running', stopping: 'stopping',
  },
  verdict: {
    held: (a, asked) => `${count(a.sold)} of ${plural(a.initial, 'unit')} sold, and the ledger agrees with what ${plural(asked, 'buyer')} were told.`,
    oversold: (a) => (a.sold > a.initial
      ? `${plural(a.sold, 'unit')} sold, and there were ${count(a.initial)}: ${count(a.sold - a.initial)} too many.`
      : `The stock of ${count(a.initial)} went to ${count(a.remaining)}.`),
    lost: (a) => `Not oversold, but the ledger does not add up: ${count(a.sold)} sold and ${count(a.remaining)} left of ${plural(a.initial, 'unit')}.`,
    not_valid: () => 'This run proves nothing, neither good nor bad.',
    left: (n) => `${plural(n, 'unit')} stayed: those buyers were told to try again.`,
    announcement: (word, text) => `Verdict: ${word}. ${text}`,
    brokenBroke: (name) => `${name} is in this lab to break like that. Now run one that holds.`,
    brokenHeld: (name) => `${name} is in this lab to break, and was lucky this time. Let in more buyers at a time.`,
    rules: 'Rules that broke',
    problems: 'Why it proves nothing',
    more: (n) => `… and ${count(n)} more`,
    ranOn: 'Ran on',
    commands: 'Commands a purchase',
    figures: {
      orders: 'Orders', rate: 'Answers a second', sales: 'Sales a second', p50: 'Median', p99: '99th percentile', seconds: 'Took',
    },
    took: (s) => `${s < 10 ? s.toFixed(1) : count(s)} s`,
  },
  rules: {
    oversold: 'Sold more than there was', negative_stock: 'Stock below zero', lost_update: 'Lost updates',
    lost_units: 'Units vanished', bought_twice: 'One buyer, two orders', bad_order: 'Impossible orders',
    missing_order: 'Sales without an order', wrong_receipt: 'Receipt and order differ',
    unacknowledged_order: 'Orders nobody was told of', invented_order: 'Orders nobody asked for',
    undersold: 'Turned away although there was stock', nothing_sold: 'Nothing was sold',
    initial_changed: 'Somebody reset the sale', mixed_homes: 'Stock in two places',
    straggler: 'Orders of another run', unknown_home: 'The stock could not be read',
    counter_and_row_differ: 'Counter and row differ',
    two_holders: 'Two holders of one lock', unknown: 'Left in the dark', blocked: 'Blocked for ever',
    error: 'An error for no reason', hindered: 'Hindered by another SKU', stolen: 'Lock taken from its holder',
  },

  history: {
    title: 'Runs of this session',
    empty: 'Runs are listed here until the lab is stopped.',
    verdict: 'Verdict', strategy: 'Strategy', stock: 'Stock', buyers: 'Buyers', atATime: 'At a time',
    sold: 'Sold', left: 'Left', rate: 'Answers/s', p99: 'p99', time: 'Started',
    show: (name, time) => `Show the run of ${name} of ${time}`,
  },
  strategies: {
    title: 'Strategies',
    hint: 'Choose a name to read the very source that runs.',
    name: 'Name', promises: 'Promises', breaks: 'Breaks when', needs: 'Needs', state: 'Here',
    available: 'available',
    loading: 'Loading the source …',
    none: 'No service process answers.',
  },
  machines: {
    title: 'What it runs on',
    service: (n) => `Service process ${n}`,
    up: 'up', down: 'down', missing: 'not here',
    tiers: { given: 'given', private: 'private', embedded: 'embedded' },
    tierHints: {
      given: 'an address somebody configured', private: 'a real server, started for this lab alone',
      embedded: 'an engine inside the program, instead of a real server',
    },
  },

  guarantees: {
    title: 'Guarantees',
    what: 'Nobody filled in this table. For every cell, two or three buyers were run through the orders of their commands on '
      + 'real servers, and the ledger was judged. What breaks has a counterexample: choose it and watch it step by step.',
    filter: 'Filter', family: 'Family', question: 'Question', answer: 'Answer', name: 'Strategy', any: 'any',
    answers: { holds: 'holds', breaks: 'breaks', measured: 'measured, no promise', 'n/a': 'does not apply', failed: 'could not be found out', '': 'not computed' },
    shown: (n, all) => (n === all ? plural(all, 'strategy', 'strategies') : n === 0 ? 'No strategy is like that.' : `${count(n)} of ${plural(all, 'strategy', 'strategies')}`),
    titleOf: (q) => q.title,
    asksOf: (q) => q.asks,
    bounds: (c) => (c.answer === 'breaks' ? `Found after ${plural(c.orders, 'order')}.`
      : c.preemptions === -1 ? `All ${plural(c.orders, 'order')} were run, to their end.`
        : `${plural(c.orders - (c.random ?? 0), 'order')} were run to their end: all with at most ${plural(c.preemptions ?? 0, 'preemption')}`
          + `${c.random ? `, and ${count(c.random)} drawn at random` : ''}.`),
    cut: (n) => `${plural(n, 'turn')} left out: the time was up, or they need more preemptions. An order among them could still break it.`,
    play: 'play the counterexample',
    close: 'Close',
    computed: (took, budget, seed) => `Computed by seckill prove in ${took}, ${budget} a search, seed ${seed}, on`,
  },
};
