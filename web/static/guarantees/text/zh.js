// 保证页的文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';
import asks from './asks.zh.js';

export default {
  what: '每个符号都是真实服务器上的一次检验：两三个买家，他们的命令按所有先后（或许多种先后）执行。点 ✗ 看它怎么出错，点策略查看全部结论。',
  groups: { sound: '没有故障', one: '一处出错', more: '更多', measured: '只测量' },
  locks: '锁', lockless: '不用锁的做法', broke: '以及坏在哪里：库存、锁、计数器，还是答复', nothing: '没有已知的情形会打破它', all: (n) => `显示全部 ${count(n)} 个`,
  about: { stock: '库存', lock: '锁', counter: '计数', answer: '答复' },
  also: '还有哪些出错', columns: (n) => `全部 ${n} 列`,
  name: '策略', presetsLabel: '只看',
  presets: { oversell: '不超卖', processes: '可用于多个进程', 'dead-holder': '持有者死亡也不怕', 'lease-end': '持有者停顿也不怕', order: '先到先得' },
  shown: (n, all) => (n === all ? `${count(all)} 个策略` : n === 0 ? '没有这样的策略。' : `${count(all)} 个策略中的 ${count(n)} 个。`),
  asksOf: (q) => asks[q.id] ?? q.asks,
  /** 试了什么，一句一条。 */
  tried: (c) => {
    if (c.answer === 'breaks') return [`在第 ${count(c.schedules)} 种调度时发现。`];
    const inOrder = c.schedules - (c.random ?? 0);
    return [
      c.exhausted ? `所有调度都已覆盖：${count(c.schedules)} 种运行到底。` : `试了 ${count(c.schedules)} 种调度，每种都运行到底；还有没试过的。`,
      c.exhausted || !inOrder ? '' : c.preemptions === -1 ? `其中 ${count(inOrder)} 种依次选取，抢占最少的在先。`
        : `其中 ${count(inOrder)} 种依次选取，${c.preemptions ? `抢占不超过 ${count(c.preemptions)} 次的` : '没有抢占的'}全部在内。`,
      c.random ? `其中 ${count(c.random)} 种随机抽取。` : '',
      c.orders && !c.exhausted ? `其中互相冲突的命令共有 ${count(c.orders)} 种不同的先后顺序。` : '',
      c.pruned ? `略去 ${count(c.pruned)} 种：与运行过的某一种相比，只是互不相关的命令换了先后。` : '',
      c.cut && !c.exhausted ? `有 ${count(c.cut)} 个分支没有走，其中仍可能有一种调度会打破它。` : '',
    ].filter(Boolean);
  },
  schedule: '一种调度就是各参与者命令的一种交错顺序。抢占是在一个参与者还能继续时换成另一个。',
  /** 测到了什么：完整的，和格子里的（没有的不写在格子里）。 */
  measured: {
    'polls': ['轮询', '轮询'],
    'is told': ['得到通知', '通知'],
    'queues in the server': ['在服务器里排队', '服务器排队'],
    'queues in the process': ['在进程里排队', '进程内排队'],
    'does not wait': ['不等待', '不等'],
    'many commands in 300ms': ['300 毫秒里许多条命令'],
    'a few commands in 300ms': ['300 毫秒里几条命令'],
    'one command in 300ms': ['300 毫秒里一条命令'],
    'no command in 300ms': ['300 毫秒里没有命令'],
    'the next waits': ['下一个等待', '下一个等'],
    'the next gets in': ['下一个拿到锁', '下一个进来'],
    'the holder\'s lease has ended': ['持有者的租约已经到期'],
    'at once': ['立刻'],
    'the next is told busy': ['下一个被告知繁忙', '下一个：忙'],
    'luck decides': ['看运气', '看运气'],
    'in order': ['按先后', '按先后'],
    'no queue': ['没有队列', '无队列'],
    'the others get in beside the holder': ['其他人与持有者同时进入'],
    'the others are told busy': ['其他人被告知繁忙'],
    'gets in beside the holder': ['与持有者同时进入'],
    'is told busy': ['被告知繁忙'],
    'yes': ['可以', '可以'],
    'no': ['不可以', '不行'],
    'the holder would wait for itself': ['持有者会等待自己'],
  },
  play: '一步一步看它出错', lesson: '读它的课程', run: '运行它',
  close: '关闭',
  computed: (schedules, seed) => `由 seckill prove 算出，每次搜索${schedules ? `最多 ${count(schedules)} 种调度` : '运行全部调度'}，种子 ${seed}，运行于`,
};
