// Every word of the page in English. zh.js has the same keys.
import { count } from '../ui.js';

const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
const pause = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);

export default {
  code: 'en',
  name: 'seckill lab',
  what: 'A flash sale: a few hundred units, thousands of buyers, all in the same second. Pick how the stock is deducted, '
    + 'let a real crowd loose on real databases, and see from the ledger whether anything was sold twice.',
  skip: 'Skip to the result',
  footer: 'seckill lab',
  version: (v) => `version ${v}`,
  list: (names) => new Intl.ListFormat('en').format(names),
  lostConnection: 'Connection to the lab lost. Trying again …',

  nav: {
    label: 'Screens',
    lab: 'Lab', compare: 'Compare', trace: 'Trace', guarantees: 'Guarantees', lessons: 'Lessons', shop: 'Shop',
    main: 'Skip to the content',
    language: '中文', languageHint: 'Show the page in Chinese',
    theme: 'Theme', themes: { auto: 'auto', light: 'light', dark: 'dark' },
    large: 'Large type', largeHint: 'for a projector',
    loading: 'Loading …',
    failed: 'This screen could not be loaded: the lab does not answer.',
    again: 'Try again',
    unknown: (name) => `There is no screen “${name}”.`,
    home: 'Go to the lab',
  },

  form: {
    title: 'The sale',
    stock: 'Stock', stockHint: 'units for sale',
    quantity: 'Units each', quantityHint: 'asked for by every buyer',
    profile: 'When they come',
    profiles: {
      closed: { name: 'Closed', hint: 'So many at a time: the next comes when one has his answer.' },
      spike: { name: 'Spike', hint: 'All in the same instant.' },
      constant: { name: 'Constant', hint: 'So many every second, however long answers take.' },
      ramp: { name: 'Ramp', hint: 'More and more every second, however long answers take.' },
    },
    buyers: 'Buyers', buyersHint: 'one purchase each',
    concurrency: 'At a time', concurrencyHint: 'buyers under way at once',
    rate: 'Rate', rateHint: 'buyers a second',
    to_rate: 'Up to', to_rateHint: 'buyers a second, at the end',
    seconds: 'For', secondsHint: 'seconds',
    more: 'More: lease, processes, seed, faults',
    services: 'Service processes', lease_ms: 'Lease, ms', wait_ms: 'Wait, ms', poll_ms: 'Poll, ms',
    servicesHint: 'How long a lock lives unrenewed, a buyer waits for it, and pauses between two looks. Empty: as the service processes run now. '
      + 'Anything else starts them anew.',
    seed: 'Seed', seedHint: 'the same seed, the same buyers; empty: a new one',
    run: 'Run', stop: 'Stop', stopping: 'Stopping …',
    copy: 'Copy a link to these settings', copied: 'Copied.', copyYourself: 'The browser does not allow it. Copy it yourself:',
    token: 'Token', tokenHint: 'this lab was started with one',
    broken: 'broken on purpose', unavailable: 'not available',
    noStrategies: 'No service process answers: there is nothing to choose from.',
  },
  picker: {
    label: 'Strategies', search: 'Search …', chosen: 'Chosen strategies',
    hint: (most) => `Up to ${most}, side by side. Search by name, idea, family, or what is guaranteed.`,
    found: (n, all) => (n === all ? plural(all, 'strategy', 'strategies') : `${count(n)} of ${plural(all, 'strategy', 'strategies')}`),
    remove: (name) => `Remove ${name}`, read: (name) => `${name}: its lesson and its source`,
  },
  wrong: { token: 'Give the token that this lab was started with.' },
  /** What the lab finds wrong, by its code. */
  blamed: {
    range: ({ min, max }) => `Give a whole number from ${count(min)} to ${count(max)}.`,
    none: () => 'Choose a strategy.',
    too_many: ({ max }) => `At most ${count(max)}.`,
    repeated: ({ name }) => `${name} is there twice.`,
    unknown_strategy: ({ name }) => `There is no strategy ${name}. Remove it.`,
    strategy_unavailable: ({ name, why }) => `${name} cannot run here: ${why}`,
    fault_unavailable: ({ why }) => `Not to be had here: ${why}`,
    one_of: ({ values }) => `Choose one of ${values.join(', ')}.`,
    unused: () => 'This means nothing here: leave it out.',
    seed: () => 'Give a whole number from 0 to 18446744073709551615, or nothing.',
    too_much: ({ stock }) => `Nobody could buy anything: the stock is ${count(stock)}.`,
    no_demand: ({ least }) => `Give more than ${count(least)}: when there is enough for everybody, nothing can go wrong, and nothing is proven.`,
    no_demand_rate: ({ requests, least }) => `These are ${plural(requests, 'buyer')}. Let more than ${count(least)} come, or nothing can go wrong, and nothing is proven.`,
    too_many_requests: ({ requests, max }) => `These are ${plural(requests, 'buyer')}, and ${count(max)} are the most: a lower rate, or fewer seconds.`,
    run_ended: () => 'The run is over.',
    too_late: () => 'The run is over.',
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
    bothHint: 'side by side, for the same buyers',
    meaning: {
      held: 'Nothing was sold that was not there, and the ledger agrees with what every buyer was told.',
      oversold: 'More was sold than there was, or the stock went below zero.',
      lost: 'The ledger does not add up: units or orders vanished, or stayed although they were wanted.',
      blocked: 'Right to the last unit, but nothing was sold for too long while units were left and buyers asked.',
      not_valid: 'Something disturbed the run, so that it proves nothing.',
    },
  },
  preparing: () => 'Starting the service processes anew …',
  running: (names) => `${names}: selling …`,
  stoppingRun: (names) => `${names}: stopped, counting what was sold …`,
  auditing: (names) => `${names}: everybody has an answer, auditing the ledger …`,
  answered: (n, all) => `${count(n)} of ${plural(all, 'buyer')} answered`,
  startedAnnouncement: (names) => `Run of ${names} started.`,

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
    duplicate: 'duplicate', in_progress: 'in progress', accepted: 'accepted', unknown: 'unknown', error: 'error',
  },
  charts: {
    rate: 'Answers a second',
    latency: 'Latency so far, ms', p99Title: '99th percentile so far, ms',
    p50: 'median', p99: '99th percentile',
    axis: (s) => `${s} s`,
    rateSummary: (n) => `${count(n)} answers a second`,
    latencySummary: (p50, p99) => `median ${p50}, 99th percentile ${p99}`,
    marks: (n) => `${plural(n, 'fault')} marked`,
  },
  faults: {
    title: 'Break something',
    planned: 'Faults, at a time',
    service: 'Service process', at_ms: 'At, ms', for_ms: 'For, ms', pastLease: 'past the lease',
    strategy: 'Whose holder',
    number: (n) => `Fault ${n}`, add: 'Add a fault', remove: (n) => `Remove fault ${n}`,
    happened: 'What happened when',
    kinds: {
      pause_holder: 'Pause the holder', hang_holder: 'Hang the holder', kill_holder: 'Kill the holder', cut_holder: 'Cut the holder off',
      pause_service: 'Pause a service', kill_service: 'Kill a service', restart_redis: 'Restart Redis',
      cut_zookeeper_session: 'Cut ZooKeeper’s session',
    },
    so: (n) => plural(n, 'fault'),
  },

  verdicts: {
    held: 'HELD', oversold: 'OVERSOLD', lost: 'LOST', blocked: 'BLOCKED', not_valid: 'NOT VALID', failed: 'NOT STARTED',
    preparing: 'preparing', running: 'running', stopping: 'stopping',
  },
  verdict: {
    held: (a, r) => `${count(a.sold)} of ${plural(a.initial, 'unit')} sold, and the ledger agrees with what ${plural(r.requests, 'buyer')} were told${
      r.copies ? `, with ${plural(r.copies, 'copy', 'copies')}` : ''}${r.retries ? `, with ${plural(r.retries, 'retry', 'retries')}` : ''}.${
      a.served?.state === 'served' ? ` Longest pause while units were left: ${pause(a.served.longest_ms)}.` : ''}`,
    blocked: (a) => `Nothing was oversold or lost, but ${count(a.sold)} of ${plural(a.initial, 'unit')} were sold, and then none for ${
      pause(a.served?.longest_ms ?? 0)} while buyers asked.`,
    oversold: (a) => (a.sold > a.initial
      ? `${plural(a.sold, 'unit')} sold, and there were ${count(a.initial)}: ${count(a.sold - a.initial)} too many.`
      : `The stock of ${count(a.initial)} went to ${count(a.remaining)}.`),
    lost: (a) => `Not oversold, but the ledger does not add up: ${count(a.sold)} sold and ${count(a.remaining)} left of ${plural(a.initial, 'unit')}.`,
    not_valid: () => 'This run proves nothing, neither good nor bad.',
    heldThisTime: 'Held this time; an order is known that breaks it:', and: ' · ', stop: '.', gap: ' ',
    when: {
      oversell: 'two buyers at once', processes: 'buyers at two service processes', 'lease-end': 'a holder that is paused past its lease',
      'dead-holder': 'a holder that dies', 'node-loss': 'a server that loses its data',
    },
    left: (n, told) => `${plural(n, 'unit')} stayed. Buyers were told: ${told}.`,
    told: {
      sold_out: (n) => `sold out ${count(n)}`, busy: (n) => `busy ${count(n)}`, conflict: (n) => `conflict ${count(n)}`,
      duplicate: (n) => `duplicate ${count(n)}`, in_progress: (n) => `in progress ${count(n)}`, accepted: (n) => `accepted ${count(n)}`,
      unknown: (n) => `no certain answer ${count(n)}`, error: (n) => `error ${count(n)}`,
    },
    announcement: (name, word, text) => `${name}: ${word}. ${text}`,
    why: 'Read why.',
    brokenBroke: (name) => `${name} is in this lab to break like that. Now run one that holds.`,
    brokenHeld: (name) => `${name} is in this lab to break, and was lucky this time. Let in more buyers at a time.`,
    rules: 'Rules that broke', orders: 'The very orders',
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
    counter_and_row_differ: 'Counter and row differ', unused_counter_changed: 'A counter changed that nobody sold from',
    fewer_than_told: 'Fewer sold than buyers were told', more_than_told: 'More sold than buyers were told',
    two_answers: 'One request, two answers', key_refused: 'Refused although it has the order',
    false_duplicate: 'Told duplicate without an order', not_cancelled: 'A cancellation that never happened',
    cancelled_unasked: 'Cancelled, but not by the buyer',
    not_linearizable: 'Answers that cannot all be true',
    two_holders: 'Two holders of one lock', unknown: 'Left in the dark', blocked: 'Blocked for ever',
    error: 'An error for no reason', hindered: 'Hindered by another SKU', stolen: 'Lock taken from its holder', early: 'Sold before the sale started',
  },

  about: {
    load: ({ profile, buyers = 0, concurrency = 0, rate = 0, to_rate: to = 0, seconds = 0 }) => ({
      closed: `${plural(buyers, 'buyer')}, ${count(concurrency)} at a time`, spike: `${plural(buyers, 'buyer')} in the same instant`,
      constant: `${count(rate)} a second for ${count(seconds)} s`, ramp: `${count(rate)} to ${count(to)} a second in ${count(seconds)} s`,
    })[profile],
    services: ({ services, lease_ms: lease, wait_ms: wait, poll_ms: poll }) =>
      `${plural(services, 'service process', 'service processes')}, lease ${count(lease)} ms, wait ${count(wait)} ms, poll ${count(poll)} ms`,
    seed: (seed, lanes) => `${lanes > 1 ? 'the same buyers, seed' : 'seed'} ${seed}`,
    again: 'Take these settings',
    notKept: (why) => `This run is not kept: ${why}`,
  },
  history: {
    title: 'Runs', empty: 'Runs are listed here, and kept.',
    verdict: 'Verdict', strategy: 'Strategy', stock: 'Stock', load: 'Load',
    sold: 'Sold', left: 'Left', rate: 'Answers/s', p99: 'p99', time: 'Started',
    show: (name, time) => `Show the run of ${name} of ${time}`,
  },
  strategies: { loading: 'Loading the source …' },
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
    answers: {
      holds: 'holds', all: 'holds in all schedules', tried: 'holds in the schedules tried', breaks: 'breaks', measured: 'measured, no promise',
      'n/a': 'does not apply', failed: 'could not be found out', '': 'not computed',
    },
    says(c) {
      if (c.answer !== 'holds') return this.answers[c.answer] ?? c.answer;
      if (c.exhausted) return `holds in all ${plural(c.orders ?? 0, 'schedule')}`;
      return c.orders ? `holds in the ${plural(c.orders, 'schedule')} tried` : 'holds in what was tried';
    },
    titleOf: (q) => q.title,
  },

  lessons: {
    title: 'Lessons', chapters: 'Chapters', turn: 'Turn the page',
    chapter: (n, all) => `Chapter ${count(n)} of ${count(all)}`,
    progress: (n, all) => `${count(n)} of ${plural(all, 'chapter')} read`,
    read: 'read',
    unknown: (name) => `There is no chapter and no strategy “${name}”. This is the first chapter.`,
    source: 'The very source that runs',
    breakIt: (name, stock, buyers) => `Break it: ${plural(buyers, 'buyer')}, ${plural(stock, 'unit')}, ${name}`,
    play: (name, title) => `Break it: ${name}, “${title}”, step by step`,
    beside: (name) => `The same with ${name}, step by step`,
    noExample: 'The matrix of this program has no such counterexample. It is found by',
    traces: 'With two buyers, step by step:',
    other: (name) => `A run of ${name} is on. Wait for its verdict.`,
    measure: 'Figures are of one machine. Measure yours:',
    measured: {
      strategy: 'Strategy', sales: 'Sales/s', share: 'Of the bare transaction',
      lock: 'Lock', alone: 'Alone, locks/s', crowd: (n) => `${n} at once, locks/s`, wait: (n) => `${n}: p99 wait, ms`,
      pause: 'Pause between attempts', lease: 'Lease', rate: 'Locks/s', commands: 'Commands a lock', lost: 'Updates lost',
      on: (date, cpus, servers) => `Measured on ${date} with ${plural(cpus, 'processor')}: ${servers}. Medians of the rounds, with the lowest and the highest.`,
      how: {
        compare: (run) => `${count(run.at_once)} buyers at a time.`,
        'bench locks': (run) => `Contenders hold the lock for ${run.hold_ms} ms.`,
        'bench claims': (run) => `${run.lock}, 8 contenders, tasks of ${run.task_ms} ms. One central row took ${run.central_over_segmented[0]} times as long as a hundred segments.`,
      },
    },
  },
};
