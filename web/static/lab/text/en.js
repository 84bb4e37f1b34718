// What the judge found, in English: by rule, from its numbers.
import { count } from '../../ui.js';

const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

const at = (service) => `in service process ${service}`;

export default {
  /** Why a run proves nothing, by the generator’s codes. */
  causes: {
    ledger_unread: ({ error }) => `The ledger could not be read: ${error}`,
    still_running: ({ seconds }) => `Purchases without an answer were still running ${count(seconds)} s after the storm, so the ledger was read too early.`,
    other_strategy: ({ count: n, found, strategy }) => `${plural(n, 'order')} written by the strategy ${found} instead of ${strategy}.`,
    target_unusable: ({ target, error }) => `${target} cannot be used: ${error}`,
    not_reset: ({ sku, error }) => `SKU ${sku} could not be reset: ${error}`,
    strategies_unread: ({ target, error }) => `${target} does not tell its strategies: ${error}`,
    stock_unread: ({ sku, where, error }) => `SKU ${sku} cannot be read from ${where}: ${error}`,
    ledgers_disagree: ({ target, sku, stock, run, where, left, found, found_run }) => `${target} reset SKU ${sku} to ${count(stock)} units in run ${run}, but ${where} says ${count(left)} of ${count(found)} units in run ${found_run}. Do they share a database?`,
    interrupted: ({ sent, of }) => `Interrupted after ${count(sent)} of ${plural(of, 'buyer')}.`,
    generator_late: ({ lag_ms: lag, latency_ms: latency }) => `The generator was the bottleneck: it sent requests up to ${lag.toFixed(1)} ms (p99) after they were due, of a latency of ${latency.toFixed(1)} ms. Give it a machine of its own, or a lower rate.`,
    generator_full: ({ used, of }) => `The generator was the bottleneck: it used ${used.toFixed(1)} of ${plural(of, 'processor')}. Give it more, or a slower service.`,
    never_sent: ({ count: n, seconds }) => `${plural(n, 'request')} never sent, ${count(seconds)} s after the last was due: the service cannot keep up, and the latencies lack the worst.`,
    no_answer: () => 'No buyer got a definite answer.',
    nonsense: ({ count: n, sample }) => `${plural(n, 'answer')} not what the service’s contract allows: ${sample}`,
  },
  /** Why a fault cannot be had here, by the lab’s codes. */
  lacks: {
    windows_pause: () => 'Windows cannot pause a process.',
    no_fault_points: ({ process }) => `${process} was started without --fault-points.`,
    long_folder: ({ folder }) => `The path of the folder ${folder} is too long for the Unix sockets at which services take faults. Start the lab with a shorter one: seckill up --folder.`,
    no_server: ({ name }) => `The lab has no ${name}.`,
    given_server: ({ name, address }) => `${name} at ${address} was given, and is not the lab’s to break.`,
    embedded_server: ({ name }) => `${name} is embedded in the lab. Install a server, and start the lab without --embedded.`,
    cluster_server: ({ name }) => `${name} is a Cluster here, and this fault is of one server. Start the lab with --topology single.`,
  },
  faults: {
    none: 'Real faults, on the lab’s own processes. They are undone when the run ends.',
    unavailable: (kind) => `${kind}: not here`,
    hints: {
      pause_holder: 'The process that holds the lock stands still before it commits, past the lease.',
      hang_holder: 'The purchase that holds the lock stands still; its process goes on and renews.',
      kill_holder: 'The process that holds the lock is killed between its read and its write.',
      cut_holder: 'The process that holds the lock loses its connections, or its ZooKeeper session.',
      pause_service: 'The process stands still, as in a long garbage collection. It does not know.',
      kill_service: 'The process is gone, with whatever it was doing.',
      restart_redis: 'It comes back without its data.',
      cut_zookeeper_session: 'ZooKeeper ends the session of this service: its locks are gone.',
    },
    past: ({ kind, service }) => ({
      pause_holder: `Holder paused, ${at(service)}`, hang_holder: `Holder hung, ${at(service)}`,
      kill_holder: `Holder killed, ${at(service)}`, cut_holder: `Holder cut off, ${at(service)}`,
      pause_service: `Service process ${service} paused`, kill_service: `Service process ${service} killed`,
      restart_redis: 'Redis restarted, without its data', cut_zookeeper_session: `ZooKeeper session of service process ${service} cut`,
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
    colon: ': ', stop: '.', semicolon: '; ',
    says: { bit: 'It took effect', harmless: 'It took effect, and could not matter', void: 'It took no effect' },
    why: {
      no_units: 'no units were left', idle: 'the process had no purchase under way',
      no_point: 'this strategy writes without a read before it, so its purchases have no such point',
      nobody_came: 'no purchase reached the point before the run ended', went_on: 'it ended before it should have',
      data_kept: 'the server came back with its data',
    },
    holder: (h, point) => `it caught the purchase of user ${h.user_id} ${{ 'before-commit': 'before its COMMIT' }[point] ?? 'between its read and its write'}${h.lock_key ? `, holding ${h.lock_key}` : ''}`,
    stood: (ms) => `it stood still for ${(ms / 1000).toFixed(1)} s`,
    left: (n) => `${plural(n, 'unit')} left just before`,
    inFlight: (n) => `${plural(n, 'purchase')} under way in that process`,
    goesOn: 'It goes on.',
  },
  /** @type {Record<string, string | ((p: Record<string, any>) => string)>} */
  broken: {
    oversold: ({ sold, stock }) => `${count(sold)} units sold out of ${count(stock)}: ${count(sold - stock)} too many.`,
    negative_stock: ({ left }) => `The stock is ${count(left)}.`,
    lost_update: ({ left, sold, stock }) =>
      `${count(left)} left + ${count(sold)} sold = ${count(left + sold)}, ${count(left + sold - stock)} more than the ${count(stock)} there were: deductions were overwritten, or units given back twice.`,
    lost_units: ({ left, sold, stock }) =>
      `${count(left)} left + ${count(sold)} sold = ${count(left + sold)}, ${count(stock - left - sold)} fewer than the ${count(stock)} there were: units vanished without an order.`,
    bought_twice: 'Users with more than one active order.',
    bad_order: 'Orders that cannot be: no units, or an unknown state.',
    missing_order: 'Sales that buyers were told of and the ledger does not have.',
    wrong_receipt: 'Sales that the ledger has otherwise than the buyer was told.',
    unacknowledged_order: 'Orders of buyers who were told that they got nothing.',
    invented_order: 'Orders that no buyer of this run asked for.',
    undersold: ({ wanted, left }) =>
      `Buyers ${wanted ? `who wanted ${count(wanted)} ` : ''}were told sold out while at least ${plural(left, 'unit')} stayed to the end.`,
    nothing_sold: ({ requests, stock }) => `${plural(requests, 'request')} for a stock of ${count(stock)}, and nothing was sold.`,
    initial_changed: ({ initial, run, found, found_run: foundRun }) =>
      `Somebody else reset the sale: it was set to ${count(initial)} units in run ${run}, the ledger says ${count(found)} in run ${foundRun}.`,
    mixed_homes: 'Strategies that keep their stock in different places sold in one run.',
    straggler: ({ run }) => `Orders of other runs than ${run}.`,
    unknown_home: ({ home }) => `What is left in ${home} could not be read.`,
    counter_and_row_differ: ({ home, counted, row }) => `${home} says that ${count(counted)} are left, the stock row says ${count(row)}.`,
    unused_counter_changed: ({ home, stock, counted }) =>
      `${home} was set to ${count(stock)} and says ${count(counted)}, but no order of this run was sold from there.`,
    fewer_than_told: ({ told, sold }) => `Buyers were told of ${count(told)} units sold, and ${count(sold)} were: ${count(told - sold)} fewer.`,
    more_than_told: ({ sold, told, unknown }) =>
      `${count(sold)} units were sold, and buyers were told of ${count(told)} at most, with ${count(unknown)} whose outcome is unknown: ${count(sold - told)} more.`,
    two_answers: 'Requests that were acknowledged twice, with different answers.',
    key_refused: 'Requests that have an order and were refused in a copy, or when they were sent again.',
    false_duplicate: 'Buyers who were told that they have an order already, and had none.',
    not_cancelled: ({ told, back } = {}) => (told === undefined
      ? 'Cancellations that buyers were told of and that did not take place.'
      : `Buyers were told of ${plural(told, 'unit')} given back, and ${count(back)} were: ${count(told - back)} fewer.`),
    cancelled_unasked: ({ told, back } = {}) => (told === undefined
      ? 'Cancelled orders that their buyers did not cancel.'
      : `${plural(back, 'unit')} were given back, and buyers asked for ${count(told)} at most: ${count(back - told)} more.`),
  },
  of: (sku, sentence) => `SKU ${sku}: ${sentence}`,
};
