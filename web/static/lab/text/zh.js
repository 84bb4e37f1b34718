// 故障与结论的文字（中文），按代码和规则。键与 ../text.js 相同。
import { count } from '../../ui.js';

const buyer = (name) => name.replace(/^user /, '用户 ');
const state = (s) => ({ active: '有效', cancelled: '已取消', expired: '已过期' }[s] ?? `“${s}”`);

/** 没有先后顺序能解释答复的原因。 */
const unexplained = {
  left: (p) => `${buyer(p.name)} 买了 ${count(p.quantity)} 件，被告知还剩 ${count(p.left)} 件，而那时库存是 ${count(p.there)} 件。`,
  beyond: (p) => `库存只有 ${count(p.there)} 件，${buyer(p.name)} 却买到了 ${count(p.quantity)} 件。`,
  early: (p) => `${buyer(p.name)} 得到答复（还剩 ${count(p.left)} 件）${p.ms} 毫秒之后，${buyer(p.before)} 才提出请求，可先卖出的却是后者的库存。`,
  sold_out: (p) => `${buyer(p.name)} 想买 ${count(p.quantity)} 件，被告知售罄，可直到最后还剩 ${count(p.left)} 件。`,
  sold_out_early: (p) => `${buyer(p.name)} 想买 ${count(p.quantity)} 件，被告知售罄，比库存真正不足早了 ${p.ms} 毫秒。`,
  window: (p) => `前 ${count(p.operations)} 次操作得到的答复，没有一种先后顺序能全部解释。`,
};

