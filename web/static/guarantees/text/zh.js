// 保证页的文字（中文）。键与 en.js 相同。
import { count } from '../../ui.js';

/** 矩阵的问题。 */
const asks = {
  oversell: '一个进程里的两个买家，命令的所有调度：卖出的会不会比有的多？',
  'lost-update': '同上，再加一个取消订单的：最后库存和订单对得上吗，所有人都能完成吗？',
  processes: '同样的问题，两个买家在两个进程里。',
  'sold-out': '两个买家各要全部库存，或者其中一个要的比全部还多，或者其中一个死掉：会不会有买家听到“售罄”，而那些库存直到最后都没有卖出？',
  'dead-holder': '买家的进程死在任意一条命令之前：库存对吗，别人还能继续吗，从那一刻起要等多久？',
  'hung-holder': '持有者挂起超过一个租约，而续期、会话和连接都还活着：下一个拿得到锁吗？',
  'lease-end': '租约（或会话、连接）在任意时刻结束，而持有者正在停顿：库存还对吗？有人取消订单时呢？',
  clocks: '第二个买家所在进程的时钟快了不止一个租约：库存还对吗？',
  owner: '三个竞争者，租约在任意时刻结束，或者释放命令迟到：会不会释放别人的锁？',
  'lost-reply': '任意一条命令生效而答复丢失，或者根本没送到：库存对吗，会不会有人永远被挡住？',
  'late-command': '任意一条命令在路上被延迟：发出者没有及时得到答复，清理之后就继续，命令在之后的任意时刻才到：库存对吗？',
  renewal: '锁的续期在任意时刻执行，租约已到期或答复丢失时也一样：会不会拿到、保留或释放不属于自己持有者的锁？',
  cancel: '两人取消同一个订单，或者一人取消时一人购买；答复丢失、进程死亡，取消又重试：每个订单的库存是不是退还一次，而且只有一次？有预留的，还有付款、取消和清理程序。',
  reset: '有人购买、取消或也在重置时，这场销售被重新设置或者开始：新一场的库存对吗，开售前有没有卖出？',
  'same-key': '同一请求的两份副本走完整个服务，分在两个进程里；答复丢失，然后重试：是不是只有一个订单，有订单的副本会不会被拒绝？',
  'two-faults': '逐个都扛得住的故障，在随机抽取的调度里一次来两个：库存对吗？',
  history: '两个进程上的一次压测：能不能把所有购买排成一次一个的顺序，解释每个答复？',
  'other-skus': '两个买家买不同的商品：一个会不会等另一个？',
  waits: '别人持有锁时，等待的买家在做什么，300 毫秒里用多少条命令。',
  order: '第七个买家持有锁时，六个买家先后到来：是按这个先后拿到锁的吗？',
  reentrant: '持有者带着租约的 context 再来一次，拿得到锁吗？',
  'node-loss': '锁还被持有时，锁所在的后端丢失一台服务器。',
};

/** 服务器名里的说明。 */
const inChinese = (servers) => servers.replace(/Cluster of (\d+) \((\d+) masters\)/, '集群（$1 个节点，$2 主）');

export default {
  what: '每一格都是算出来的：两三个参与者的命令在真实的服务器上按许多种调度运行，再根据账本判定。出错的格子都有反例：点开格子，一步一步播放。',
  choose: '回答五个问题来选',
  groups: { sound: '没有故障', one: '一处出错', more: '更多', measured: '只测量' },
  legend: '小号数字是运行过多少种调度。一种调度就是各参与者命令的一种交错顺序。',
  filter: '筛选', family: '类别', question: '问题', answer: '答案', name: '策略', any: '不限', semicolon: '；', stop: '。', reset: '清除筛选',
  presetsLabel: '只看', noSuch: (value) => `“${value}”（没有）`, is: (what, value) => `${what}：${value}`,
  presets: { oversell: '不超卖', processes: '可用于多个进程', 'dead-holder': '持有者死亡也不怕', 'lease-end': '持有者停顿也不怕', order: '先到先得' },
  asked: (conditions) => `筛选条件：${conditions.join('；')}。`,
  take: (name) => `对比 ${name}`, takeShort: '对比', chooseRows: '勾选两个或更多策略，就可以对比它们的不同。',
  chosenRows: '要对比的策略', chosen: (n) => `已勾选 ${count(n)} 个策略：`, oneMore: '再勾选一个就可以对比。',
  unknownRows: (names) => `矩阵里没有 ${names} 这个策略。`,
  differences: '对比它们的不同', wholeTable: '回到整张表', chooseNone: '全部取消',
  differIn: (n, all) => (n ? `${count(all)} 个问题中，它们有 ${count(n)} 个答案不同。` : `${count(all)} 个问题的答案全都相同。试过多少种调度不算不同。`),
  alike: (titles) => `答案相同的：${titles}。`,
  pointAt: '把鼠标移到一个格子上，或用 Tab 键移过去，这里就会读出它。',
  verdict: { holds: '成立', breaks: '会出错', measured: '只测量', failed: '无法判定', 'n/a': '不适用', '': '没有计算' },
  shown: (n, all) => (n === all ? `${count(all)} 个策略` : n === 0 ? '没有这样的策略。' : `${count(all)} 个策略中的 ${count(n)} 个。`),
  asksOf: (q) => asks[q.id] ?? q.asks,
  /** 试了什么，一句一条。 */
  tried: (c) => {
    if (c.answer === 'breaks') return [`在第 ${count(c.orders)} 种调度时发现。`];
    const inOrder = c.orders - (c.random ?? 0);
    return [
      c.exhausted ? `每一种调度都运行到底，共 ${count(c.orders)} 种。` : `试了 ${count(c.orders)} 种调度，每种都运行到底；还有没试过的。`,
      c.exhausted || !inOrder ? '' : c.preemptions === -1 ? `其中 ${count(inOrder)} 种依次选取，抢占最少的在先。`
        : `其中 ${count(inOrder)} 种依次选取，${c.preemptions ? `抢占不超过 ${count(c.preemptions)} 次的` : '没有抢占的'}全部在内。`,
      c.random ? `其中 ${count(c.random)} 种随机抽取。` : '',
      c.pruned ? `略去 ${count(c.pruned)} 种：与运行过的某一种相比，只是互不相关的命令换了先后。` : '',
      c.cut && !c.exhausted ? `有 ${count(c.cut)} 个分支没有走，其中仍可能有一种调度会打破它。` : '',
    ].filter(Boolean);
  },
  schedule: '一种调度就是各参与者命令的一种交错顺序。抢占是在一个参与者还能继续时换成另一个。',
  differs: '在别的服务器上不同',
  elsewhere: (servers) => `在 ${servers} 上`,
  also: (servers, asked, n) => `在 ${inChinese(servers)} 上：算了 ${count(asked)} 格，${n === 0 ? '结果全部相同' : `有 ${count(n)} 格不同（≠）`}。`,
  /** 测到了什么：完整的，和格子里的。 */
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
  play: '播放反例', lesson: '读它的课程', run: '在实验室运行',
  close: '关闭',
  computed: (schedules, seed) => `由 seckill prove 算出，每次搜索${schedules ? `最多 ${count(schedules)} 种调度` : '运行全部调度'}，种子 ${seed}，运行于`,
};
