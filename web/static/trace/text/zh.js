// 轨迹页的文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

export default {
  sells: (name, sold, stock) => `${name}：${stock} 件卖出了 ${sold} 件`, breaks: (name, rule) => `${name}：${rule}`, withstands: (name) => `${name} 没有出错`,
  lesson: '它的课程', proof: '它的证明', share: '保存为不用实验室也能播放的网页', others: '换一个',
  example: '换一个反例', choose: '请选一个……',
  live: '或者现在在实验室里购买一次', one: '一个买家', two: '两个买家竞争',
  liveHint: '用单独的商品：共 2 件，A 要 2 件，B 要 1 件',
  liveTitle: (n, time) => `${time} 的${n === 1 ? '一次购买' : '两个买家竞争'}`,
  download: '或者：',
  diagramHint: '时间从上往下，不按比例。点一条命令，就能看到它的全文。',
  cut: (n) => `只保留了前 ${count(n)} 条命令。`,
  wrong: {
    gone: () => '实验室已经没有这条轨迹了，请再录一条。',
    unknown: (name) => `没有反例“${name}”。请从列表里选。`,
  },
  who: (name) => (name === 'next' ? '后来者' : name),
  process: (n) => `在第 ${count(n)} 个进程`,
  toStart: '回到开头（Home）', back: '后退一步（←）', forth: '前进一步（→）', toEnd: '跳到结尾（End）',
  play: '播放', pause: '暂停', position: '步骤',
  at: (n, all) => `${n === 0 ? '第一步之前' : `第 ${count(n)} 步`}，共 ${count(all)} 步`,
  faults: {
    'lease ends': '租约到期', dies: '死亡', leaves: '离开', panics: 'panic', 'id taken': 'id 已被占用', 'given up by the server': '被服务器放弃', 'reply lost': '应答丢失',
    'command lost': '命令丢失', refused: 'Redis 拒绝', 'a node is lost': '节点丢失', 'time passes': '时间流逝', delayed: '✉ 在路上', 'arrives late': '✉ 迟到',
    'clock jumps': '时钟跳变',
  },
  faultHints: {
    'lease ends': '服务器结束了租约。持有者正在停顿，并不知道。',
    dies: '买家的进程在下一条命令之前死掉，没有做任何清理；同一进程里的其他买家也跟着死掉。',
    leaves: '买家断开了连接，或者时间用完了；所在的进程还活着。',
    'id taken': '另一个进程在同一微秒里生成了相同的 id：这条命令要写的最后一张订单，id 已被占用。',
    panics: '服务这个买家的代码在这条命令的位置 panic；进程恢复过来，还活着。',
    'given up by the server': '服务器放弃了已死进程的会话或租约。',
    'reply lost': '命令已生效，买家看到的却是错误。',
    'command lost': '命令根本没送到，买家看到的是错误。',
    refused: 'Redis 拒绝一条命令，也可能在脚本中间；脚本之前写入的内容保留。',
    'clock jumps': '买家所在进程的时钟向前跳了不止一个租约；服务器的时钟不变。',
    'a node is lost': '后端丢失了一台服务器。',
    'time passes': '时钟前进之前，没有参与者能继续。',
    delayed: '命令已经发出，但被延迟。发出者没有及时得到应答，清理之后就继续了；命令还在路上。',
    'arrives late': '被延迟的命令这时才到服务器，并且生效。发出者早已继续。',
  },
  waitsHint: '在服务器里等待', woke: (who) => `${who} 继续`, renewerHint: '锁的续期线程在执行，与它所服务的买家并行',
  /** 不是服务器命令的步骤。 */
  commands: {
    'works under the lock': '持锁工作', 'its time has come': '到了续期的时候', "wait: the lock's renewer": '等自己的续期线程',
  },
  /**
   * 不是命令的事件。
   * @type {[RegExp, string][]}
   */
  events: [
    [/^the key (\S+) expires$/, '$1 到期'], [/^the (deadline|expire) of (\S+) is past$/, '$2 的 $1 已过'],
    [/^the session of (\S+) ends$/, '$1 的会话结束'], [/^the lease of (\S+) is revoked$/, '$1 的租约被撤销'],
    [/^the server closes the holder's connections$/, '服务器关闭持有者的连接'], [/^an operator removes the lock$/, '运维删掉了锁'],
    [/^the primary with what it had not replicated$/, '主节点，连同它尚未复制的数据'], [/^a shard with what it had$/, '一个分片，连同它的数据'],
    [/^clocks move on by a lease(, and those who wait look again)?$/, '时钟前进一个租约'],
  ],
  results: { waits: '等待', 'is delayed': '没有及时应答', 'gives up: nothing will ever wake them': '放弃：不会再被唤醒' },
  /** 场景里的参与者做什么。 */
  does(b) {
    const units = b.quantity ? ` ${count(b.quantity)} 件` : '';
    const doing = {
      buys: `购买${units}`, cancels: b.same ? `也取消 ${b.same} 的订单` : `取消一个${units ? `${units}的` : ''}订单`,
      asks: b.same ? `把 ${b.same} 发出的请求再发一次，幂等键相同` : `带幂等键向服务请求${units}`,
      accepts: `购买${units}，不等订单写入`,
      locks: '加锁，再释放', pays: `为${b.same ? ` ${b.same} 的` : '一条'}预留付款`,
      releases: `取消${b.same ? ` ${b.same} 的` : '一条'}预留`, sweeps: '让截止时间过去，然后清理',
      restocks: `补货${units}`, resets: '重置这场销售', starts: '开始这场销售', forgets: '让 Redis 丢失数据', 'comes later': `在别人进行中到来，购买${units}`,
      'asks again': `已有${units}的订单，把同一个请求再发一次`,
      'asks to reserve': `向服务请求预留${units}${b.same ? `，用 ${b.same} 的幂等键` : ''}`,
    }[b.does] ?? b.does;
    return [doing, b.other && '另一件商品', b.process > 0 && this.process(b.process + 1),
      b.again > 0 && `没有最终答复就重试（${count(b.again)} 次）`].filter(Boolean).join('，');
  },
  renewals: (n) => `续期线程可以执行，最多 ${count(n)} 次`, next: '等所有人完成后才来',
  result: '结果', ok: '成功', reply: (text) => text.replace(/^(\d+) rows?$/, '$1 行').replace(/^no row$/, '没有行'),
  short: (name) => (name === 'stock.num' ? '库存' : name.replace(/^seckill:lock:stock:\d+/, 'lock').replace(/^seckill:stock:\d+/, '计数器').replace(/^seckill:stream:\d+/, 'stream').replace(/^\/seckill\/locks\/stock-\d+/, '队列')),
  took: (at, took) => `${at.toFixed(2)} 毫秒时，用时 ${took.toFixed(2)} 毫秒`,
  beliefs: '买家知道什么',
  read: (n) => `读到 ${n}`, readOld: (n) => `读到 ${n}，已经过时`, will: (n) => `将写入 ${n}`, wrote: (n) => `写入 ${n}`,
  holds: '持有锁', thinksItHolds: '以为自己还持有锁',
  bars: { stale: '买家以为自己持有锁，服务器却不这么认为', held: '从得知拿到锁，到释放锁为止', key: '锁的 key、节点或记录，由这个买家写入', row: '这个买家的会话锁住的行（或命名锁）',
    waits: '买家在等服务器的答复', flight: '在路上的命令：已经发出，还没有到' },
  /** 时空图里的文字。 */
  story: { again: (n) => `再重复 ${count(n)} 遍`, times: (n) => `${count(n)} 次`, rest: (n) => `还有 ${count(n)} 步`,
    name: (strategy, question) => `${strategy}${question && ` · ${question}`}：谁向哪台服务器发了什么，得到什么答复`,
    to: (who, server) => `${who} 发给 ${server}`, answers: (server, who) => `${server} 答复 ${who}`, done: '完成' },
  state: '服务器里现在有什么', row: (stock) => `库存行，共 ${count(stock)} 件`, nothing: '没有',
  broken: '被打破', unbroken: '没有出错', told: '买家得到的答复',
  guess: { title: '先猜再看', asks: '服务器会怎样应答？', right: '对。', wrong: (a) => `不对：${a}`, next: '继续' }, speed: '速度',
};