/** 违反规则的订单。 */
const cases = {
  order: (p) => `第 ${p.run} 场，用户 ${p.user} 的订单 ${p.order}：${count(p.quantity)} 件，被告知剩 ${count(p.left)} 件，${state(p.state)}，由 ${p.strategy} 卖出`,
  beyond: (p) => `用户 ${p.user} 的订单 ${p.order} 卖出第 ${count(p.from)}${p.to > p.from ? ` 到第 ${count(p.to)}` : ''} 件，而库存只有 ${count(p.stock)} 件`,
  twice: (p) => `订单 ${p.order} 和 ${p.other} 都卖出了第 ${count(p.unit)} 件：一个被告知剩 ${count(p.left)} 件，另一个剩 ${count(p.other_left)} 件`,
  request: (p) => `用户 ${p.user}，请求 ${p.request}`,
  restock: (p) => `补货 ${p.request}：${count(p.quantity)} 件`,
};
/** 这次运行为什么无效，按压测器的代码。 */
const problems = {
  ledger_unread: ({ error }) => `账本读不出来：${error}`,
  still_running: ({ seconds }) => `压测结束 ${count(seconds)} 秒后，仍有没得到答复的购买在进行，所以账本读得太早。`,
  other_strategy: ({ count: n, found, strategy }) => `有 ${count(n)} 份订单由策略 ${found} 写入，而不是 ${strategy}。`,
  target_unusable: ({ target, error }) => `${target} 不可用：${error}`,
  ledgers_disagree: ({ target, sku, stock, run, where, left, found, found_run }) => `${target} 在第 ${run} 场把 SKU ${sku} 重置为 ${count(stock)} 件，${where} 却说是第 ${found_run} 场，${count(found)} 件中剩 ${count(left)} 件。它们用的是同一个数据库吗？`,
  interrupted: ({ sent, of }) => `${count(of)} 位买家中只到了 ${count(sent)} 位就中断了。`,
  generator_late: ({ lag_ms: lag, latency_ms: latency }) => `压测器成了瓶颈：请求比应发时刻最多晚 ${lag.toFixed(1)} 毫秒（p99）才发出，而延迟一共才 ${latency.toFixed(1)} 毫秒。请给它单独的机器，或者降低速率。`,
  generator_full: ({ used, of }) => `压测器成了瓶颈：${count(of)} 个处理器它用掉了 ${used.toFixed(1)} 个。请增加处理器，或者降低速率。`,
  never_sent: ({ count: n, seconds }) => `最后一个请求的应发时刻过去 ${count(seconds)} 秒后，仍有 ${count(n)} 个请求没有发出：服务跟不上，测得的延迟里缺了最差的那些。`,
  no_answer: () => '没有一位买家得到确定的答复。',
  few_answers: ({ answered, of }) => `${count(of)} 位买家中只有 ${count(answered)} 位得到确定的答复，而库存还有剩余：根本不可能超卖。`,
  not_restocked: ({ units, error }) => `补货 ${count(units)} 件没有得到确认：${error}`,
  nonsense: ({ count: n, sample }) => `有 ${count(n)} 个答复不符合服务的约定：${sample}`,
};
/** 某种故障在这里为什么不可用，按实验室的代码。 */
const lacks = {
  no_server: ({ name }) => `${name} 不是实验室自己启动的单台服务器，而实验室只破坏自己的服务器。请安装它，启动实验室时不要给出它的地址，也不要带 --embedded 和 --topology。`,
  given_server: ({ name }) => `${name} 是给定的，而实验室只破坏自己启动的服务器。请在装有它的机器上启动实验室，不要给出它的地址，例如 make demo。`,
  no_link: ({ name }) => `这个实验室的服务进程直接连接 ${name}。seckill chaos 启动的实验室在中间加了可控的连接。`,
  other_topology: ({ name, topology }) => `实验室里的 ${name} 不是由一台领导的多台服务器。请用 --topology ${topology} 启动实验室。`,
};
/** @type {Record<string, string | ((p: Record<string, any>) => string)>} */
const broken = {
  oversold: ({ sold, stock }) => `库存 ${count(stock)} 件，却卖出了 ${count(sold)} 件：多卖 ${count(sold - stock)} 件。`,
  negative_stock: ({ left }) => `库存变成了 ${count(left)}。`,
  lost_update: ({ left, sold, stock }) =>
    `剩余 ${count(left)} + 已售 ${count(sold)} = ${count(left + sold)}，比原有的 ${count(stock)} 件多出 ${count(left + sold - stock)} 件：有扣减被覆盖，或者库存退还了两次。`,
  lost_units: ({ left, sold, stock }) =>
    `剩余 ${count(left)} + 已售 ${count(sold)} = ${count(left + sold)}，比原有的 ${count(stock)} 件少了 ${count(stock - left - sold)} 件：库存消失了，却没有对应的订单。`,
  bought_twice: '有用户同时持有不止一个有效订单。',
  bad_order: '有不可能存在的订单：数量不足一件，或者状态未知。',
  missing_order: '买家被告知购买成功，账本里却没有对应的订单。',
  wrong_receipt: '账本里的订单与告知买家的内容不一致。',
  unacknowledged_order: '买家被告知没有买到，账本里却有对应的订单。',
  invented_order: '账本里有本次运行中没有任何买家请求过的订单。',
  undersold: ({ left }) => `买家被告知售罄，可直到最后至少还有 ${count(left)} 件。`,
  nothing_sold: ({ requests, stock }) => `库存 ${count(stock)} 件，请求 ${count(requests)} 次，却什么也没卖出。`,
  initial_changed: ({ initial, run, found, found_run: foundRun }) =>
    `销售被别的客户端重置了：第 ${run} 场设定的库存是 ${count(initial)} 件，账本里却是第 ${foundRun} 场的 ${count(found)} 件。`,
  mixed_stocks: '同一次运行里，参与销售的策略把库存放在了不同的地方。',
  straggler: ({ run }) => `有订单不属于第 ${run} 场。`,
  unknown_stock: ({ store }) => `读不出 ${store} 里还剩多少库存。`,
  counter_and_row_differ: ({ store, counted, row }) => `${store} 记着剩 ${count(counted)} 件，库存行记着剩 ${count(row)} 件。`,
  unused_counter_changed: ({ store, stock, counted }) =>
    `${store} 设定为 ${count(stock)}，现在是 ${count(counted)}，可本次运行没有订单从它卖出。`,
  key_refused: '有的请求已经有了订单，重复的请求却被拒绝。',
  false_duplicate: '买家被告知已有订单，其实一个也没有。',
  lost_request: '请求已受理，最后既没有订单，也没有被拒绝。',
  not_cancelled: '买家被告知取消成功，取消却没有发生。',
  paid_released: '预留已经付款，库存却被退回。',
  paid_late: '截止时间之后，付款仍然成功。',
  not_paid: '买家被告知付款成功，账本里却没有。',
  paid_unasked: '预留已付款，买家却没有付过。',
  expired_early: '预留还没到期，付款却被答复为过期。',
  expired_held: '预留已经过期，却还占着库存。',
  released_twice: '预留退回的比它占的多。',
  restock_differs: '补货被答复为成功，库存却没有到；或者没有人要求过的补货。',
  sold_before_restock: '补货之前库存已经不够，却仍然卖出：有订单被告知剩余少于 0 件。',
  not_linearizable: (p) => unexplained[p.case]?.(p) ?? '没有一种先后顺序能解释买家得到的全部答复。',
  cancelled_unasked: '订单被取消了，买家却没有取消过。',
};

