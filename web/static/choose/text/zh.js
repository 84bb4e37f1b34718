// 选择页的文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

const offers = { SQL: 'SQL 数据库', RowLocks: 'MySQL 或 MariaDB', Procedures: '存储过程', SkipLocked: 'SKIP LOCKED', ReadCommitted: 'READ COMMITTED', Redis: 'Redis', RedisQuorum: '五台互相独立的 Redis', ZooKeeper: 'ZooKeeper', Etcd: 'etcd' };
const have = { mysql: 'MySQL 或 MariaDB', redis: 'Redis', redis5: '五台互相独立的 Redis', zookeeper: 'ZooKeeper', etcd: 'etcd' };
const fails = { 'dead-holder': '处理请求的进程崩溃', 'lease-end': '进程冻结的时间超过租约', 'lost-reply': '应答丢失', 'late-command': '命令迟到', clocks: '时钟不一致', 'node-loss': 'Redis 故障转移（failover），丢失最后的写入' };

export default {
  questions: { need: '你要做什么？', rate: '每秒要卖多少件？', have: '你有哪些服务器？', processes: '有几个进程在卖？', fails: '什么可能出故障？' },
  answers: {
    need: (v) => ({ stock: '扣减数据库里的库存', lock: '一把通用的锁' })[v], rate: (n) => (n ? count(n) : '不知道'),
    have: (s) => have[s], processes: (several) => ({ true: '几个', false: '一个' })[String(several)], fails: (q) => fails[q],
  },
  results: '符合条件的',
  found: (n, ways) => (n ? `有 ${count(n)} 种符合，越简单越靠前。` : ways ? '没有一个符合。改掉下面任意一条就够了：' : '没有一个符合，只改一条也不够。'),
  loss: '故障转移时，两个买家可能同时持有锁。库存行如果检查围栏令牌，就会拒绝旧的一个，库存仍然正确；不用锁，也就没有锁可丢。参见：',
  more: '还有：', way: (what) => (what === 'rate' ? '每秒少卖一些' : what === 'processes' ? '只用一个进程来卖' : have[what] ? `增加 ${have[what]}` : `接受这个风险：${fails[what]}`),
  needs: (list) => `需要 ${[...new Set(list.filter((n) => n !== 'SQL' || list.length === 1).map((n) => offers[n] ?? n))].join('、')}。`,
  speed: (n) => `实测每秒卖出 ${count(n)} 件。`, notHere: '它在这个实验室里无法运行。',
  breaks: '另外要知道，这些情况会出错：', run: '运行它', lesson: '课程', proof: '查看全部结论',
  figures: (date, cpus) => `速度来自一台机器（${date}，${cpus} 个处理器），只适合互相比较。`, measure: '在你的机器上测量。',
};
