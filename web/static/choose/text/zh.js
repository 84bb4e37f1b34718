// 选择页的文字（中文）。键与 en.js 相同。
import { count } from '../../ui.js';

const figure = (/** @type {number} */ n) => (n < 10 ? n.toFixed(1) : count(n));

const offers = {
  SQL: 'SQL 数据库', RowLocks: 'MySQL 或 MariaDB', Procedures: '存储过程', SkipLocked: 'SKIP LOCKED', Redis: 'Redis', RedisQuorum: '五台互相独立的 Redis', ZooKeeper: 'ZooKeeper', Etcd: 'etcd',
};
const when = {
  'dead-holder': '买家的进程死亡时', 'lease-end': '持有者停顿超过租约时', 'lost-reply': '答复丢失时',
  'late-command': '命令迟到时', clocks: '时钟不一致时', 'node-loss': '锁丢失一台服务器时',
};

export default {
  title: '选择策略',
  what: '回答五个问题，找到符合条件的策略。每条理由都来自算出的矩阵和测得的数据。',
  matrix: '看整张矩阵。',
  questions: {
    stock: '要卖多少件？', rate: '每秒来多少买家？', have: '你运行着什么？', fails: '什么可能出故障？', order: '等待者必须先到先得吗？',
  },
  hints: {
    stock: '来的买家再多，一秒也卖不出比库存更多的件数。',
    rate: '与一台机器上每秒的成交数相比。',
    have: '账本总在 SQL 数据库里；没有 MySQL 时就是 SQLite。',
    fails: '这时会出错的策略会被排除。', order: '在锁上用六个等待的买家测量。',
  },
  rate: (n) => (n ? count(n) : '不知道'),
  have: {
    mysql: 'MySQL 或 MariaDB', redis: 'Redis', redis5: '五台互相独立的 Redis', zookeeper: 'ZooKeeper', etcd: 'etcd',
    processes: '不止一个服务进程',
  },
  fails: {
    'dead-holder': '买家的进程死亡', 'lease-end': '持有者停顿超过租约', 'lost-reply': '答复丢失',
    'late-command': '命令迟到', clocks: '时钟不一致', 'node-loss': '锁丢失一台服务器',
  },
  order: { no: '不必', yes: '必须，先到先得' },
  reset: '重新回答', copy: '答案都在地址里，可以保存，也可以发给别人。',

  results: '符合条件的',
  found: (n, all) => (n ? `${count(all)} 个策略中有 ${count(n)} 个符合。` : `${count(all)} 个策略没有一个符合。`),
  ways: (n) => `这些答案合在一起排除了全部策略。${n === 1 ? '改掉下面任意一个就够了' : `至少要改 ${count(n)} 个`}：`,
  way: (changes, n) => `${changes.join('，')}：${count(n)} 个策略符合`,
  change: {
    need: (what) => `增加 ${offers[what] ?? what}`, processes: () => '只运行一个服务进程',
    fails: (q) => `接受${when[q]}出错`, order: () => '不要求先到先得',
  },
  tooFast: (wanted, best, n) => `符合条件的策略，没有一个测到每秒 ${count(wanted)} 笔成交。${best ? `${count(n)} 个里最快的是每秒 ${figure(best)} 笔。` : ''}请在自己的机器上测量。`,
  fits: (wanted) => (wanted ? `测到每秒 ${count(wanted)} 笔成交或更多` : '最合适的在先：出错的问题最少的在先，然后是每秒成交最多的'),
  slower: (n, wanted) => `另有 ${count(n)} 个符合，但在那台机器上每秒成交不到 ${count(wanted)} 笔`,
  unmeasured: (n) => `另有 ${count(n)} 个符合，但没有数据说明有多快`,
  more: (n) => `另外 ${count(n)} 个符合的`,
  speed: ([median, low, high], stock) => `每秒成交 ${figure(median)} 笔（${figure(low)}–${figure(high)}）：${count(stock)} 件用 ${figure(stock / median)} 秒。`,
  noFigure: (verdict) => (verdict ? `没有数据：在两个进程上测量时，它${verdict === 'oversold' ? '超卖了' : '没有守住'}。` : '没有数据：没有测量过它。'),
  answered: (titles, says) => `${says}：${titles}`, void: (title, why) => `${title}不适用：${why}`,
  needs: (list) => `需要 ${list.map((n) => offers[n] ?? n).join('、')}。`,
  notHere: '它在这个实验室里无法运行。',
  breaks: '没有问到，但它会出错的：', nothing: '没有一个问题会让它出错。',
  elsewhere: (servers, title) => `在 ${servers} 上它会出错：${title}。`,
  lesson: '课程', run: '运行它', compare: '对比它们的不同', runAll: '并排运行',

  excluded: '排除的',
  because: {
    unproven: (n) => `${count(n)} 个：矩阵里没有这一行`,
    wrong: (n) => `${count(n)} 个：没有故障也会出错`,
    need: (n, what) => `${count(n)} 个：需要 ${offers[what] ?? what}`,
    processes: (n) => `${count(n)} 个：多个进程时会出错`,
    fails: (n, q) => `${count(n)} 个：${when[q]}会出错`,
    order: (n) => `${count(n)} 个：下一个看运气，或者没有队列`,
  },
  oneMachine: '数据来自一台机器，只适合互相比较，说明不了你的机器有多快；也没有说没买到的买家多快得到拒绝。',
  noFigures: '测得的数据加载失败，所以这里不说快慢。',
  figures: '全部数据', proven: (servers) => `矩阵是在 ${servers} 上算出的。`,
};
