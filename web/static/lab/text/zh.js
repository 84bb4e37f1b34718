// What the judge found, in Chinese: by rule, from its numbers.
import { count } from '../../ui.js';

const at = (service) => `服务进程 ${service}`;

export default {
  /** 为什么这次运行什么也证明不了，按压测器给的代码。 */
  causes: {
    ledger_unread: ({ error }) => `账本读不出来：${error}`,
    still_running: ({ seconds }) => `抢购结束 ${count(seconds)} 秒后，仍有没得到答复的购买在进行，所以账本读得太早。`,
    other_strategy: ({ count: n, found, strategy }) => `有 ${count(n)} 份订单是策略 ${found} 写的，而不是 ${strategy}。`,
    target_unusable: ({ target, error }) => `${target} 用不了：${error}`,
    not_reset: ({ sku, error }) => `SKU ${sku} 重置不了：${error}`,
    strategies_unread: ({ target, error }) => `${target} 没有说它有哪些策略：${error}`,
    stock_unread: ({ sku, where, error }) => `从 ${where} 读不到 SKU ${sku}：${error}`,
    ledgers_disagree: ({ target, sku, stock, run, where, left, found, found_run }) => `${target} 在第 ${run} 轮把 SKU ${sku} 重置为 ${count(stock)} 件，${where} 却说是第 ${found_run} 轮，${count(found)} 件中剩 ${count(left)} 件。它们用的是同一个数据库吗？`,
    interrupted: ({ sent, of }) => `${count(of)} 位买家中只来了 ${count(sent)} 位就中断了。`,
    generator_late: ({ lag_ms: lag, latency_ms: latency }) => `压测器成了瓶颈：请求最多（p99）比该发的时刻晚 ${lag.toFixed(1)} 毫秒才发出，而延迟一共才 ${latency.toFixed(1)} 毫秒。请给它单独的机器，或者降低速率。`,
    generator_full: ({ used, of }) => `压测器成了瓶颈：${count(of)} 个处理器它用掉了 ${used.toFixed(1)} 个。请多给一些，或者换一个慢些的服务。`,
    never_sent: ({ count: n, seconds }) => `最后一个请求该发的时刻过去 ${count(seconds)} 秒后，仍有 ${count(n)} 个请求没有发出：服务跟不上，测得的延迟里缺了最差的那些。`,
    no_answer: () => '没有一位买家得到确定的答复。',
    nonsense: ({ count: n, sample }) => `有 ${count(n)} 个答复不符合服务的约定：${sample}`,
  },
  /** 为什么这里做不到某种故障，按实验室给的代码。 */
  lacks: {
    windows_pause: () => 'Windows 不能暂停一个进程。',
    no_fault_points: ({ process }) => `${process} 启动时没有带 --fault-points。`,
    long_folder: ({ folder }) => `文件夹 ${folder} 的路径太长，放不下 Unix 套接字，服务进程就没有故障点。请用短一些的路径启动实验室：seckill up --folder。`,
    no_server: ({ name }) => `实验室里没有 ${name}。`,
    given_server: ({ name, address }) => `${address} 上的 ${name} 是别人给的，实验室不能弄坏它。`,
    embedded_server: ({ name }) => `${name} 是嵌在实验室里的。请装一个真的服务器，启动实验室时不要带 --embedded。`,
    cluster_server: ({ name }) => `这里的 ${name} 是集群，而这种故障针对单台服务器。请用 --topology single 启动实验室。`,
  },
  faults: {
    none: '都是真实的故障，只发生在实验室自己的进程上，运行结束时全部复原。',
    unavailable: (kind) => `${kind}：这里不行`,
    hints: {
      pause_holder: '持锁的进程在提交之前停住不动，直到租约过后。',
      hang_holder: '持锁的那次购买停住不动，它的进程照常运行、照常续约。',
      kill_holder: '持锁的进程在读与写之间被杀死。',
      cut_holder: '持锁的进程失去所有连接，或者失去它的 ZooKeeper 会话。',
      pause_service: '进程停住不动，就像一次漫长的垃圾回收，它自己并不知道。',
      kill_service: '进程没了，手头的事也跟着没了。',
      restart_redis: '回来时数据已经没了。',
      cut_zookeeper_session: 'ZooKeeper 结束这个服务的会话，它的锁也就没了。',
    },
    past: ({ kind, service }) => ({
      pause_holder: `持锁者被暂停，${at(service)}`, hang_holder: `持锁者被挂起，${at(service)}`,
      kill_holder: `持锁者被杀死，${at(service)}`, cut_holder: `持锁者被切断，${at(service)}`,
      pause_service: `服务进程 ${service} 被暂停`, kill_service: `服务进程 ${service} 被杀死`,
      restart_redis: 'Redis 重启，数据丢失', cut_zookeeper_session: `服务进程 ${service} 的 ZooKeeper 会话被切断`,
    })[kind] ?? kind,
    /** @param {Json.Fault} fault */
    when: ({ state, at_ms: at, until_ms: until = 0, kind, effect }) => {
      const from = `${(at / 1000).toFixed(1)} 秒`;
      if (state === 'planned') return `定在第 ${from}`;
      if (state === 'failed') return '没有发生';
      if (state === 'waiting') return `从第 ${from}起等待持锁者`;
      if (state === 'on') return `从第 ${from}起`;
      if (effect && !effect.took_effect) return `第 ${from}`;
      if (kind.startsWith('kill')) return `第 ${from}，直到结束`;
      return until - at > 100 ? `第 ${from}到第 ${(until / 1000).toFixed(1)} 秒` : `第 ${from}`;
    },
  },
  effects: {
    colon: '：', stop: '。', semicolon: '；',
    says: { bit: '起了作用', harmless: '起了作用，但不可能有影响', void: '没有起作用' },
    why: {
      no_units: '当时已经没有库存', idle: '这个进程当时没有正在进行的购买',
      no_point: '这个策略写之前不读，它的购买没有这样一个点',
      nobody_came: '直到运行结束也没有购买走到这个点', went_on: '它提前结束了',
      data_kept: '服务器回来时数据还在',
    },
    holder: (h, point) => `截住的是用户 ${h.user_id} 的购买，停在${{ 'before-commit': ' COMMIT 之前' }[point] ?? '读与写之间'}${h.lock_key ? `，持有 ${h.lock_key}` : ''}`,
    stood: (ms) => `停住了 ${(ms / 1000).toFixed(1)} 秒`,
    left: (n) => `就在那之前还剩 ${count(n)} 件`,
    inFlight: (n) => `这个进程里有 ${count(n)} 次购买正在进行`,
    goesOn: '还在继续。',
  },
  /** @type {Record<string, string | ((p: Record<string, any>) => string)>} */
  broken: {
    oversold: ({ sold, stock }) => `库存 ${count(stock)} 件，却卖出了 ${count(sold)} 件：多卖 ${count(sold - stock)} 件。`,
    negative_stock: ({ left }) => `库存变成了 ${count(left)}。`,
    lost_update: ({ left, sold, stock }) =>
      `剩余 ${count(left)} + 已售 ${count(sold)} = ${count(left + sold)}，比原有的 ${count(stock)} 件多出 ${count(left + sold - stock)} 件：有扣减被覆盖，或者同一件退还了两次。`,
    lost_units: ({ left, sold, stock }) =>
      `剩余 ${count(left)} + 已售 ${count(sold)} = ${count(left + sold)}，比原有的 ${count(stock)} 件少了 ${count(stock - left - sold)} 件：库存没了，却没有对应的订单。`,
    bought_twice: '有用户同时持有不止一个有效订单。',
    bad_order: '有不可能存在的订单：数量不足一件，或者状态未知。',
    missing_order: '买家被告知已购得，账本里却没有对应的订单。',
    wrong_receipt: '账本里的订单与告知买家的内容不一致。',
    unacknowledged_order: '买家被告知没买到，账本里却有他的订单。',
    invented_order: '账本里有本次运行中没有任何买家请求过的订单。',
    undersold: ({ wanted, left }) =>
      `${wanted ? `想买 ${count(wanted)} 件的` : ''}买家被告知售罄，可直到最后至少还有 ${count(left)} 件。`,
    nothing_sold: ({ requests, stock }) => `库存 ${count(stock)} 件，请求 ${count(requests)} 次，却什么也没卖出。`,
    initial_changed: ({ initial, run, found, found_run: foundRun }) =>
      `销售被别人重置了：第 ${run} 次运行设定的库存是 ${count(initial)} 件，账本里却是第 ${foundRun} 次运行的 ${count(found)} 件。`,
    mixed_homes: '同一次运行里，参与销售的策略把库存放在了不同的地方。',
    straggler: ({ run }) => `有订单不属于第 ${run} 次运行。`,
    unknown_home: ({ home }) => `读不出 ${home} 里还剩多少库存。`,
    counter_and_row_differ: ({ home, counted, row }) => `${home} 记着剩 ${count(counted)} 件，库存行记着剩 ${count(row)} 件。`,
    unused_counter_changed: ({ home, stock, counted }) =>
      `${home} 设定为 ${count(stock)}，现在是 ${count(counted)}，可本次运行没有订单从它卖出。`,
    fewer_than_told: ({ told, sold }) => `告知买家已售 ${count(told)} 件，实际只卖出 ${count(sold)} 件：少了 ${count(told - sold)} 件。`,
    more_than_told: ({ sold, told, unknown }) =>
      `卖出了 ${count(sold)} 件，而告知买家的连同 ${count(unknown)} 件结果不明的，最多只有 ${count(told)} 件：多了 ${count(sold - told)} 件。`,
    two_answers: '同一请求得到了两次确认，内容却不同。',
    key_refused: '有的请求已经有了订单，它的副本或重发却被拒绝。',
    false_duplicate: '买家被告知已有订单，其实一个也没有。',
    not_cancelled: ({ told, back } = {}) => (told === undefined
      ? '买家被告知取消成功，取消却没有发生。'
      : `买家被告知退还了 ${count(told)} 件，实际只退还了 ${count(back)} 件：少了 ${count(told - back)} 件。`),
    cancelled_unasked: ({ told, back } = {}) => (told === undefined
      ? '订单被取消了，买家却没有取消过。'
      : `退还了 ${count(back)} 件，而买家要求退还的最多只有 ${count(told)} 件：多了 ${count(back - told)} 件。`),
  },
  of: (sku, sentence) => `SKU ${sku}：${sentence}`,
};
