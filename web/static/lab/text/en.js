// Texts of faults and verdicts in English, by code and rule. zh.js has the same keys.
import { count, plural } from '../../ui.js';

const at = (service) => `in service process ${service}`;
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const percent = (share) => `${count(100 * share)} %`;

/** Why no order explains the answers. */
const unexplained = {
  left: (p) => `${p.name} was told ${count(p.left)} left after buying ${count(p.quantity)}, when there were ${count(p.there)}.`,
  beyond: (p) => `${p.name} was sold ${count(p.quantity)} of ${count(p.there)}.`,
  early: (p) => `${p.name} was answered (${count(p.left)} left) ${p.ms} ms before ${p.before}, whose units come first, had even asked.`,
  sold_out: (p) => `${p.name} was told sold out of ${count(p.quantity)}, and ${count(p.left)} were left to the end.`,
  sold_out_early: (p) => `${p.name} was told sold out of ${count(p.quantity)}, ${p.ms} ms before so few were left.`,
  window: (p) => `No order of the first ${count(p.operations)} operations explains all their answers.`,
};

export default {
  /** Why a run is not valid, by the load generator’s codes. */
  causes: {
    ledger_unread: ({ error }) => `The ledger could not be read: ${error}`,
    still_running: ({ seconds }) => `Purchases without an answer were still running ${count(seconds)} s after the load run, so the ledger was read too early.`,
    other_strategy: ({ count: n, found, strategy }) => `${plural(n, 'order')} written by strategy ${found} instead of ${strategy}.`,
    target_unusable: ({ target, error }) => `${target} cannot be used: ${error}`,
    not_reset: ({ sku, error }) => `SKU ${sku} could not be reset: ${error}`,
    strategies_unread: ({ target, error }) => `${target} does not list its strategies: ${error}`,
    stock_unread: ({ sku, where, error }) => `SKU ${sku} cannot be read from ${where}: ${error}`,
    ledgers_disagree: ({ target, sku, stock, run, where, left, found, found_run }) => `${target} reset SKU ${sku} to ${count(stock)} units in run ${run}, but ${where} says ${count(left)} of ${count(found)} units in run ${found_run}. Do they share a database?`,
    interrupted: ({ sent, of }) => `Interrupted after ${count(sent)} of ${plural(of, 'buyer')}.`,
    generator_late: ({ lag_ms: lag, latency_ms: latency }) => `The generator was the bottleneck: it sent requests up to ${lag.toFixed(1)} ms (p99) after they were due, out of a latency of ${latency.toFixed(1)} ms. Give it a machine of its own, or a lower rate.`,
    generator_full: ({ used, of }) => `The generator was the bottleneck: it used ${used.toFixed(1)} of ${plural(of, 'processor')}. Give it more processors, or lower the rate.`,
    never_sent: ({ count: n, seconds }) => `${plural(n, 'request')} still not sent ${count(seconds)} s after the last was due: the service cannot keep up, and the worst latencies are missing.`,
    no_answer: () => 'No buyer got a definite answer.',
    nonsense: ({ count: n, sample }) => `${plural(n, 'answer')} outside the service’s contract: ${sample}`,
  },
  /** Why a fault is not available here, by the lab’s codes. */
  lacks: {
    no_server: ({ name }) => `The lab has no ${name}.`,
    given_server: ({ name, address }) => `${name} at ${address} does not belong to the lab, so the lab does not break it.`,
    embedded_server: ({ name }) => `${name} is embedded in the lab. Install a server, and start the lab without --embedded.`,
    cluster_server: ({ name }) => `${name} is several servers here, and this fault is for a single one. Start the lab with --topology single.`,
    no_link: ({ name }) => `Service processes of this lab reach ${name} directly. seckill chaos starts a lab with links in between.`,
    no_mariadb: () => 'The lab has an administrator’s account of MariaDB only. Install mariadb-server.',
    other_topology: ({ name, topology }) => `The lab does not run several servers of ${name}, one of them leading. Start it with --topology ${topology}.`,
  },
  faults: {
    none: 'Real faults in the lab’s own processes. They are reverted when the run ends.',
    unavailable: (kind) => `${kind}: not available`,
    hints: {
      pause_holder: 'The process that holds the lock is paused before its COMMIT until its lease has ended.',
      hang_holder: 'The purchase that holds the lock hangs; its process continues and renews the lease.',
      kill_holder: 'The process that holds the lock is killed between its read and its write.',
      cut_holder: 'The process that holds the lock loses its connections, or its ZooKeeper session.',
      pause_service: 'The process is paused, as in a long garbage collection, and does not notice.',
      kill_service: 'The process is killed, with all its work in progress.',
      jump_clock: 'The clock of the process jumps ahead by ten minutes, and later back.',
      restart_redis: 'Redis comes back without its data.',
      pause_redis: 'Redis is paused: nothing is answered, and leases run out meanwhile.',
      restart_mysql: 'MySQL is killed and recovers with its data. A COMMIT without an answer may have happened.',
      pause_mysql: 'MySQL is paused. What was sent meanwhile runs when it continues.',
      restart_zookeeper: 'ZooKeeper is killed and comes back with its data.',
      restart_etcd: 'etcd is killed and comes back with its data.',
      cut_zookeeper_session: 'ZooKeeper ends the session of this service, and with it its locks.',
      lose_zookeeper: 'The leader of three ZooKeeper servers is killed; the other two elect another.',
      lose_etcd: 'The leader of three etcd servers is killed; the other two elect another.',
      lock_row_mysql: 'Another session holds the row longer than statements wait for it (error 1205).',
      full_redis: 'Redis refuses every write that could need memory.',
      full_etcd: 'etcd refuses every write but deletions.',
      failover_redis: 'Replication stands still; then the primary dies, and the sentinels promote a replica without the last writes.',
      lose_shard: 'The shard of Redis that the sale uses is killed, and comes back without its data.',
      pause_shard: 'The shard of Redis that the sale uses is paused, and goes on with its data.',
      lose_mysql: 'The database node at which service 1 writes is killed; the service is led to another.',
      partition_redis: 'One service process and Redis do not reach each other.',
      partition_zookeeper: 'One service process and ZooKeeper do not reach each other.',
      partition_etcd: 'One service process and etcd do not reach each other.',
      lose_replies_redis: 'Redis does what one service process asks, and the replies are lost.',
      lose_replies_mysql: 'MySQL does what one service process asks, and the replies are lost.',
    },
    past: ({ kind, service }) => ({
      pause_holder: `Holder paused, ${at(service)}`, hang_holder: `Holder hung, ${at(service)}`,
      kill_holder: `Holder killed, ${at(service)}`, cut_holder: `Holder disconnected, ${at(service)}`,
      pause_service: `Service process ${service} paused`, kill_service: `Service process ${service} killed`, jump_clock: `Clock of service process ${service} ten minutes ahead`,
      restart_redis: 'Redis restarted, without its data', pause_redis: 'Redis paused', restart_mysql: 'MySQL killed and restarted', pause_mysql: 'MySQL paused',
      restart_zookeeper: 'ZooKeeper killed and restarted', restart_etcd: 'etcd killed and restarted', cut_zookeeper_session: `ZooKeeper session of service process ${service} ended`,
      lose_zookeeper: 'One of three ZooKeeper servers killed', lose_etcd: 'One of three etcd servers killed',
      failover_redis: 'Redis failover, without the last writes', lose_shard: 'Shard of Redis lost, with its data', pause_shard: 'Shard of Redis paused',
      lose_mysql: 'One of three database nodes killed',
      partition_redis: `Service process ${service} cut off from Redis`, partition_zookeeper: `Service process ${service} cut off from ZooKeeper`,
      partition_etcd: `Service process ${service} cut off from etcd`,
      lose_replies_redis: `Replies of Redis to service process ${service} lost`, lose_replies_mysql: `Replies of MySQL to service process ${service} lost`,
      lock_row_mysql: 'The row locked by another session', full_redis: 'Redis’ memory full', full_etcd: 'etcd full',
    })[kind] ?? kind,
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
      data_kept: 'the server came back with its data', nothing_passed: 'nothing was sent meanwhile', not_met: 'no command was refused or had to wait', no_look: 'no purchase looked at the clock',
    },
    holder: (h, point) => `it hit the purchase of user ${h.user_id} ${{ 'before-commit': 'before its COMMIT' }[point] ?? 'between its read and its write'}${h.lock_key ? `, holding ${h.lock_key}` : ''}`,
    stood: (ms) => `it stopped for ${(ms / 1000).toFixed(1)} s`,
    left: (n) => `${plural(n, 'unit')} left just before it`,
    inFlight: (n) => `${plural(n, 'purchase')} in progress in that process`,
    goesOn: 'It is still in effect.',
  },
  /** @type {Record<string, string | ((p: Record<string, any>) => string)>} */
  broken: {
    oversold: ({ sold, stock }) => `${count(sold)} units sold out of ${count(stock)}: ${count(sold - stock)} too many.`,
    negative_stock: ({ left }) => `The stock is ${count(left)}.`,
    lost_update: ({ left, sold, stock }) =>
      `${count(left)} left + ${count(sold)} sold = ${count(left + sold)}, ${count(left + sold - stock)} more than the ${count(stock)} there were: deductions were overwritten, or units were restored twice.`,
    lost_units: ({ left, sold, stock }) =>
      `${count(left)} left + ${count(sold)} sold = ${count(left + sold)}, ${count(stock - left - sold)} fewer than the ${count(stock)} there were: units vanished without an order.`,
    bought_twice: 'Users with more than one active order.',
    bad_order: 'Impossible orders: no units, or an unknown state.',
    missing_order: 'Sales that buyers were told of but that are not in the ledger.',
    wrong_receipt: 'Sales whose order in the ledger differs from what the buyer was told.',
    unacknowledged_order: 'Orders of buyers who were told that they bought nothing.',
    invented_order: 'Orders that no buyer of this run asked for.',
    undersold: ({ wanted, left }) =>
      `Buyers ${wanted ? `who wanted ${count(wanted)} ` : ''}were told sold out, but at least ${plural(left, 'unit')} remained at the end.`,
    nothing_sold: ({ requests, stock }) => `${plural(requests, 'request')} for a stock of ${count(stock)}, and nothing was sold.`,
    initial_changed: ({ initial, run, found, found_run: foundRun }) =>
      `Another client reset the sale: it was set to ${count(initial)} units in run ${run}, the ledger says ${count(found)} in run ${foundRun}.`,
    mixed_stocks: 'Strategies that keep their stock in different places sold in one run.',
    straggler: ({ run }) => `Orders that do not belong to run ${run}.`,
    unknown_stock: ({ store }) => `What is left in ${store} could not be read.`,
    counter_and_row_differ: ({ store, counted, row }) => `${store} says that ${count(counted)} are left, the stock row says ${count(row)}.`,
    unused_counter_changed: ({ store, stock, counted }) =>
      `${store} was set to ${count(stock)} and says ${count(counted)}, but no order of this run was sold from there.`,
    two_answers: 'Requests that were confirmed twice, with different answers.',
    key_refused: 'Requests that have an order, but whose copy or retry was refused.',
    false_duplicate: 'Buyers who were told that they already have an order, but had none.',
    lost_request: ({ units } = {}) => (units === undefined
      ? 'Requests that were accepted, and have neither an order nor a refusal.'
      : `${plural(units, 'unit')} accepted, with neither an order nor a refusal.`),
    not_cancelled: ({ told, back } = {}) => (told === undefined
      ? 'Cancellations that buyers were told of but that did not take place.'
      : `Buyers were told of ${plural(told, 'unit')} restored, but ${count(back)} were: ${count(told - back)} fewer.`),
    paid_released: 'Reservations that were paid, and whose units were given back.',
    paid_late: 'Payments that succeeded after the deadline.',
    not_paid: 'Payments that buyers were told of and the ledger does not have.',
    paid_unasked: 'Reservations that are paid and whose buyers did not pay.',
    expired_early: 'Reservations that were said to have expired before their deadline.',
    expired_held: 'Reservations that have expired and still hold their units.',
    released_twice: 'Reservations that gave back more than they held.',
    not_linearizable: (p) => unexplained[p.case]?.(p) ?? 'No order of the purchases, one at a time, explains every answer.',
    cancelled_unasked: ({ told, back } = {}) => (told === undefined
      ? 'Cancelled orders that their buyers did not cancel.'
      : `${plural(back, 'unit')} restored, but buyers asked for ${count(told)} at most: ${count(back - told)} more.`),
  },
  why: {
    title: 'How it broke, by two of its own orders',
    twice: ({ orders: [a, b], unit }) => {
      const [x, y] = [a.remaining + a.quantity, b.remaining + b.quantity];
      return x === y && a.remaining === b.remaining
        ? `Buyers A (user ${a.user_id}) and B (user ${b.user_id}) both found ${count(x)} and both left ${count(a.remaining)}: one deduction is lost, and unit ${count(unit)} is sold twice. The ledger does not say which of the two wrote first.`
        : `Buyer A (user ${a.user_id}) found ${count(x)} and left ${count(a.remaining)}, buyer B (user ${b.user_id}) found ${count(y)} and left ${count(b.remaining)}: unit ${count(unit)} is sold twice.`;
    },
    below: ({ orders: [o] }) => `When the deduction of buyer A (user ${o.user_id}) ran, ${count(o.remaining + o.quantity)} were left, and it took ${count(o.quantity)}: its check had seen an older number.`,
    drawn: 'What each buyer found and left; which of them wrote first is not known', user: (name) => `buyer ${name}`, stock: 'stock', looks: 'looks',
    reads: (n) => `finds ${count(n)}`, writes: (n) => `leaves ${count(n)}`, takes: (n) => `takes ${count(n)}`, leaves: (n) => `${count(n)} left`,
    play: 'Play it step by step', run: (name) => `Run one that holds: ${name}`, both: 'Run both side by side',
  },
  /** An order that broke a rule: the judge's own words. */
  example: (text, _said) => text,
  blocked: {
    title: 'Who died with what',
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
    waits: ({ asked, left, longest_ms: longest }) =>
      `${plural(asked, 'call')} asked for it in vain for ${(longest / 1000).toFixed(1)} s, while at least ${plural(left, 'unit')} ${left === 1 ? 'was' : 'were'} left`,
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
    copies: (n) => `${plural(n, 'request')} sent twice, as a double click does`, retries: (n) => `${plural(n, 'request')} sent again after no answer`,
    cancelled: (n) => `${plural(n, 'order')} cancelled again`,
    fault: (what, at) => `${what}, at ${(at / 1000).toFixed(1)} s`,
    noFault: 'no fault: nothing was killed, paused or cut off',
    harmless: (n) => `${plural(n, 'fault')} at a moment when it could not do harm`,
    breaks: 'What would break it',
    had: ' (this run had such a fault)',
    chips: 'The proof found it: select one to see it step by step.',
    none: (all, some) => `Nothing that is known. The proof tried every schedule for ${plural(all, 'question')}, and many for ${count(some)} more.`,
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
      late: ({ p99_ms: p99 }, { late_ms: limit }) => `1 of 100 answers took longer than ${seconds(p99)}, and ${seconds(limit)} are allowed`,
      uncertain: ({ errors, unknown, of }) => `${count(errors + unknown)} of ${plural(of, 'buyer')} have no certain answer: ${plural(errors, 'error')}, ${count(unknown)} unknown`,
      unsold: ({ sold, of }) => `Only ${count(sold)} of ${plural(of, 'unit')} that buyers asked for were sold`,
    },
    right: 'Right: nothing was oversold, lost or invented, by the ledger and by what every buyer was told.',
    served: ({ late_ms: late, uncertain, sold }) => `Served: the sale never stood still for longer than a wait and a lease while buyers asked for units that were there, `
      + `99 of 100 answers came within ${seconds(late)}, at most ${percent(uncertain)} of the buyers ended without a certain answer, and at least ${percent(sold)} of the units that were there and asked for were sold.`,
  },
  series: {
    title: (n) => `${plural(n, 'run')} of this sale, each reset and with other buyers`,
    share: (verdict, n, of, low, high) => `${count(n)} of ${count(of)} ${{ not_valid: 'not valid' }[verdict] ?? verdict} (${low}–${high} %)`,
    first: 'The first is on.',
    interval: 'In brackets: where the true rate lies, with a confidence of 95 % (Wilson score). Runs that are not valid prove nothing and do not count.',
    ended: { stopped: 'Stopped before the last.', time: 'Ended before the last: a series goes on for ten minutes.', failed: 'Ended before the last: a run could not be started.' },
    place: (n, word) => `Run ${n}: ${word}`, none: 'not yet',
  },
  share: {
    again: 'To repeat it', withoutFaults: 'the command has no faults: those happen in the Lab only',
    ranOn: 'Version and machine', machine: (n) => plural(n, 'processor'),
  },
  of: (sku, sentence) => `SKU ${sku}: ${sentence}`,
};
