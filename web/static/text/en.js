// All texts of the page in English. zh.js has the same keys.
import { count, plural } from '../ui.js';

const pause = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);

export default {
  code: 'en',
  name: 'seckill lab',
  what: 'A hundred units, and two thousand buyers in one second. Choose how the stock is deducted, run real load, and see in the ledger whether anything was sold twice.',
  skip: 'Skip to the result',
  version: (v) => `version ${v}`,
  list: (names) => new Intl.ListFormat('en').format(names),
  colon: ': ', comma: ', ', semicolon: '; ', stop: '.', aside: (text) => ` (${text})`,
  copied: 'Copied.', copyYourself: 'The browser does not allow it. Copy it yourself:',
  lostConnection: 'Connection to the lab lost. Trying again … If the lab has ended, start it again with make demo. A run that was on is lost then.',

  /** A site plays what was recorded: it has no servers. */
  site: {
    what: 'Everything here plays without an installation: the chapters, the proof, and the levels, with what real servers answered when they were recorded. To sell and to measure, start the lab on your machine.',
    read: 'Read the first chapter', play: 'Play the first level', see: 'Watch a Redis lock fail',
    needs: 'This needs the lab, with its servers. From a clone of the repository:',
    copy: 'Copy the command', how: 'What it installs', english: '',
  },

  nav: {
    label: 'Screens',
    doors: { story: 'About', run: 'Run', which: 'Which one?', learn: 'Learn', shop: 'Shop' },
    story: 'What it is', faq: 'FAQ', lab: 'One sale', compare: 'Compare', choose: 'Five questions', guarantees: 'The proof', chaos: 'Faults under load', lessons: 'Chapters', play: 'Levels',
    trace: 'Step by step', teach: 'Plan and exercises',
    main: 'Skip to the content',
    language: '中文', languageHint: 'Show the page in Chinese',
    theme: 'Theme', themes: { auto: 'auto', light: 'light', dark: 'dark' },
    loading: 'Loading …',
    failed: 'This screen could not be loaded: the lab does not answer.',
    again: 'Try again',
    unknown: (name) => `There is no screen “${name}”.`,
    home: 'Go to the start',
  },

  form: {
    title: 'The sale', summary: (form, load) => (form.strategies.length ? `${form.strategies.join(', ')} · ${form.stock} units · ${load}` : ''),
    stock: 'Stock', stockHint: 'units for sale',
    quantity: 'Units each', quantityHint: 'per buyer',
    profile: 'Buyers come',
    profiles: {
      closed: { name: 'One out, one in', hint: 'A fixed number at a time: the next buyer comes when one has an answer.' },
      spike: { name: 'All at once', hint: 'All at the same instant.' },
      constant: { name: 'Steadily', hint: 'A fixed rate, however long answers take.' },
    },
    buyers: 'Buyers', buyersHint: 'one purchase each',
    concurrency: 'At a time', concurrencyHint: 'concurrent buyers',
    rate: 'Rate', rateHint: 'buyers per second',
    duration: 'For', durationHint: 'seconds',
    more: 'Lease, processes, seed',
    services: 'Service processes', lease_ms: 'Lease, ms', wait_ms: 'Wait, ms', poll_ms: 'Poll, ms',
    timesHint: 'How long a lock lives without renewal, how long a buyer waits for it, and how long the pause between two attempts is. '
      + 'Empty keeps the current values; a change restarts the service processes.',
    seed: 'Seed', seedHint: 'the same seed gives the same buyers; empty: random',
    withFault: (name) => `In its second second: ${name}.`, noFault: 'Leave it out',
    runNamed: (names) => `Run ${names}`, stop: 'Stop', stopping: 'Stopping …',
    copy: 'Copy a link to these settings',
    token: 'Token', tokenHint: 'this lab was started with a token',
    broken: 'broken on purpose', unavailable: 'not available',
    unfit: { galera: 'not right here: its lock is local to one node', sentinel: 'not right here: a failover forgets the last writes' },
    noStrategies: 'No service process answers: there is nothing to choose from.',
  },
  choice: {
    strategies: 'Strategies', chosen: (n, all) => `${count(n)} of ${count(all)} chosen`, upTo: (n) => `up to ${n}, side by side`,
    search: 'Search', broken: 'broken', which: 'Which one? Five questions',
    all: 'All', none: 'None',
    notFound: (text) => `No strategy matches “${text}”.`,
    foreign: (names) => `This lab does not know ${names}.`,
    dropThem: 'Remove them',
  },
  /** Why the lab refused a call: its own words. */
  problem: (_code, detail) => detail,
  /** Why something is not available: the lab’s own words. */
  reason: (text) => text,
  wrong: { token: 'Enter the token that this lab was started with.', unreachable: 'The lab does not answer. Is it still running?' },
  /** Why the lab rejects a setting, by its code. */
  blamed: {
    range: ({ min, max }) => `Enter a whole number from ${count(min)} to ${count(max)}.`,
    none: () => 'Choose a strategy.',
    crowds: () => 'Enter up to 8 different whole numbers from 1 to 1,024, by comma.',
    too_many: ({ max }) => `At most ${count(max)}.`,
    repeated: ({ name }) => `${name} is listed twice.`,
    unknown_strategy: ({ name }) => `There is no strategy ${name}. Remove it.`,
    strategy_unavailable: ({ name, why }) => `${name} cannot run here: ${why}`,
    fault_unavailable: ({ why }) => `Not available here: ${why}`,
    one_of: ({ values }) => `Choose one of ${values.join(', ')}.`,
    unused: () => 'This has no effect here: leave it empty.',
    missing: () => 'This is needed here.',
    seed: () => 'Enter a whole number below 2⁶⁴, or nothing.',
    too_much: ({ stock }) => `No buyer could buy anything: the stock is ${count(stock)}.`,
    no_demand: ({ least, requests }) => `That makes ${plural(requests, 'buyer')}. Have more than ${count(least)}: if there is enough for every buyer, nothing can go wrong and nothing is proven.`,
    too_many_requests: ({ requests, max }) => `That makes ${plural(requests, 'buyer')}, and the limit is ${count(max)}. Lower the rate or the duration.`,
    run_ended: () => 'The run is over.',
  },
  families: {
    six: 'The six that everyone asks for', sqlrow: 'One SQL row', local: 'Inside one process', mysqllock: 'Locks in MySQL', redislock: 'Locks in Redis',
    zklock: 'Locks in ZooKeeper', etcdlock: 'Locks in etcd', counter: 'Counters', hotsku: 'The hot SKU',
  },

  start: {
    title: 'A flash sale', settings: 'Settings', guided: 'Back to the four buttons',
    steps: [
      { title: 'See it break', hint: 'naive reads the stock, subtracts, writes it back' },
      { title: 'See it hold', hint: 'conditional checks and subtracts in one statement' },
      { title: 'Side by side', hint: 'both, for the same buyers' },
      { title: 'Freeze the lock’s holder', hint: 'redis-lua is a correct lock, until its lease ends too early' },
    ],
  },
  preparing: () => 'Restarting the service processes …',
  running: (names) => `${names}: selling …`,
  stoppingRun: (names) => `${names}: stopped, counting what was sold …`,
  auditing: (names) => `${names}: all buyers have an answer, auditing the ledger …`,
  answered: (n, all) => `${count(n)} of ${plural(all, 'buyer')} answered`,
  startedAnnouncement: (names) => `The run of ${names} has started.`,

  numbers: {
    sold: 'Sold', of: (n) => `of ${plural(n, 'unit')}`, left: 'Left', units: 'units', below: 'below zero',
    told: 'Told “sold”', nothingElse: 'all of the buyers', time: 'Time', took: (s) => `${s < 10 ? s.toFixed(1) : count(s)} s`,
    p99: (time) => `99 of 100 answers within ${time.replace(' ', '\u00a0')}`,
  },
  outcomes: {
    sold_out: 'sold out', busy: 'busy', conflict: 'conflict',
    duplicate: 'duplicate', in_progress: 'in progress', reserved: 'reserved', accepted: 'accepted', unknown: 'unknown', error: 'error',
  },
  charts: {
    rate: 'Answers per second',
    latency: 'Latency so far, ms', p99Title: '99th percentile so far, ms',
    p50: 'median', p99: '99th percentile',
    axis: (s) => `${s} s`,
    rateSummary: (n) => `${count(n)} answers per second`,
    latencySummary: (p50, p99) => `median ${p50}, 99th percentile ${p99}`,
    marks: (n) => `${plural(n, 'fault')} marked`,
  },
  faults: {
    title: 'Break something',
    service: 'Service process',
    strategy: 'Strategy of the holder',
    happened: 'What happened, and when',
    kinds: {
      pause_holder: 'Freeze the lock’s holder past its lease', hang_holder: 'Hang the one purchase that holds the lock', kill_holder: 'Kill the lock’s holder', cut_holder: 'Cut the holder’s connections',
      pause_service: 'Freeze a service process', kill_service: 'Kill a service process', restart_redis: 'Restart Redis without its data',
      pause_redis: 'Freeze Redis', pause_redlock: 'Freeze one of five Redis', lose_redlock: 'Kill one of five Redis',
      restart_mysql: 'Kill and restart MySQL', pause_mysql: 'Freeze MySQL',
      restart_zookeeper: 'Kill and restart ZooKeeper', restart_etcd: 'Kill and restart etcd',
      lose_zookeeper: 'Kill one of three ZooKeeper', lose_etcd: 'Kill one of three etcd',
      failover_redis: 'Fail Redis over before it replicates', lose_shard: 'Kill a shard of Redis',
      lose_mysql: 'Kill one of three database nodes',
      partition_redis: 'Cut a service off from Redis', partition_zookeeper: 'Cut a service off from ZooKeeper', partition_etcd: 'Cut a service off from etcd',
      lose_replies_redis: 'Lose the replies of Redis', lose_replies_mysql: 'Lose the replies of MySQL',
      lock_row_mysql: 'Lock the stock row from outside',
    },
  },

  verdicts: {
    held: 'HELD', oversold: 'OVERSOLD', lost: 'LOST', blocked: 'BLOCKED', not_valid: 'NOT VALID', failed: 'NOT STARTED',
    preparing: 'preparing', running: 'running', stopping: 'stopping',
  },
  verdict: {
    held: (a, r) => `The ledger agrees with what ${plural(r.requests, 'buyer')} were told.${a.remaining > 0 ? ' Units are left.' : ''}`,
    blocked: (a) => `Nothing was oversold or lost, but none was sold for ${pause(a.served?.longest_ms ?? 0)} while units were left and buyers were asking.`,
    oversold: (a) => (a.sold > a.initial ? `${plural(a.sold - a.initial, 'unit')} more than there were.` : 'More of one SKU was sold or reserved than there was.'),
    lost: (a) => `Nothing was oversold, but the ledger does not add up${a.sold + a.remaining === a.initial ? '' : `: sold and left make ${count(a.sold + a.remaining)}, not ${count(a.initial)}`}.`,
    not_valid: () => 'This run proves nothing, neither good nor bad.',
    announcement: (name, word, text) => `${name}: ${word}. ${text}`,
    why: 'Read why.',
    brokenBroke: (name) => `${name} is broken on purpose.`,
    brokenHeld: (name) => `${name} is broken on purpose, and was lucky this time. Try more concurrent buyers.`,
    evidence: 'Evidence', evidenceHint: 'broken rules, orders, figures, charts, servers, how to repeat it',
    rules: 'Broken rules', orders: 'The orders concerned',
    problems: 'Why it proves nothing',
    met: 'Orders of several strategies met in this run. They do not guard the stock against each other: reset the SKU before another strategy sells it.',
    more: (n) => `… and ${count(n)} more`,
    ranOn: 'Ran on',
    commands: 'Commands per purchase',
    figures: {
      orders: 'Orders', rate: 'Answers per second', sales: 'Sales per second, to the last', p50: 'Median', p99: '99th percentile',
    },
  },
  rules: {
    oversold: 'Sold more than there were', negative_stock: 'Stock below zero', lost_update: 'Lost updates',
    lost_units: 'Units vanished', bought_twice: 'One buyer, two orders', bad_order: 'Impossible orders',
    missing_order: 'Sales without an order', wrong_receipt: 'Receipt and order differ',
    unacknowledged_order: 'Orders that no buyer was told of', invented_order: 'Orders that no buyer asked for',
    undersold: 'Turned away although there was stock', nothing_sold: 'Nothing was sold',
    initial_changed: 'The sale was reset meanwhile', mixed_stocks: 'Stock in two places',
    straggler: 'Orders of another run', unknown_stock: 'The stock could not be read',
    counter_and_row_differ: 'Counter and row differ', unused_counter_changed: 'A counter changed without a sale',
    key_refused: 'Refused although the request has an order',
    false_duplicate: 'Told duplicate without an order', not_cancelled: 'A cancellation that never happened',
    lost_request: 'Accepted and lost',
    cancelled_unasked: 'Cancelled, but not by the buyer',
    paid_released: 'Paid, and given back', paid_late: 'Paid after the deadline', not_paid: 'A payment that never happened', paid_unasked: 'Paid, but not by the buyer',
    expired_early: 'Expired before the deadline', expired_held: 'Expired, and still held', released_twice: 'Given back twice',
    restock_differs: 'Units added that are not there, or unasked', sold_before_restock: 'Sold before units were added',
    not_linearizable: 'Answers that cannot all be true',
    two_holders: 'Two holders of one lock', unknown: 'Outcome unknown', blocked: 'Blocked for ever',
    error: 'An unexpected error', hindered: 'Delayed by another SKU', stolen: 'Lock taken from its holder', early: 'Sold before the sale started',
    untold: 'Accepted, and not told what became of it', kept: 'The lock of another renewed',
  },

  about: {
    load: ({ profile, buyers = 0, concurrency = 0, rate = 0, duration_ns: duration = 0 }) => ({
      closed: `${plural(buyers, 'buyer')}, ${count(concurrency)} at a time`, spike: `${plural(buyers, 'buyer')} at the same instant`,
      constant: `${count(rate)} per second for ${count(duration / 1e9)} s`,
    })[profile],
    services: ({ services, lease_ms: lease, wait_ms: wait, poll_ms: poll }) =>
      `${plural(services, 'service process', 'service processes')}, lease ${count(lease)} ms, wait ${count(wait)} ms, poll ${count(poll)} ms`,
    seed: (seed, lanes) => `${lanes > 1 ? 'the same buyers, seed' : 'seed'} ${seed}`,
    again: 'Use these settings', itself: 'Link to this run', share: 'Save as one file',
  },
  history: {
    title: 'Earlier runs',
    verdict: 'Verdict', strategy: 'Strategy', stock: 'Stock', load: 'Load',
    sold: 'Sold', left: 'Left', rate: 'Answers/s', p99: 'p99', time: 'Started',
    gone: 'There is no such run: the last 50 are kept.', newest: 'Show the newest',
    show: (name, time) => `Show the run of ${name} of ${time}`,
  },
  machines: {
    title: 'What it runs on',
    service: (n) => `Service process ${n}`,
    up: 'up', down: 'down', missing: 'not here',
    tiers: { given: 'given', private: 'private', embedded: 'embedded' },
    tierHints: {
      given: 'a server at a configured address', private: 'a real server, started for this lab only',
      embedded: 'an engine inside the program, instead of a real server',
    },
  },

  guarantees: {
    title: 'Guarantees',
    answers: {
      all: 'holds in all schedules', tried: 'holds in the schedules tried', breaks: 'breaks', measured: 'measured, no promise',
      'n/a': 'does not apply', failed: 'could not be determined', '': 'not computed',
    },
    says(c) {
      if (c.answer !== 'holds') return this.answers[c.answer] ?? c.answer;
      if (c.exhausted) return `holds in all ${plural(c.schedules ?? 0, 'schedule')}`;
      return c.schedules ? `holds in the ${plural(c.schedules, 'schedule')} tried` : 'holds in what was tried';
    },
    titleOf: (q) => q.title,
  },
};
