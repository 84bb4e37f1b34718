// 课程的文字（中文）。键与 ../text.js 相同。
import { count, html } from '../../ui.js';

export default {
  title: '课程', chapters: '章节', turn: '翻页',
  chapter: (n, all) => `第 ${count(n)} 章，共 ${count(all)} 章`,
  progress: (n, all) => `${count(all)} 章中已读 ${count(n)} 章`,
  read: '已读', core: '核心', ifNeeded: '需要时再看',
  unknown: (name) => `没有叫“${name}”的章节或策略。这是第一章。`,
  source: '实际运行的源码', answer: '参考答案',
  predict: {
    asks: (name, stock, buyers) => `${count(buyers)} 个买家各要一件，库存 ${count(stock)} 件。${name} 会卖出多少件？`,
    fewer: (stock) => `少于 ${count(stock)} 件`, all: (stock) => `正好 ${count(stock)} 件`, more: (stock) => `多于 ${count(stock)} 件`,
    right: '你猜对了。', wrong: '和你想的不一样。', was: (sold, initial) => `${count(initial)} 件卖出了 ${count(sold)} 件。`,
  },
  breakIt: (name, stock, buyers) => `弄坏它：${count(buyers)} 位买家，${count(stock)} 件，${name}`,
  live: (name, title) => `现场弄坏它：${name}，${title}`, liveRuns: '正在实验室的服务器上执行这个调度……',
  liveBroke: (rules) => `刚刚在这个实验室的服务器上出错了：${rules}。`, liveHeld: '这一次没有出错，可以再试一次。',
  liveWrong: { not_replayable: '它会丢掉一台服务器，而实验室的服务器是共用的：请一步一步看。', diverged: '找到这个反例之后，程序已经变了。', unknown_example: '这个程序没有这个反例。' },
  play: (name, title) => `${name}：${title}，一步一步看`, inWords: '用文字描述这张图', howItBreaks: '它怎样出错：时空图', playYourself: '自己来调度',
  drawn: (strategy, question = '') => `${strategy}${question && ` · ${question}`}：逐步看这张图`, notDrawn: (why) => `无法加载这张图：${why}`,
  beside: (name) => `${name} 遇到同样的情形，一步一步看`,
  noExample: '这个程序的矩阵里没有这个反例。要找到它，请运行',
  traces: '两个买家，一步一步看：',
  other: (name) => `${name} 正在运行，请等它的结论。`,
  articles: {
    about: '主题', theirs: '文章的说法', ours: '证明与测量的结果',
    locks: { 1: '没有竞争时每秒加锁：', 8: '八个竞争者时每秒加锁：' }, and: '；', holds: '证明试过的一切都没能让它出错',
    on: (date, cpus) => `数字是 ${date} 在 ${count(cpus)} 个处理器上测得的中位数；每个记号都通向它的反例。`,
    sales: (n, crowd) => html`${count(crowd)} 人同时购买时，每秒售出 ${n}`, breaks: (what) => `会出错：${what}`, times: (n) => html`${n} 倍`,
    commands: (n) => `每次加锁 ${n} 条命令`, lease: (n, lost) => `任务时长的 ${n} 倍：丢失 ${lost}% 的更新`, pause: (n, rate, commands) => `任务时长的 ${n} 倍：每秒加锁 ${rate}，每次 ${commands} 条命令`,
    says: {
      D: { title: 'Java distributed locking schemes and differences', rows: {
        performance: ['性能', 'Redis 高，ZooKeeper 中，数据库低'], reliability: ['可靠性', 'ZooKeeper 高，Redis 中，数据库低'],
        expiry: ['到期会自动释放吗', 'Redis：会。ZooKeeper：干完活自己删。数据库：行锁随事务释放，插入的行要自己删'],
        queue: ['等待者的队列', 'Redis：没有。ZooKeeper：各自监听前一个。数据库：行锁有，插入的行没有'],
        long: ['任务超过时限', 'Redis 要续期。ZooKeeper 和插入的行没有这个问题；行锁的事务可能超时'],
        failure: ['出故障后没有释放', 'Redis：到期。ZooKeeper：随会话消失。行锁：数据库会清理。插入的行：自己想办法'],
        fast: ['按性能排名', '缓存，其次 ZooKeeper，再次（或同样）数据库'], safe: ['按可靠性排名', 'ZooKeeper，其次缓存，再次数据库'] } },
      B: { title: '分布式锁(redis/mysql)', rows: {
        segments: ['一行中央锁，还是一百行', '50 × 100 个线程，8 秒对 5 秒：“几乎有一倍”'],
        choice1: ['高并发，不要求一致', 'Redis 的锁或计数器'], choice2: ['低并发，要求一致', 'MySQL 的锁或计数器'],
        choice3: ['低并发，不要求一致', '随你'], choice4: ['高并发，要求一致', 'Redis 加 MySQL'],
        fourteen: ['库存作为 Redis 里的计数器', '只该发十个奖品，结果发了十四个'] } },
      A: { title: 'Implementation of distributed lock', rows: {
        pessimistic: ['并发不高时', 'MySQL 的行锁或乐观锁就够了，维护也更简单'],
        polling: ['等待的代价', 'Redis 锁要轮询，更费；ZooKeeper 锁会得到通知；频繁加锁会给 ZooKeeper 带来压力'],
        prefers: ['选哪一个', '有 ZooKeeper 就用它，因为 Redis 的数据可能出错；只有 Redis 就用 Redis'] } },
      C: { title: '分散ロックの原理といくつかの実現方式', rows: {
        expire2: ['先 SETNX，再 EXPIRE', '调用者死在两者之间，就永远锁住'], quorum: ['五个 Redis 节点里的三个', '可用性更高'] } },
      E: { title: 'Семантика SETNX', rows: {
        scheme4: ['四个方案里最严格的', 'SET NX PX 加随机值，用 Lua 比较并删除'],
        lease: ['租约多长', '任务时长的几倍'], pause: ['隔多久再试', '与任务时长成比例'] } },
    },
  },
  /** 示意图的文字：说明，然后是各处的标签。 */
  pictures: {
    'row-held': ['一个买家把这一行锁住多久。实心越少，队伍越短。', 'UPDATE', '往返', 'INSERT', 'COMMIT', '一次 INSERT 全部', '实心：行被锁住。虚线：锁住，却在等消息往返。', '空心：行是空闲的。'],
    'zk-queue': ['ZooKeeper 锁的队列：每个节点只监听前面一个。', ' 持有锁', ' 监听', '0001 消失时只通知 B。B 再看一次自己是不是排在最前，然后持有锁。'],
    votes: ['五票里的三票：两个持有者要六票才够。', 'A 有三票：锁归 A。', 'B 只有两票：不够。', 'B 把两票退回，随机等一会儿再试。'],
    buckets: ['库存分在四行里：一条队变成四条。', '买家', '最后一行只剩一件：想在那里买两件，就得再看别的行。', '售罄的意思是：在同一时刻，四行加起来也不够。'],
    gap: ['对不存在的名字 FOR UPDATE，锁住的是间隙，而间隙锁谁也挡不住。', '间隙：没有“lock-m”这一行', '两人都锁住了间隙，然后各自的 INSERT 都在等对方的间隙锁：', '死锁，错误 1213。'],
    states: ['一件商品的状态：空闲、预留、售出。每个箭头都是一条写明预期状态的 UPDATE。', '空闲', '预留', '售出', '预留', '支付', '取消，或者过了截止时间', '取消订单'],
  },
  measure: '数字取决于机器，请测你自己的：',
  measured: {
    strategy: '策略', answers: '每秒答复', sales: '每秒售出', share: (strategy) => `比 ${strategy}`,
    lock: '锁', alone: '无竞争，每秒加锁', crowd: (n) => `${n} 个竞争者，每秒加锁`, wait: (n) => `${n} 个，等待 p99 毫秒`,
    pause: '两次尝试之间的停顿', lease: '租约', rate: '每秒加锁', notYet: '尚未测量', commands: '每次加锁的命令数', lost: '丢失的更新',
    on: (date, cpus, servers) => `${date} 测于 ${count(cpus)} 个处理器的机器：${servers}。数字是各轮的中位数，括号里是最低与最高。`,
    how: {
      compare: (run) => `同时 ${count(run.at_once)} 位买家。`,
      'bench locks': (run) => `每个竞争者持锁 ${run.hold_ms} 毫秒。`,
      'bench articles': (run) => `${run.lock}，8 个竞争者，任务 ${run.task_ms} 毫秒。一行中央锁用的时间是一百个分段的 ${run.central_over_segmented[0].toFixed(2)} 倍。`,
    },
  },
  guess: '先猜每个应答，再看结果',
};
