// The texts of the five questions, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count } from '../ui.js';
import zh from './text/zh.js';

const offers = { SQL: 'a SQL database', RowLocks: 'MySQL or MariaDB', Procedures: 'stored procedures', SkipLocked: 'SKIP LOCKED', ReadCommitted: 'READ COMMITTED', Redis: 'Redis', RedisQuorum: 'five independent Redis servers', ZooKeeper: 'ZooKeeper', Etcd: 'etcd' };
const have = { mysql: 'MySQL or MariaDB', redis: 'Redis', redis5: 'five independent Redis servers', zookeeper: 'ZooKeeper', etcd: 'etcd' };
const fails = { 'dead-holder': 'a buyer’s process dies', 'lease-end': 'a process freezes for longer than its lease', 'lost-reply': 'a reply is lost', 'late-command': 'a command arrives late', clocks: 'clocks disagree', 'node-loss': 'Redis fails over and forgets its last writes' };

const en = {
  questions: { need: 'What do you need?', rate: 'How many sales a second?', have: 'What do you run?', processes: 'How many processes sell?', fails: 'What may fail?' },
  answers: {
    need: (v) => ({ stock: 'to sell stock from a database', lock: 'a lock for other things than stock' })[v], rate: (n) => (n ? count(n) : 'not known'),
    have: (s) => have[s], processes: (several) => ({ true: 'several', false: 'one' })[String(several)], fails: (q) => fails[q],
  },
  results: 'What fits',
  found: (n, ways) => (n ? `${count(n)} ${n === 1 ? 'way fits' : 'ways fit'}, simplest first.` : ways ? 'Nothing fits. One of these changes is enough:' : 'Nothing fits, and no single change is enough.'),
  loss: 'In a failover two buyers can hold the lock. Where the stock’s row checks a fencing token, it refuses the older one, and the stock stays right. Without a lock there is nothing to lose. See:',
  more: 'Also:', way: (what) => (what === 'rate' ? 'accept fewer sales a second' : what === 'processes' ? 'sell from one process' : have[what] ? `add ${have[what]}` : `live with this risk: ${fails[what]}`),
  needs: (list) => `Needs ${new Intl.ListFormat('en').format([...new Set(list.filter((n) => n !== 'SQL' || list.length === 1).map((n) => offers[n] ?? n))])}. `,
  speed: (n) => `Sold ${count(n)} a second when it was measured. `, notHere: 'It cannot run in this lab.',
  breaks: 'You did not ask, but it breaks here:', run: 'Run it', lesson: 'Lesson', proof: 'All its answers',
  figures: (date, cpus) => `Speeds are from one machine (${date}, ${cpus} processors); they compare strategies with each other. `, measure: 'Measure yours.',
};

export const words = chosenOf(en, zh);