const seconds = (ms) => `${(ms / 1000).toFixed(1)} 秒`;
const percent = (share) => `${count(100 * share)}%`;

export default {
  /** 这次运行为什么无效，按压测器的代码。 */
  problem: ({ text, code, params }) => problems[code]?.(params ?? {}) ?? text,
  /** 某种故障在这里为什么不可用，按实验室的代码。 */
  lack: (said, lack) => lacks[lack?.code]?.(lack.params ?? {}) ?? said,
  /**
   * 违反了什么规则；没有译文或缺少数字时用裁判的原话。
   * @param {Json.Violation} violation
   */
  broken: ({ rule, message, params }) => {
    const sentence = broken[rule];
    if (!sentence || (typeof sentence === 'function' && sentence.length > 0 && !params)) return message;
    return (params?.sku ? `SKU ${params.sku}：` : '') + (typeof sentence === 'function' ? sentence(params ?? {}) : sentence);
  },
  faults: {
    none: '都是真实的故障，只作用于实验室自己的进程，运行结束时全部恢复。',
    elsewhere: (n) => `另有 ${count(n)} 种故障需要其他服务器`,
    hints: {
      pause_holder: '持有锁的进程在 COMMIT 之前暂停，直到租约结束之后。',
      hang_holder: '持有锁的那次购买卡住，它的进程照常运行，照常续期。',
      kill_holder: '持有锁的进程在读与写之间被杀死。',
      cut_holder: '持有锁的进程失去所有连接，后端绑在连接上的状态也随之结束。',
      pause_service: '进程暂停，就像一次漫长的垃圾回收，它自己并不知道。',
      kill_service: '进程被杀死，正在做的事也随之丢失。',
      restart_redis: 'Redis 重启后没有数据。',
      pause_redis: 'Redis 暂停：不再应答，租约照样到期。',
      pause_redlock: '五台互相独立的 Redis 中的一台挂起：照样接受连接，但不再应答，直到它恢复运行。',
      lose_redlock: '五台互相独立的 Redis 中的一台被杀死，回来时没有数据。',
      restart_mysql: 'MySQL 被杀死，带着数据恢复。没有收到应答的 COMMIT 可能已经生效。',
      pause_mysql: 'MySQL 暂停。这期间收到的语句在它继续之后执行。',
      restart_zookeeper: 'ZooKeeper 被杀死，带着数据重新启动。',
      restart_etcd: 'etcd 被杀死，带着数据重新启动。',
      lose_zookeeper: '三台 ZooKeeper 中的领导者被杀死，另外两台选出新的领导者。',
      lose_etcd: '三台 etcd 中的领导者被杀死，另外两台选出新的领导者。',
      lock_row_mysql: '另一个会话占住这一行，超过语句的等待上限（错误 1205）。',
      failover_redis: '复制停止；随后主节点死亡，哨兵把一个缺少最后几次写入的从节点提升为主节点。',
      lose_shard: '这场销售用到的 Redis 分片被杀死，回来时没有数据。',
      lose_mysql: '服务进程 1 所写的数据库节点被杀死，该进程被引到另一个节点。',
      partition_redis: '一个服务进程与 Redis 互相不可达。',
      partition_zookeeper: '一个服务进程与 ZooKeeper 互相不可达。',
      partition_etcd: '一个服务进程与 etcd 互相不可达。',
      lose_replies_redis: 'Redis 执行了一个服务进程的请求，但应答丢失。',
      lose_replies_mysql: 'MySQL 执行了一个服务进程的请求，但应答丢失。',
    },
    /** @param {Json.Fault} fault */
    when: ({ state, at_ms: at, until_ms: until = 0, kind, effect }) => {
      const from = `${(at / 1000).toFixed(1)} 秒`;
      if (state === 'planned') return `计划在第 ${from}`;
      if (state === 'failed') return '没有发生';
      if (state === 'waiting') return `从第 ${from}起等待持有者`;
      if (state === 'on') return `从第 ${from}起`;
      if (effect && !effect.took_effect) return `第 ${from}`;
      if (kind.startsWith('kill')) return `第 ${from}，直到结束`;
      return until - at > 100 ? `第 ${from}到第 ${(until / 1000).toFixed(1)} 秒` : `第 ${from}`;
    },
  },
  effects: {
    says: { bit: '已生效', harmless: '已生效，但不可能有影响', void: '没有生效' },
    why: {
      no_units: '当时已经没有库存', idle: '这个进程当时没有正在进行的购买',
      no_point: '这个策略写之前不读，它的购买没有这样的位置',
      not_reached: '直到运行结束也没有购买到达这个位置', went_on: '它提前结束了',
      data_kept: '服务器回来时数据还在', nothing_passed: '这期间什么也没有发送', not_met: '没有命令需要等待',
    },
    holder: (h, point) => `命中用户 ${h.user_id} 的购买，停在${{ 'before-commit': ' COMMIT 之前' }[point] ?? '读与写之间'}${h.lock_key ? `，持有 ${h.lock_key}` : ''}`,
    stood: (ms) => `停住了 ${(ms / 1000).toFixed(1)} 秒`,
    left: (n) => `在那之前还剩 ${count(n)} 件`,
    inFlight: (n) => `这个进程里有 ${count(n)} 次购买正在进行`,
    goesOn: '仍在生效。',
  },
  why: {
    title: '怎么出的错：本场的两张订单', after: (fault) => `怎么出的错：${fault}`,
    /** @param {Json.Fault} fault @param {{orders: {user_id: number}[], unit?: number}} witness */
    frozen: ({ service, at_ms: at, effect }, { orders, unit }) => {
      const [a, b] = orders[0].user_id === effect?.holder?.user_id ? ['A', 'B'] : ['B', 'A'];
      return `第 ${(at / 1000).toFixed(1)} 秒，服务进程 ${service} 正为买家 ${a} 持有锁${effect?.holder?.lock_key ? ` ${effect.holder.lock_key}` : ''}，这时被冻结${effect?.stood_ms ? `了 ${(effect.stood_ms / 1000).toFixed(1)} 秒` : ''}。租约到期，买家 ${b} 拿到了锁。随后它醒来，以为自己还持有锁，照样写入${unit ? `：第 ${count(unit)} 件卖了两次` : ''}。`;
    },
    struck: (fault, at) => `第 ${(at / 1000).toFixed(1)} 秒：${fault}。`,
    twice: ({ orders: [a, b], unit }) => {
      const [x, y] = [a.remaining + a.quantity, b.remaining + b.quantity];
      return x === y && a.remaining === b.remaining
        ? `买家 A（用户 ${a.user_id}）和买家 B（用户 ${b.user_id}）扣减前都是 ${count(x)} 件，扣减后都剩 ${count(a.remaining)} 件：一次扣减丢了，第 ${count(unit)} 件卖了两次。`
        : `买家 A（用户 ${a.user_id}）扣减前有 ${count(x)} 件、之后剩 ${count(a.remaining)} 件，买家 B（用户 ${b.user_id}）扣减前有 ${count(y)} 件、之后剩 ${count(b.remaining)} 件：第 ${count(unit)} 件卖了两次。`;
    },
    below: ({ orders: [o] }) => `买家 A（用户 ${o.user_id}）扣减时只剩 ${count(o.remaining + o.quantity)} 件，还是扣了 ${count(o.quantity)} 件：检查时看到的是旧的数字。`,
    drawn: '每个买家扣减前后的库存；谁先写无从得知', user: (name) => `买家 ${name}`, stock: '库存', looks: '查看',
    reads: (n) => `扣减前 ${count(n)}`, writes: (n) => `扣减后 ${count(n)}`, takes: (n) => `扣减 ${count(n)}`, leaves: (n) => `剩 ${count(n)}`,
    play: '逐步播放', run: (name) => `换成不会超卖的：${name}`, both: '两个并排运行',
  },
  /** 违反规则的订单，按代码；旧的运行没有代码，显示原文。 */
  example: (text, said) => (said && cases[said.code]?.(said.params)) ?? text,
  blocked: {
    title: '谁死了，还占着什么',
    /** @param {Json.Fault} fault */
    died: ({ kind, service, at_ms: ms, effect }) => {
      const when = `第 ${(ms / 1000).toFixed(1)} 秒，`;
      const harm = { kill_holder: '被杀死', kill_service: '被杀死', cut_holder: '失去了连接' }[kind] ?? '停住了';
      if (!effect?.holder) {
        return `${when}服务进程 ${service} ${harm}，${effect?.in_flight === undefined ? '它的购买' : `${count(effect.in_flight)} 次购买`}正在进行，其中一次可能持有锁`;
      }
      return `${when}服务进程 ${service} ${harm}，用户 ${effect.holder.user_id} 的购买正在其中，${effect.holder.lock_key ? `持有锁 ${effect.holder.lock_key}` : '正要写库存'}`;
    },
    unknown: '本场的故障记录里看不出是谁的购买留下了锁',
    /** @param {Json.Served} served */
    waits: ({ longest_ms: longest }) => `此后 ${(longest / 1000).toFixed(1)} 秒里，买家白等这把锁，而库存还有剩余`,
    frees: {
      redislock: (key) => `要手动删除它的键，锁才会释放${key ? `：DEL ${key}` : ''}`,
      mysqllock: (key) => `要手动删除它的行${key ? ` ${key}` : ''}，锁才会释放`,
      other: () => '要手动清除死去的进程留下的东西，锁才会释放',
    },
    lookFor: '要手动清除占着它的东西，锁才会释放',
    over: ({ lease_ms: lease, wait_ms: wait }) => `买家等待的时间超过一次等待（${count(wait)} 毫秒）加一个租约（${count(lease)} 毫秒）：两者都不能让这把锁结束。`,
  },
  held: {
    title: '本场试过什么',
    buyers: (load, n) => `${load}，${count(n)} 个服务进程`,
    copies: (n) => `${count(n)} 次双击`, retries: (n) => `答复不明确后重试 ${count(n)} 次`,
    cancelled: (n) => `${count(n)} 个订单后来取消了`,
    fault: (what, at) => `第 ${(at / 1000).toFixed(1)} 秒：${what}`,
    noFault: '没有注入故障：没有杀死、暂停或切断什么',
    harmless: (n) => `${count(n)} 个故障发生在不会有影响的时刻`,
    breaks: '什么会打破它', thisTime: '这次没有出错。这些情况会让它出错：',
    had: '（本场有这样的故障）',
    chips: '点开一个，看它怎么发生。',
    none: (all, some) => `目前没有。证明对 ${count(all)} 个问题试遍了命令的每一种先后，另外 ${count(some)} 个问题试了很多种。`,
    cells: '看它的那一行。',
  },
  signs: {
    says: {
      right: { yes: '账对', no: '账不对', not_known: '账对不对：不明' },
      served: { yes: '服务到位', no: '服务不到位', not_known: '服务是否到位：不明' },
    },
    why: {
      right: { yes: '没有超卖，没有丢失，也没有凭空多出什么。', no: '账本是错的。', not_known: '这次运行证明不了什么。' },
      served: { yes: '买家及时得到了答复，货也卖出去了。', no: '', not_known: '看不出这场销售有没有停滞。' },
      useless: '答复来得及时，却是错的。',
    },
    /** @type {Record<string, (p: Record<string, number>, limits: Json.Signs['limits']) => string>} */
    short: {
      stood: ({ ms, allowed_ms: allowed }) => `销售停滞了 ${seconds(ms)}，允许的是 ${seconds(allowed)}`,
      late: ({ p99_ms: p99 }, { late_ms: limit }) => `每 100 个答复里有 1 个超过 ${seconds(p99)}，允许的是 ${seconds(limit)}`,
      uncertain: ({ errors, unknown, of }) => `${count(of)} 位买家中有 ${count(errors + unknown)} 位没有确定的答复：错误 ${count(errors)}，结果未知 ${count(unknown)}`,
      unsold: ({ sold, of }) => `买家想买的 ${count(of)} 件里只卖出 ${count(sold)} 件`,
    },
    right: '账对：依据账本和每个买家得到的答复来判断。',
    served: ({ late_ms: late, uncertain, sold }) => '服务到位：在有货、买家也在购买时，销售的停顿从不超过一次等待加一个租约；'
      + `100 个答复里有 99 个在 ${seconds(late)}内；没有确定答复的买家不超过 ${percent(uncertain)}；有货又有人买的，至少卖出 ${percent(sold)}。`,
  },
  share: {
    again: '重复这次运行', withoutFaults: '命令不含故障：故障只在“运行”页里发生',
    ranOn: '版本与机器', machine: (n) => `${count(n)} 个处理器`,
  },
};
