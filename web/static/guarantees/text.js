// The texts of the proof, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const en = {
  what: 'Each mark is a test on real servers: two or three buyers, their commands in every order, or in many. Select a ✗ to watch it break, or a strategy to see all its answers.',
  groups: { sound: 'Without faults', one: 'One thing goes wrong', more: 'More', measured: 'Measured' },
  locks: 'Locks', lockless: 'Ways without a lock', broke: 'and what: the stock, the lock, the counter, or an answer', nothing: 'nothing known breaks it', all: (n) => `Show all ${count(n)}`,
  about: { stock: 'stock', lock: 'lock', counter: 'counter', answer: 'answer' },
  also: 'what else breaks', columns: (n) => `all ${n} columns`,
  name: 'Strategy', presetsLabel: 'Show what',
  presets: {
    oversell: 'never oversells', processes: 'several processes', 'dead-holder': 'survives a dead holder', 'lease-end': 'survives a pause', order: 'fair',
  },
  shown: (n, all) => (n === all ? plural(all, 'strategy', 'strategies') : n === 0 ? 'No strategy matches.' : `${count(n)} of ${plural(all, 'strategy', 'strategies')}.`),
  asksOf: (q) => q.asks,
  /** Which schedules were tried: one sentence each. */
  tried: (c) => {
    if (c.answer === 'breaks') return [`Found after ${plural(c.schedules, 'schedule')}.`];
    const inOrder = c.schedules - (c.random ?? 0);
    return [
      c.exhausted ? `All schedules are covered: ${count(c.schedules)} were run to their end.` : `${plural(c.schedules, 'schedule')} tried, each to its end. There are more.`,
      c.exhausted || !inOrder ? '' : c.preemptions === -1 ? `${count(inOrder)} of them in order, those with the fewest preemptions first.`
        : `${count(inOrder)} of them in order. ${c.preemptions ? `Among them are all with at most ${plural(c.preemptions, 'preemption')}` : 'Among them are all without a preemption'}.`,
      c.random ? `${count(c.random)} of them drawn at random.` : '',
      c.orders && !c.exhausted ? `Their conflicting commands came in ${plural(c.orders, 'different sequence')}.` : '',
      c.pruned ? `${plural(c.pruned, 'schedule')} skipped: each differs from one that was run only in the order of independent commands.` : '',
      c.cut && !c.exhausted ? `${plural(c.cut, 'turn')} not taken. A schedule behind one of them could still break it.` : '',
    ].filter(Boolean);
  },
  schedule: 'A schedule is one interleaving of the actors’ commands. A preemption interrupts an actor that could continue.',
  /** What was measured, by the prover's words: in full, and for a cell. */
  measured: {
    'polls': ['polls', 'polls'],
    'is told': ['is notified', 'is notified'],
    'queues in the server': ['queues in the server', 'queues: server'],
    'queues in the process': ['waits in line, in the program', 'waits in line'],
    'does not wait': ['does not wait', 'no wait'],
    'many commands in 300ms': ['many commands in 300 ms'],
    'a few commands in 300ms': ['a few commands in 300 ms'],
    'one command in 300ms': ['one command in 300 ms'],
    'no command in 300ms': ['no command in 300 ms'],
    'the next waits': ['the next waits', 'next waits'],
    'the next gets in': ['the next gets in', 'next gets in'],
    'the holder\'s lease has ended': ['the holder’s lease has ended'],
    'at once': ['at once'],
    'the next is told busy': ['the next is told busy', 'next: busy'],
    'luck decides': ['by chance', 'by chance'],
    'in order': ['in order', 'in order'],
    'no queue': ['no queue', 'no queue'],
    'the others get in beside the holder': ['the others get in beside the holder'],
    'the others are told busy': ['the others are told busy'],
    'gets in beside the holder': ['gets in beside the holder'],
    'is told busy': ['is told busy'],
    'yes': ['yes', 'yes'],
    'no': ['no', 'no'],
    'the holder would wait for itself': ['the holder would wait for itself'],
  },
  play: 'See it break, step by step', lesson: 'Read its lesson', run: 'Run it',
  close: 'Close',
  computed: (schedules, seed) => `Computed by seckill prove, ${schedules ? `at most ${plural(schedules, 'schedule')}` : 'all schedules'} of each search, seed ${seed}, on`,
};

export const words = chosenOf(en, zh);
