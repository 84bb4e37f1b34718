// 调度游戏的文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

export default {
  title: '你来调度',
  what: '午夜，抢购开始，由你决定轮到谁。每个买家都停在下一条命令之前。由你决定轮到谁的命令执行——在真实的服务器上——以及何时发生故障。思考时，时间不会流逝。最后由裁判查账。',
  levels: '关卡', chapter: (n, title) => `第 ${count(n)} 章${title && ` · ${title}`}`, noChapter: '其他',
  solved: (n, all) => `共 ${count(all)} 关，已过 ${count(n)} 关`, done: '已过关',
  noLevels: '这个实验室没有关卡。', number: (n) => `第 ${count(n)} 关`,
  all: '← 全部关卡', nextLevel: (title) => `下一关：${title}`,
  impossibleSale: '自由练习只能有 2 到 3 位买家、1 到 100 件库存。请在下面选择。', unknown: (name) => `没有“${name}”这一关，请从列表里选。`,
  free: '自由练习', freeHint: '任何能在这里运行的策略，没有任务。',
  strategy: '策略', buyers: '买家', stock: '库存', begin: '开始',
  lesson: '它的课程',

  hint: '提示',
  setting: (buyers, stock, faults) => `${count(buyers)} 个买家，${count(stock)} 件库存，${faults ? `最多 ${count(faults)} 次故障` : '没有故障'}`,
  opening: '正在准备商品……',
  columns: '买家', process: (n) => `第 ${count(n)} 个进程`,
  does(b) {
    return ({
      buys: `要买 ${count(b.quantity)} 件`, cancels: b.same ? `取消 ${b.same} 的订单` : '取消一个订单',
      locks: '加锁、工作、释放', pays: b.same ? `为 ${b.same} 的预留付款` : '为一个预留付款',
      releases: b.same ? `取消 ${b.same} 的预留` : '取消一个预留', sweeps: '清理过期的预留',
    }[b.does] ?? b.does) + (b.other ? '，另一件商品' : '');
  },
  states: { ready: '就绪', waits: '等待', backs_off: '稍后再试', done: '完成', dead: '死亡' },
  run: (who, server) => (server ? `${who} 发给 ${server}` : `${who} 执行`),
  waitsIn: (server) => (server ? `${server} 还没有应答` : '还没有应答'),
  backsOff: '自己在等，别人改变了什么之后再试',
  heldBy: (names) => `它在 ${names} 手里`,
  told: '得到的答复', died: '所在的进程已经死亡。',
  outcomes: {
    sold: '买到了', sold_out: '售罄', busy: '繁忙，请重试', duplicate: '已经有订单', conflict: '冲突，请重试',
    error: '被拒绝', expired: '已过期', unknown: '不知道买没买到', died: '没有答复：进程死了', done: '完成',
  },
  holds: '持有锁', expired: '以为自己还持有锁，租约其实已经到期',
  renewer: (who) => `${who} 的续期线程`, late: (who) => `✉ ${who} 被延迟的命令到达`,
  faultsOf: (who) => `${who} 的故障`, faults: '故障', budget: (left, all) => `共 ${count(all)} 次故障，还剩 ${count(left)} 次`,
  /** 故障按钮。 */
  does_fault: {
    'lease ends': '锁的租约到期', dies: '杀死进程', 'given up by the server': '服务器放弃它', leaves: '断开连接',
    'reply lost': '丢失应答', 'command lost': '丢失命令', delayed: '延迟命令', 'arrives late': '到达',
    'clock jumps': '时钟向前跳', 'time passes': '时间流逝',
  },
  closes: '服务器关闭连接',
  notNow: '现在不可能', spent: '故障已经用完',
  everyone: '对所有人',

  undo: '撤销', again: '从头再来', share: '复制链接',
  impossible: '做不到', impossibleHint: '如果没有任何调度能完成这一关的要求，就这样回答。',
  keys: '按键：A、B、C 执行买家的命令，U 撤销上一步，← 和 → 查看之前的步骤。',
  moves: (n, switches) => `${count(n)} 步，${count(switches)} 次切换`,
  switchHint: '切换：从还能继续的买家那里把轮次拿走。',

  course: '目前为止', empty: '还什么都没有发生。请按一个买家的命令。', looking: (n, all) => `正在看第 ${count(n)} 步，共 ${count(all)} 步。`,
  beginning: '正在看第一步之前的状态。', present: '回到现在',

  /** 裁决。 */
  sold: (v) => (v.sold > v.stock ? `${count(v.stock)} 件卖出了 ${count(v.sold)} 件` : v.told > v.sold ? `买家以为共买到 ${count(v.told)} 件，订单只有 ${count(v.sold)} 件`
    : v.broken ? '你打破了一条保证' : `${count(v.stock)} 件卖出 ${count(v.sold)} 件，没有出错`),
  left: (v) => `账上还剩 ${count(v.left)} 件。`,
  judge: '裁判说', toldTitle: '买家得到的答复',
  stars: (n, all) => `${count(all)} 颗星里的 ${count(n)} 颗`, hard: { easy: '容易', medium: '中等', hard: '难' },
  continue: '继续', offerHint: '要不要看提示？',
  recorded: ({ recorded, servers, turns, whole }) => `应答来自真实服务器，录制于 ${recorded}：${servers.join('、')}。${whole ? '每一步都录了。' : `录下了已知解法，以及在它之外最多 ${count(turns)} 次故障或打断的走法。`}`,
  first: '按下 A 的命令：它会在数据库上执行。再看旁边的库存，决定下一个轮到谁。',
  over: '最后一关也过了：这样的秒杀再也难不倒你。自由练习里有全部策略。',
  won: '过关', notWon: '还没有：这不是本关的要求。', tryAgain: '可以撤销几步，或者从头再来。',
  rightImpossible: (n) => `答对了：做不到。${n > 0 ? `探索器跑完了所有结果可能不同的调度，共 ${count(n)} 个。` : ''}`, wrongImpossible: '其实做得到：扣一颗星。游戏继续。',
  yours: (n) => `你用了 ${count(n)} 步。`, best: (n) => `已知最短的解法：${count(n)} 步。`,

  /** 给读屏软件。 */
  says: {
    ran: (who, what, reply) => `${who}：${what}${reply ? `，${reply}` : ''}。`, waits: (who, why) => `${who} 在等待${why ? `：${why}` : ''}。`,
    goesOn: (who) => `${who} 继续。`, told: (who, what) => `${who} 得到的答复：${what}。`, back: (n) => `已撤销，目前 ${count(n)} 步。`,
    begun: '游戏开始。', now: (n) => `游戏在第 ${count(n)} 步之后。`,
  },
};
