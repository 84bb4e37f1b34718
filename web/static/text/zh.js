// 页面上的全部文字（中文）。键与 en.js 相同。
import { count } from '../ui.js';

const pause = (ms) => (ms < 1000 ? `${ms.toFixed(0)} 毫秒` : `${(ms / 1000).toFixed(1)} 秒`);

/** 矩阵里问题的标题。 */
const questions = {
  oversell: '不超卖',
  'lost-update': '不丢失更新',
  processes: '跨进程',
  'dead-holder': '持有者死亡',
  'hung-holder': '持有者挂起',
  'lease-end': '租约在持有者手里到期',
  clocks: '时钟不一致',
  owner: '只有持有者能释放',
  'lost-reply': '答复丢失',
  'late-command': '命令迟到',
  renewal: '续期',
  cancel: '取消订单',
  reset: '重置与开售',
  'same-key': '幂等键',
  'two-faults': '两个故障',
  history: '可线性化',
  'other-skus': '不阻塞别的商品',
  waits: '怎样等待',
  order: '先到先得',
  reentrant: '可重入',
  'node-loss': '节点丢失',
};

export default {
  code: 'zh',
  name: 'seckill lab',
  what: '秒杀：几百件商品，成千上万的买家，挤在同一秒。选一种扣减库存的策略，对真实的数据库施加真实的负载，再从账本上检查有没有重复卖出。',
  skip: '跳到结果',
  footer: 'seckill lab',
  version: (v) => `版本 ${v}`,
  list: (names) => names.join('、'),
  lostConnection: '与实验室的连接断了，正在重连……',

  nav: {
    label: '页面',
    lab: '实验室', compare: '对比', trace: '轨迹', guarantees: '保证', lessons: '课程', shop: '商店',
    main: '跳到正文',
    language: 'English', languageHint: '用英文显示',
    theme: '主题', themes: { auto: '自动', light: '浅色', dark: '深色' },
    large: '大字', largeHint: '适合投影',
    loading: '正在加载……',
    failed: '这个页面加载失败：实验室没有响应。',
    again: '再试一次',
    unknown: (name) => `没有“${name}”这个页面。`,
    home: '回到实验室',
  },

  form: {
    title: '一场秒杀',
    stock: '库存', stockHint: '待售件数',
    quantity: '每人件数', quantityHint: '每个买家要买几件',
    profile: '到达节奏',
    profiles: {
      closed: { name: '闭环', hint: '并发固定：一个买家得到答复，下一个才来。' },
      spike: { name: '洪峰', hint: '所有买家在同一瞬间到达。' },
      constant: { name: '恒速', hint: '速率固定，不管答复多慢。' },
      ramp: { name: '爬坡', hint: '速率逐渐升高，不管答复多慢。' },
    },
    buyers: '买家', buyersHint: '每人买一次',
    concurrency: '并发', concurrencyHint: '同时下单的买家',
    rate: '速率', rateHint: '每秒到达的买家',
    to_rate: '升到', to_rateHint: '结束时每秒到达的买家',
    seconds: '持续', secondsHint: '秒',
    more: '更多：租约、进程、种子、故障',
    services: '服务进程', lease_ms: '租约（毫秒）', wait_ms: '等待（毫秒）', poll_ms: '轮询（毫秒）',
    servicesHint: '锁不续期时的有效时间、买家等锁的时间、两次尝试之间的停顿。留空则沿用现有的值；修改会重启服务进程。',
    seed: '种子', seedHint: '种子相同，买家就相同；留空则随机',
    run: '运行', stop: '停止', stopping: '正在停止……',
    copy: '复制这些设置的链接', copied: '已复制。', copyYourself: '浏览器不允许，请自己复制链接：',
    token: '令牌', tokenHint: '这个实验室启动时设了令牌',
    broken: '故意写错', unavailable: '不可用',
    noStrategies: '没有服务进程响应，没有策略可选。',
  },
  picker: {
    label: '策略', search: '搜索……', chosen: '已选的策略',
    hint: (most) => `最多 ${most} 个，并排运行。可按名称、思路、类别或保证搜索。`,
    found: (n, all) => (n === all ? `共 ${count(all)} 个策略` : `${count(all)} 个策略中的 ${count(n)} 个`),
    remove: (name) => `去掉 ${name}`, read: (name) => `${name} 的课程和源码`,
  },
  wrong: { token: '请填实验室启动时设的令牌。' },
  /** 实验室拒绝某项设置的原因，按代码。 */
  blamed: {
    range: ({ min, max }) => `请填 ${count(min)} 到 ${count(max)} 之间的整数。`,
    none: () => '请选一个策略。',
    too_many: ({ max }) => `最多 ${count(max)} 个。`,
    repeated: ({ name }) => `${name} 重复了。`,
    unknown_strategy: ({ name }) => `没有 ${name} 这个策略，请去掉它。`,
    strategy_unavailable: ({ name, why }) => `${name} 在这里无法运行：${why}`,
    fault_unavailable: ({ why }) => `这里不可用：${why}`,
    one_of: ({ values }) => `请从 ${values.join('、')} 中选一个。`,
    unused: () => '这一项在这里不起作用，请留空。',
    seed: () => '请填 0 到 18446744073709551615 之间的整数，或者留空。',
    too_much: ({ stock }) => `没有买家能买到：库存只有 ${count(stock)}。`,
    no_demand: ({ least }) => `请填大于 ${count(least)} 的数：如果人人都能买到，就不会出错，也证明不了什么。`,
    no_demand_rate: ({ requests, least }) => `这样只有 ${count(requests)} 位买家。不超过 ${count(least)} 位就不会出错，也证明不了什么。`,
    too_many_requests: ({ requests, max }) => `这样有 ${count(requests)} 位买家，上限是 ${count(max)} 位。请降低速率，或缩短时间。`,
    run_ended: () => '这次运行已经结束。',
    too_late: () => '这次运行已经结束。',
  },
  families: {
    sqlrow: '一行 SQL', local: '单个进程之内', mysqllock: 'MySQL 里的锁', redislock: 'Redis 里的锁',
    zklock: 'ZooKeeper 里的锁', etcdlock: 'etcd 里的锁', counter: '计数器',
  },

  idle: {
    title: '还没有运行过',
    text: '先看它出错，再看它守住：',
    run: (name) => `运行 ${name}`,
    breaksHint: '读出库存，相减，再写回去',
    holdsHint: '一条语句，既检查又扣减',
    bothHint: '并排运行，买家完全相同',
    meaning: {
      held: '卖出的不多于原有的，账本也和每个买家得到的答复一致。',
      oversold: '卖出的多于原有的，或者库存变成了负数。',
      lost: '账对不上：库存或订单消失了，或者买家想买，库存却剩下了。',
      blocked: '账是对的，但在有库存、买家也在购买时，太久没有卖出一件。',
      not_valid: '运行受到干扰，不能证明什么。',
    },
  },
  preparing: () => '正在重新启动服务进程……',
  running: (names) => `${names} 正在出售……`,
  stoppingRun: (names) => `${names}：已停止，正在清点……`,
  auditing: (names) => `${names}：所有买家都已得到答复，正在审计账本……`,
  answered: (n, all) => `${count(all)} 位买家中的 ${count(n)} 位已得到答复`,
  startedAnnouncement: (names) => `${names} 开始运行。`,

  stock: {
    label: '剩余库存',
    of: (n) => `共 ${count(n)} 件`,
    below: '低于零',
    sold: '已售',
    bar: (sold, stock) => `${count(stock)} 件中已售 ${count(sold)} 件`,
    tooMany: (n) => `多卖了 ${count(n)} 件`,
  },
  outcomes: {
    title: '买家得到的答复',
    sold: '买到', sold_out: '售罄', busy: '繁忙', conflict: '冲突',
    duplicate: '重复', in_progress: '处理中', accepted: '已受理', unknown: '结果不明', error: '错误',
  },
  charts: {
    rate: '每秒答复数',
    latency: '至今的延迟（毫秒）', p99Title: '至今的 99 分位（毫秒）',
    p50: '中位数', p99: '99 分位',
    axis: (s) => `${s} 秒`,
    rateSummary: (n) => `每秒 ${count(n)} 个答复`,
    latencySummary: (p50, p99) => `中位数 ${p50}，99 分位 ${p99}`,
    marks: (n) => `标出了 ${count(n)} 个故障`,
  },
  faults: {
    title: '注入故障',
    planned: '定时故障',
    service: '服务进程', at_ms: '时刻（毫秒）', for_ms: '时长（毫秒）', pastLease: '超过租约',
    strategy: '持有者的策略',
    number: (n) => `故障 ${n}`, add: '添加故障', remove: (n) => `去掉故障 ${n}`,
    happened: '什么时候发生了什么',
    kinds: {
      pause_holder: '暂停持有者', hang_holder: '挂起持有者', kill_holder: '杀死持有者', cut_holder: '断开持有者',
      pause_service: '暂停一个服务进程', kill_service: '杀死服务进程', restart_redis: '重启 Redis',
      cut_zookeeper_session: '结束 ZooKeeper 会话',
    },
    so: (n) => `${count(n)} 个故障`,
  },

  verdicts: {
    held: '守住了', oversold: '超卖', lost: '账不平', blocked: '停滞', not_valid: '无效', failed: '未能开始',
    preparing: '准备中', running: '运行中', stopping: '停止中',
  },
  verdict: {
    held: (a, r) => `${count(a.initial)} 件卖出 ${count(a.sold)} 件，账本与 ${count(r.requests)} 位买家得到的答复一致${
      r.copies ? `，含 ${count(r.copies)} 个副本` : ''}${r.retries ? `，${count(r.retries)} 次重试` : ''}。${
      a.served?.state === 'served' ? `有库存时最长停顿 ${pause(a.served.longest_ms)}。` : ''}`,
    blocked: (a) => `没有超卖也没有丢失，但 ${count(a.initial)} 件只卖出 ${count(a.sold)} 件，随后 ${
      pause(a.served?.longest_ms ?? 0)}内一件也没卖出，而买家一直在购买。`,
    oversold: (a) => (a.sold > a.initial
      ? `只有 ${count(a.initial)} 件，却卖出 ${count(a.sold)} 件：多卖 ${count(a.sold - a.initial)} 件。`
      : `${count(a.initial)} 件的库存变成了 ${count(a.remaining)}。`),
    lost: (a) => `没有超卖，但账对不上：共 ${count(a.initial)} 件，卖出 ${count(a.sold)}，剩下 ${count(a.remaining)}。`,
    not_valid: () => '这次运行无效，既不能证明对，也不能证明错。',
    heldThisTime: '这次守住了，但已知有一种调度会打破它：', and: '；', stop: '。', gap: '',
    when: {
      oversell: '两个买家同时购买', processes: '买家分在两个服务进程', 'lease-end': '持有者停顿超过租约',
      'dead-holder': '持有者死亡', 'node-loss': '服务器丢失数据',
    },
    left: (n, told) => `剩下 ${count(n)} 件。买家得到的答复：${told}。`,
    told: {
      sold_out: (n) => `售罄 ${count(n)}`, busy: (n) => `繁忙 ${count(n)}`, conflict: (n) => `冲突 ${count(n)}`,
      duplicate: (n) => `重复 ${count(n)}`, in_progress: (n) => `处理中 ${count(n)}`, accepted: (n) => `已受理 ${count(n)}`,
      unknown: (n) => `结果不明 ${count(n)}`, error: (n) => `错误 ${count(n)}`,
    },
    announcement: (name, word, text) => `${name}：${word}。${text}`,
    why: '看看为什么。',
    brokenBroke: (name) => `${name} 本来就会这样出错。现在运行一个守得住的。`,
    brokenHeld: (name) => `${name} 本来会出错，这次是运气好。把并发调高再试试。`,
    rules: '被破坏的规则', orders: '相关的订单',
    problems: '为什么无效',
    more: (n) => `……还有 ${count(n)} 条`,
    ranOn: '运行环境',
    commands: '每次购买的命令数',
    figures: {
      orders: '订单', rate: '每秒答复数', sales: '每秒售出（到最后一件）', p50: '中位数', p99: '99 分位', seconds: '用时',
    },
    took: (s) => `${s < 10 ? s.toFixed(1) : count(s)} 秒`,
  },
  rules: {
    oversold: '卖出的多于原有的', negative_stock: '库存低于零', lost_update: '丢失更新',
    lost_units: '库存消失', bought_twice: '一个买家，两个订单', bad_order: '不可能的订单',
    missing_order: '卖了却没有订单', wrong_receipt: '回执与订单不符',
    unacknowledged_order: '没有买家被告知的订单', invented_order: '没有买家请求过的订单',
    undersold: '有货却拒绝了买家', nothing_sold: '什么也没卖出',
    initial_changed: '这场销售中途被重置', mixed_homes: '库存放在两处',
    straggler: '属于另一次运行的订单', unknown_home: '库存读不出来',
    counter_and_row_differ: '计数器与库存行不一致', unused_counter_changed: '没有销售，计数器却变了',
    fewer_than_told: '卖出的比告知买家的少', more_than_told: '卖出的比告知买家的多',
    two_answers: '同一请求，两个答复', key_refused: '请求已有订单却被拒绝',
    false_duplicate: '没有订单却被告知重复', not_cancelled: '取消没有生效',
    cancelled_unasked: '被取消，却不是买家取消的',
    not_linearizable: '这些答复不可能同时为真',
    two_holders: '一把锁，两个持有者', unknown: '结果不明', blocked: '永远被挡住',
    error: '意外的错误', hindered: '被别的商品阻塞', stolen: '锁被别人释放', early: '开售之前就卖出',
  },

  about: {
    load: ({ profile, buyers = 0, concurrency = 0, rate = 0, to_rate: to = 0, seconds = 0 }) => ({
      closed: `${count(buyers)} 位买家，并发 ${count(concurrency)}`, spike: `${count(buyers)} 位买家同时到达`,
      constant: `每秒 ${count(rate)} 位，共 ${count(seconds)} 秒`, ramp: `${count(seconds)} 秒内从每秒 ${count(rate)} 位升到 ${count(to)} 位`,
    })[profile],
    services: ({ services, lease_ms: lease, wait_ms: wait, poll_ms: poll }) =>
      `${count(services)} 个服务进程，租约 ${count(lease)} 毫秒，等待 ${count(wait)} 毫秒，轮询 ${count(poll)} 毫秒`,
    seed: (seed, lanes) => `${lanes > 1 ? '买家相同，种子' : '种子'} ${seed}`,
    again: '采用这些设置',
    notKept: (why) => `这次运行没有保存：${why}`,
  },
  history: {
    title: '运行记录', empty: '运行过的都列在这里，并且会保存。',
    verdict: '结论', strategy: '策略', stock: '库存', load: '负载',
    sold: '已售', left: '剩余', rate: '答复/秒', p99: 'p99', time: '开始',
    show: (name, time) => `查看 ${time} 运行的 ${name}`,
  },
  strategies: { loading: '正在加载源码……' },
  machines: {
    title: '运行环境',
    service: (n) => `服务进程 ${n}`,
    up: '运行中', down: '已停', missing: '这里没有',
    tiers: { given: '外部', private: '专用', embedded: '内嵌' },
    tierHints: {
      given: '配置的地址上的服务器', private: '真实的服务器，只为这个实验室启动',
      embedded: '程序内置的引擎，代替真实的服务器',
    },
  },

  guarantees: {
    title: '保证',
    answers: {
      holds: '成立', all: '在全部调度下成立', tried: '在试过的调度下成立', breaks: '被打破', measured: '只测量，不承诺',
      'n/a': '不适用', failed: '未能确定', '': '没有计算',
    },
    says(c) {
      if (c.answer !== 'holds') return this.answers[c.answer] ?? c.answer;
      if (c.exhausted) return `在全部 ${count(c.orders ?? 0)} 种调度下成立`;
      return c.orders ? `在试过的 ${count(c.orders)} 种调度下成立` : '在试过的范围内成立';
    },
    titleOf: (q) => questions[q.id] ?? q.title,
  },

  lessons: {
    title: '课程', chapters: '章节', turn: '翻页',
    chapter: (n, all) => `第 ${count(n)} 章，共 ${count(all)} 章`,
    progress: (n, all) => `${count(all)} 章中已读 ${count(n)} 章`,
    read: '已读',
    unknown: (name) => `没有叫“${name}”的章节或策略。这是第一章。`,
    source: '实际运行的源码',
    breakIt: (name, stock, buyers) => `弄坏它：${count(buyers)} 位买家，${count(stock)} 件，${name}`,
    play: (name, title) => `弄坏它：${name}，“${title}”，一步一步看`,
    beside: (name) => `${name} 遇到同样的情形，一步一步看`,
    noExample: '这个程序的矩阵里没有这个反例。要找到它，请运行',
    traces: '两个买家，一步一步看：',
    other: (name) => `${name} 正在运行，请等它的结论。`,
    measure: '数字取决于机器，请测你自己的：',
    measured: {
      strategy: '策略', sales: '每秒售出', share: '相当于裸事务的比例',
      lock: '锁', alone: '无竞争，每秒加锁', crowd: (n) => `${n} 个竞争者，每秒加锁`, wait: (n) => `${n} 个，等待 p99 毫秒`,
      pause: '两次尝试之间的停顿', lease: '租约', rate: '每秒加锁', commands: '每次加锁的命令数', lost: '丢失的更新',
      on: (date, cpus, servers) => `${date} 测于 ${count(cpus)} 个处理器的机器：${servers}。数字是各轮的中位数，括号里是最低与最高。`,
      how: {
        compare: (run) => `同时 ${count(run.at_once)} 位买家。`,
        'bench locks': (run) => `每个竞争者持锁 ${run.hold_ms} 毫秒。`,
        'bench claims': (run) => `${run.lock}，8 个竞争者，任务 ${run.task_ms} 毫秒。一行中央锁用的时间是一百个分段的 ${run.central_over_segmented[0]} 倍。`,
      },
    },
  },
};
