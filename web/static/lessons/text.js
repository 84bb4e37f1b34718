// The texts of the chapters, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, html, plural } from '../ui.js';
import zh from './text/zh.js';

const en = {
  title: 'Lessons', chapters: 'Chapters', turn: 'Turn the page',
  chapter: (n, all) => `Chapter ${count(n)} of ${count(all)}`,
  progress: (n, all) => `${count(n)} of ${plural(all, 'chapter')} read`,
  read: 'read', core: 'core', ifNeeded: 'if you need it',
  unknown: (name) => `There is no chapter and no strategy “${name}”. This is the first chapter.`,
  source: 'The source code that runs', answer: 'A model answer',
  predict: {
    asks: (name, stock, buyers) => `${plural(buyers, 'buyer')} want one unit each, and there are ${count(stock)}. How many does ${name} sell?`,
    fewer: (stock) => `Fewer than ${count(stock)}`, all: (stock) => `Exactly ${count(stock)}`, more: (stock) => `More than ${count(stock)}`,
    right: 'You were right.', wrong: 'You expected something else.', was: (sold, initial) => `It sold ${count(sold)} of ${count(initial)}.`,
  },
  breakIt: (name, stock, buyers) => `Break it: ${plural(buyers, 'buyer')}, ${plural(stock, 'unit')}, ${name}`,
  live: (name, title) => `Break it live: ${name}, ${title}`, liveRuns: 'The schedule runs on this lab’s servers …',
  liveBroke: (rules) => `Just now, on this lab’s servers, it broke: ${rules}.`, liveHeld: 'This time it held. Run it again.',
  liveWrong: { not_replayable: 'A server is lost in it, and the lab’s servers are shared: play it step by step.', diverged: 'The program has changed since this counterexample was found.', unknown_example: 'This program has no such counterexample.' },
  play: (name, title) => `${name}: ${title}, step by step`, inWords: 'The drawing in words', howItBreaks: 'How it breaks, drawn', playYourself: 'Play it yourself: you are the scheduler',
  drawn: (strategy, question = '') => `${strategy}${question && ` · ${question}`}: this drawing, step by step`, notDrawn: (why) => `The drawing could not be loaded: ${why}`,
  beside: (name) => `The same with ${name}, step by step`,
  noExample: 'This program’s matrix has no such counterexample. To find it, run',
  traces: 'With two buyers, step by step: ',
  other: (name) => `A run of ${name} is in progress. Wait for its verdict.`,
  articles: {
    about: 'About', theirs: 'The article says', ours: 'The proof and the measurements say',
    locks: { 1: 'Locks/s, alone:', 8: 'Locks/s, eight contenders:' }, and: '; ', holds: 'nothing that the proof tries breaks it',
    on: (date, cpus) => `Figures: medians, measured on ${date} with ${plural(cpus, 'processor')}; each mark leads to its counterexample.`,
    sales: (n, crowd) => html`${n} sales/s with ${count(crowd)} buyers at once`, breaks: (what) => `breaks: ${what}`, times: (n) => html`${n} times`,
    commands: (n) => `${n} commands per lock`, lease: (n, lost) => `${n} times the task: ${lost} % of updates lost`, pause: (n, rate, commands) => `${n} of the task: ${rate} locks/s, ${commands} commands each`,
    says: {
      D: { title: 'Java distributed locking schemes and differences', rows: {
        performance: ['Performance', 'Redis high, ZooKeeper middle, database low'], reliability: ['Reliability', 'ZooKeeper high, Redis middle, database low'],
        expiry: ['Is it freed by time?', 'Redis: yes. ZooKeeper: delete it after the work. Database: a locked row with its transaction, an inserted row by hand'],
        queue: ['A queue for those who wait', 'Redis: none. ZooKeeper: each watches the one before it. Database: a locked row has one, an inserted row has none'],
        long: ['Work that takes longer than the limit', 'Redis must renew. ZooKeeper and an inserted row have no such problem; a locked row’s transaction may time out'],
        failure: ['Not freed after a failure', 'Redis: expires. ZooKeeper: goes with the session. Locked row: the database cleans up. Inserted row: your own solution'],
        fast: ['A ranking by performance', 'cache, then ZooKeeper, then database or the same'], safe: ['A ranking by reliability', 'ZooKeeper, then cache, then database'] } },
      B: { title: '分布式锁(redis/mysql)', rows: {
        segments: ['One central row, or a hundred', '8 s against 5 s for 50 × 100 threads: “almost double”'],
        choice1: ['Many buyers, consistency does not matter', 'a lock or a counter in Redis'], choice2: ['Few buyers, consistency matters', 'a lock or a counter in MySQL'],
        choice3: ['Few buyers, consistency does not matter', 'whatever you like'], choice4: ['Many buyers, consistency matters', 'Redis and MySQL together'],
        fourteen: ['Stock as a counter in Redis', 'ten prizes, and fourteen were given away'] } },
      A: { title: 'Implementation of distributed lock', rows: {
        pessimistic: ['With low concurrency', 'a row lock or an optimistic lock in MySQL is enough, and easier to maintain'],
        polling: ['What waiting costs', 'a Redis lock polls and costs more; a ZooKeeper lock is told; frequent locks burden ZooKeeper'],
        prefers: ['Which one?', 'ZooKeeper if you have it, as data in Redis may go wrong; Redis if that is what you have'] } },
      C: { title: '分散ロックの原理といくつかの実現方式', rows: {
        expire2: ['SETNX and then EXPIRE', 'a caller that dies between the two locks for ever'], quorum: ['Three of five Redis nodes', 'more available'] } },
      E: { title: 'Семантика SETNX', rows: {
        scheme4: ['The strictest of four schemes', 'SET NX PX with a random value, compared and deleted in Lua'],
        lease: ['How long a lease?', 'several times the task'], pause: ['How long between attempts?', 'in proportion to the task'] } },
    },
  },
  /** The words of a picture: what it says, and its labels. */
  pictures: {
    'row-held': ['How long one buyer keeps the row locked. The less is filled, the shorter the queue.', 'UPDATE', 'trip', 'INSERT', 'COMMIT', 'INSERT for all', 'Filled: the row is locked. Dashed: locked while a message travels.', 'Outlined: the row is free.'],
    'zk-queue': ['The queue of a ZooKeeper lock: each node watches only the one before it.', ' holds the lock', ' watches', 'When 0001 goes, B alone is told. B looks again whether it is first, and holds the lock.'],
    votes: ['Three votes of five: two holders would need six.', 'A has three votes: the lock is A’s.', 'B has two: too few.', 'B gives its two votes back, waits for a random time, and tries again.'],
    buckets: ['A stock in four rows: four queues in place of one.', 'buyers', 'The last row has one unit: who wants two there must look at the other rows.', 'Sold out means that all four rows together have too few, at one moment.'],
    gap: ['FOR UPDATE on a name that is not there locks the gap, and a gap lock excludes nobody.', 'gap: no row “lock-m”', 'Both get the gap. Each INSERT then waits for the other’s gap lock:', 'a deadlock, error 1213.'],
    states: ['What a unit can be: free, reserved or sold. Each arrow is one UPDATE that names the state it expects.', 'free', 'reserved', 'sold', 'reserve', 'pay', 'cancelled, or the deadline passed', 'order cancelled'],
  },
  measure: 'Figures depend on the machine. Measure yours:',
  measured: {
    strategy: 'Strategy', answers: 'Answers/s', sales: 'Sales/s', share: (strategy) => `× ${strategy}`,
    lock: 'Lock', alone: 'Alone, locks/s', crowd: (n) => `${n} at once, locks/s`, wait: (n) => `${n}: p99 wait, ms`,
    pause: 'Pause between attempts', lease: 'Lease', rate: 'Locks/s', notYet: 'not measured yet', commands: 'Commands per lock', lost: 'Updates lost',
    on: (date, cpus, servers) => `Measured on ${date} with ${plural(cpus, 'processor')}: ${servers}. Medians of the rounds, with the lowest and the highest. `,
    how: {
      compare: (run) => `${count(run.at_once)} concurrent buyers.`,
      'bench locks': (run) => `Contenders hold the lock for ${run.hold_ms} ms.`,
      'bench articles': (run) => `${run.lock}, 8 contenders, tasks of ${run.task_ms} ms. One central row took ${run.central_over_segmented[0].toFixed(2)} times as long as a hundred segments.`,
    },
  },
  guess: 'Predict each answer, then see it',
};

export const words = chosenOf(en, zh);
