// The texts of faults and verdicts, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const percent = (share) => `${count(100 * share)} %`;

/**
 * The lab's own words, as a sentence.
 * @param {string} said
 */
const sentence = (said) => said.replace(/^[a-z]+(?=[ ,])/, (word) => word[0].toUpperCase() + word.slice(1)).replace(/(?<![.?!)])$/, '.');

const en = {
  /** Why a run is not valid. */
  problem: ({ text }) => sentence(text),
  /** Why a fault is not available here. */
  lack: (said, _lack) => said,
  /**
   * What broke a rule.
   * @param {Json.Violation} violation
   */
  broken: ({ message }) => sentence(message),
  faults: {
    none: 'Real faults in the lab’s own processes. They are reverted when the run ends.',
    elsewhere: (n) => `${plural(n, 'more fault needs', 'more faults need')} other servers`,
    hints: {
      pause_holder: 'The process that holds the lock is paused before its COMMIT until its lease has ended.',
      hang_holder: 'The purchase that holds the lock hangs; its process continues and renews the lease.',
      kill_holder: 'The process that holds the lock is killed between its read and its write.',
      cut_holder: 'The process that holds the lock loses its connections, and what a backend ties to them.',
      pause_service: 'The process is paused, as in a long garbage collection, and does not notice.',
      kill_service: 'The process is killed, with all its work in progress.',
      restart_redis: 'Redis comes back without its data.',
      pause_redis: 'Redis is paused: nothing is answered, and leases run out meanwhile.',
      pause_redlock: 'One of the five nodes of a quorum hangs until it is continued: it takes connections and answers nothing.',
      lose_redlock: 'One of the five nodes of a quorum is killed, and comes back without its data.',
      restart_mysql: 'MySQL is killed and recovers with its data. A COMMIT without an answer may have happened.',
      pause_mysql: 'MySQL is paused. What was sent meanwhile runs when it continues.',
      restart_zookeeper: 'ZooKeeper is killed and comes back with its data.',
      restart_etcd: 'etcd is killed and comes back with its data.',
      lose_zookeeper: 'The leader of three ZooKeeper servers is killed; the other two elect another.',
      lose_etcd: 'The leader of three etcd servers is killed; the other two elect another.',
      lock_row_mysql: 'Another session holds the row longer than statements wait for it (error 1205).',
      failover_redis: 'Replication stands still; then the primary dies, and the sentinels promote a replica without the last writes.',
      lose_shard: 'The shard of Redis that the sale uses is killed, and comes back without its data.',
      lose_mysql: 'The database node at which service 1 writes is killed; the service is led to another.',
      partition_redis: 'One service process and Redis do not reach each other.',
      partition_zookeeper: 'One service process and ZooKeeper do not reach each other.',
      partition_etcd: 'One service process and etcd do not reach each other.',
      lose_replies_redis: 'Redis does what one service process asks, and the replies are lost.',
      lose_replies_mysql: 'MySQL does what one service process asks, and the replies are lost.',
    },
    /** @param {Json.Fault} fault */
    when: ({ state, at_ms: at, until_ms: until = 0, kind, effect }) => {
      const from = `${(at / 1000).toFixed(1)} s`;
      if (state === 'planned') return `planned for ${from}`;
      if (state === 'failed') return 'did not happen';
      if (state === 'waiting') return `waiting for a holder since ${from}`;
      if (state === 'on') return `since ${from}`;
      if (effect && !effect.took_effect) return `at ${from}`;
      if (kind.startsWith('kill')) return `${from}, dead to the end`;
      return until - at > 100 ? `${from} to ${(until / 1000).toFixed(1)} s` : `at ${from}`;
    },
  },
  effects: {
    says: { bit: 'It took effect', harmless: 'It took effect, but could not matter', void: 'It had no effect' },
    why: {
      no_units: 'no units were left', idle: 'the process had no purchase in progress',
      no_point: 'this strategy writes without reading first, so its purchases have no such point',
      not_reached: 'no purchase reached that point before the run ended', went_on: 'it ended too early',
      data_kept: 'the server came back with its data', nothing_passed: 'nothing was sent meanwhile', not_met: 'no command had to wait',
    },
    holder: (h, point) => `it hit the purchase of user ${h.user_id} ${{ 'before-commit': 'before its COMMIT' }[point] ?? 'between its read and its write'}${h.lock_key ? `, holding ${h.lock_key}` : ''}`,
    stood: (ms) => `it stopped for ${(ms / 1000).toFixed(1)} s`,
    left: (n) => `${plural(n, 'unit')} left just before it`,
    inFlight: (n) => `${plural(n, 'purchase')} in progress in that process`,
    goesOn: 'It is still in effect.',
  },
  why: {
    title: 'How it broke: two orders of this sale', after: (fault) => `How it broke: ${fault}`,
    /** @param {Json.Fault} fault @param {{orders: {user_id: number}[], unit?: number}} witness */
    frozen: ({ service, at_ms: at, effect }, { orders, unit }) => {
      const [a, b] = orders[0].user_id === effect?.holder?.user_id ? ['A', 'B'] : ['B', 'A'];
      return `At ${(at / 1000).toFixed(1)} s service process ${service} held ${effect?.holder?.lock_key ? `the lock ${effect.holder.lock_key}` : 'the lock'} for buyer ${a}, and was frozen${effect?.stood_ms ? ` for ${(effect.stood_ms / 1000).toFixed(1)} s` : ''}. Its lease ended, and buyer ${b} got the lock. Then it woke up and wrote as if it still held the lock${unit ? `: unit ${count(unit)} was sold twice` : ''}.`;
    },
    struck: (fault, at) => `At ${(at / 1000).toFixed(1)} s: ${fault}.`,
    twice: ({ orders: [a, b], unit }) => {
      const [x, y] = [a.remaining + a.quantity, b.remaining + b.quantity];
      return x === y && a.remaining === b.remaining
        ? `Buyers A (user ${a.user_id}) and B (user ${b.user_id}) both found ${count(x)} and both left ${count(a.remaining)}: one deduction is lost, and unit ${count(unit)} is sold twice.`
        : `Buyer A (user ${a.user_id}) found ${count(x)} and left ${count(a.remaining)}, buyer B (user ${b.user_id}) found ${count(y)} and left ${count(b.remaining)}: unit ${count(unit)} is sold twice.`;
    },
    below: ({ orders: [o] }) => `When the deduction of buyer A (user ${o.user_id}) ran, ${count(o.remaining + o.quantity)} were left, and it took ${count(o.quantity)}: its check had seen an older number.`,
    drawn: 'What each buyer found and left; which of them wrote first is not known', user: (name) => `buyer ${name}`, stock: 'stock', looks: 'looks',
    reads: (n) => `finds ${count(n)}`, writes: (n) => `leaves ${count(n)}`, takes: (n) => `takes ${count(n)}`, leaves: (n) => `${count(n)} left`,
    play: 'Play it step by step', run: (name) => `Run one that holds: ${name}`, both: 'Run both side by side',
  },
  /** An order that broke a rule: the judge's own words. */
  example: (text, _said) => text.replace(/units (\d+) to \1 of/, 'unit $1 of'),
  blocked: {
    title: 'What died, and what it held',
    /** @param {Json.Fault} fault */
    died: ({ kind, service, at_ms: at, effect }) => {
      const when = `at ${(at / 1000).toFixed(1)} s`;
      const harm = { kill_holder: 'was killed', kill_service: 'was killed', cut_holder: 'lost its connections' }[kind] ?? 'stood still';
      if (!effect?.holder) {
        return `Service process ${service} ${harm} ${when}, with ${effect?.in_flight === undefined ? 'its purchases' : plural(effect.in_flight, 'purchase')} in progress, one of which may have held the lock`;
      }
      return `Service process ${service} ${harm} ${when} with the purchase of user ${effect.holder.user_id}, which ${effect.holder.lock_key ? `held the lock ${effect.holder.lock_key}` : 'was about to write the stock'}`;
    },
    unknown: 'No fault of this run says whose purchase left the lock behind',
    /** @param {Json.Served} served */
    waits: ({ longest_ms: longest }) => `buyers asked for it in vain for ${(longest / 1000).toFixed(1)} s, while units were left`,
    frees: {
      redislock: (key) => `it is free again when its key is deleted by hand${key ? `: DEL ${key}` : ''}`,
      mysqllock: (key) => `it is free again when its row${key ? `, ${key},` : ''} is deleted by hand`,
      other: () => 'it is free again when what the dead process left behind is removed by hand',
    },
    lookFor: 'it is free again when what holds it is removed by hand',
    over: ({ lease_ms: lease, wait_ms: wait }) => `Buyers waited longer than a wait (${count(wait)} ms) and a lease (${count(lease)} ms) together: neither ends this lock.`,
  },
  held: {
    title: 'What this run tried',
    buyers: (load, n) => `${load}, in ${plural(n, 'service process', 'service processes')}`,
    copies: (n) => plural(n, 'double click'), retries: (n) => `${plural(n, 'retry', 'retries')} after an unclear answer`,
    cancelled: (n) => `${plural(n, 'order')} later cancelled`,
    fault: (what, at) => `${what}, at ${(at / 1000).toFixed(1)} s`,
    noFault: 'no fault: nothing was killed, paused or cut off',
    harmless: (n) => `${plural(n, 'fault')} at a moment when it could not do harm`,
    breaks: 'What would break it', thisTime: 'It held this time. These break it:',
    had: ' (this run had such a fault)',
    chips: 'Click one to watch it happen.',
    none: (all, some) => `We know of nothing. Every possible order of commands was tried for ${plural(all, 'kind')} of trouble, many orders for ${count(some)} more.`,
    cells: 'See its row.',
  },
  signs: {
    says: {
      right: { yes: 'Right', no: 'Not right', not_known: 'Right? Not known' },
      served: { yes: 'Served', no: 'Not served', not_known: 'Served? Not known' },
    },
    why: {
      right: { yes: 'Nothing was oversold, lost or invented.', no: 'The ledger is wrong.', not_known: 'The run proves nothing.' },
      served: { yes: 'Buyers got their answers in time, and the units were sold.', no: '', not_known: 'Nothing says whether the sale stood still.' },
      useless: 'Answers came in time, and were wrong.',
    },
    /** @type {Record<string, (p: Record<string, number>, limits: Json.Signs['limits']) => string>} */
    short: {
      stood: ({ ms, allowed_ms: allowed }) => `The sale stood still for ${seconds(ms)}, and ${seconds(allowed)} are allowed`,
      late: ({ p99_ms: p99 }, { late_ms: limit }) => `One answer in a hundred took longer than ${seconds(p99)}, and ${seconds(limit)} are allowed`,
      uncertain: ({ errors, unknown, of }) => `${count(errors + unknown)} of ${plural(of, 'buyer')} have no certain answer: ${plural(errors, 'error')}, ${count(unknown)} unknown`,
      unsold: ({ sold, of }) => `Only ${count(sold)} of ${plural(of, 'unit')} that buyers asked for were sold`,
    },
    right: 'Right: judged by the ledger and by what every buyer was told. ',
    served: ({ late_ms: late, uncertain, sold }) => `Served: the sale never stood still for longer than a wait and a lease while buyers asked for units that were there, `
      + `99 of 100 answers came within ${seconds(late)}, at most ${percent(uncertain)} of the buyers ended without a certain answer, and at least ${percent(sold)} of the units that were there and asked for were sold.`,
  },
  share: {
    again: 'To repeat it', withoutFaults: 'the command has no faults: those happen under “Run” only',
    ranOn: 'Version and machine', machine: (n) => plural(n, 'processor'),
  },
};

export const words = chosenOf(en, zh);
