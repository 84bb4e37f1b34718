// 轨迹页的文字（中文）。键与 en.js 相同。
import { count } from '../../ui.js';

export default {
  title: '轨迹',
  what: '一次购买，或两次抢购，一条命令一条命令地看。反例就是让策略出错的那种调度：前进、后退，看每一步旁边的库存行和 key。',
  example: 'seckill prove 找到的反例', choose: '请选一个……',
  file: '或者打开文件', fileHint: 'seckill prove --examples 写出的文件；也可以直接拖到这里',
  live: '或者现在就在实验室里买一次', one: '一个买家', two: '两人抢购',
  liveHint: '用单独的商品：共 2 件，A 要 2 件，B 要 1 件',
  liveTitle: (n, time) => `${time} 的${n === 1 ? '一次购买' : '两人抢购'}`,
  cut: (n) => `只保留了前 ${count(n)} 条命令。`,
  wrong: {
    tooLarge: (most) => `文件太大：反例最多 ${count(most)} 个字符。`,
    notJSON: () => '这个文件不是 JSON。请选 seckill prove --examples 写出的文件。',
    notExample: () => '这个文件不是 seckill prove 的反例：缺少 strategy、scenario 或 steps。',
    format: (f) => `这个反例的格式是 ${f}，本页只认识格式 1。`,
    stock: () => 'scenario 的 stock 不是 0 以上的整数。',
    buyers: () => 'scenario 的 buyers 不合理：每人要有自己的名字，最多十二人。',
    steps: (most) => `反例应有 1 到 ${count(most)} 步。`,
    step: (n, field) => `第 ${count(n)} 步不合理：请看它的“${field}”。`,
    unknown: (name) => `没有反例“${name}”。请从列表里选。`,
  },
  who: (name) => (name === 'next' ? '后来者' : name),
  process: (n) => `在第 ${count(n)} 个进程`,
  toStart: '回到开头（Home）', back: '后退一步（←）', forth: '前进一步（→）', toEnd: '跳到结尾（End）',
  play: '播放', pause: '暂停', position: '步骤',
  at: (n, all) => `${n === 0 ? '第一步之前' : `第 ${count(n)} 步`}，共 ${count(all)} 步`,
  faults: {
    'lease ends': '租约到期', dies: '死亡', 'given up by the server': '被服务器放弃', 'reply lost': '答复丢失',
    'command lost': '命令丢失', 'a node is lost': '节点丢失', 'time passes': '时间流逝', delayed: '✉ 在路上', 'arrives late': '✉ 迟到',
  },
  faultHints: {
    'lease ends': '服务器结束了租约。持有者正停着，还不知道。',
    dies: '买家的进程在下一条命令之前结束，善后代码一行也没跑。',
    'given up by the server': '服务器放弃了已死进程的会话或租约。',
    'reply lost': '命令生效了，而买家看到的是错误。',
    'command lost': '命令根本没送到，买家看到的是错误。',
    'a node is lost': '后端的一台服务器没了。',
    'time passes': '时钟不走，谁也走不下去。',
    delayed: '命令已经发出，却迟迟不到。发出者等不到答复，收拾好就继续了；命令还在路上。',
    'arrives late': '耽搁的命令这时才到服务器，并且生效。发出者早已走开。',
  },
  waits: '等待', waitsHint: '在服务器里等待', woke: (who) => `${who} 继续`,
  background: '续期', renewerHint: '锁的续期线程在动作，买家自己另走一路',
  /** 不是服务器命令的步骤。 */
  commands: {
    'works under the lock': '持锁工作', 'its time has come': '到了续期的时候', "wait: the lock's renewer": '等自己的续期线程',
  },
  results: { waits: '等待', 'is delayed': '没有及时答复', 'gives up: nothing will ever wake them': '放弃：再也不会被唤醒' },
  /** 场景里的参与者做什么。 */
  does(b) {
    const units = b.quantity ? ` ${count(b.quantity)} 件` : '';
    const doing = {
      buys: `购买${units}`, cancels: b.same ? `也取消 ${b.same} 的订单` : `取消一个${units ? `${units}的` : ''}订单`,
      asks: b.same ? `发出 ${b.same} 的请求的副本，键相同` : `带着键向服务请求${units}`,
      locks: '拿锁，再释放', resets: '重置这场销售', starts: '让销售开始',
    }[b.does] ?? b.does;
    return [doing, b.other && '另一件商品', b.process > 0 && this.process(b.process + 1),
      b.again > 0 && `没有最终答复就再发（${count(b.again)} 次）`,
      b.ahead > 0 && `时钟快 ${count(b.ahead / 1e9)} 秒`].filter(Boolean).join('，');
  },
  renewals: (n) => `续期线程可以动作，最多 ${count(n)} 次`, next: '等大家都完了才来',
  result: '结果', ok: '成功',
  short: (name) => (name === 'stock.num' ? '库存' : name.replace(/^seckill:lock:stock:\d+/, '锁').replace(/^seckill:stock:\d+/, '计数器').replace(/^\/seckill\/locks\/stock-\d+/, '队列')),
  took: (at, took) => `${at.toFixed(2)} 毫秒时，用时 ${took.toFixed(2)} 毫秒`,
  bars: { held: '从得知拿到锁，到交还锁为止', key: '锁的 key、节点或记录，由这个买家写入', row: '这个买家的会话锁住的行（或命名锁）',
    flight: '在路上的命令：已经发出，还没有到' },
  state: '服务器里现在有什么', row: (stock) => `库存行，共 ${count(stock)} 件`, nothing: '没有',
  broken: '被打破', unbroken: '没有出错', told: '买家得到的答复',
};
