// 故障页面的全部中文文字。键与 ../text.js 相同。
import { count } from '../../ui.js';

export default {
  what: '每一格是一场真实的秒杀，中途发生一次故障。一场只是一个样本；“证明”会试许多种执行顺序，不太多时全部试完。',
  show: '显示', didNotHold: '没有守住，以及坏在哪里', stuck: '卡住',
  shows: { '': '全部', broke: '没有守住的', wrong: '违背承诺的' },
  shown: (n, all) => (n === all ? `${count(all)} 个策略` : n ? `${count(all)} 个策略中的 ${count(n)} 个` : '没有符合的策略。'),
  held: (n) => (n ? `守住了；未测到：${count(n)} 格` : '守住了'),
  words: {
    held: '守住了', oversold: '超卖', lost: '账不平', blocked: '停滞', stopped: '停售',
    'not tested': '未测到', 'proves nothing': '无效', '': '这里没有这种故障，或者策略不用这个服务器或时钟',
  },
  means: {
    oversold: '卖出的比库存多。', lost: '有库存或订单丢失、凭空出现或被覆盖。',
    blocked: '账是平的。销售停住的时间超过了等锁时间、租约（至少两秒）与故障本身之和，再加三秒。',
    stopped: '故障之后一件也没有卖出，尽管还有库存。',
  },
  may: '它对此没有承诺，或者已知会因此出错。', wrong: '它承诺能经受这种故障。',
  seconds: (n) => `${n.toFixed(1)} 秒`,
  control: '没有故障：对照', controlHint: '同样的销售，没有故障。',
  course: '第一阶段的过程', sold: '已售', trouble: '没有应答或出错', band: '故障',
  says: (sold, trouble, seconds) => `${seconds.toFixed(1)} 秒内售出 ${count(sold)}，没有应答或出错 ${count(trouble)}`,
  figures: {
    told: '被告知“买到了”的买家', unknown: '结果未知', ledger: '账上售出的件数', of: (n, all) => `${count(n)}，库存 ${count(all)}`, after: '故障之后售出', left: (n, all) => `${count(n)}，当时还剩 ${count(all)}`,
    stood: '最长没有成交的时间', broken: '违反的规则', command: '重跑这一格的命令',
  },
  ran: (begun, machine, servers) => `运行于 ${begun}，${machine.replace(/(\d+) processors?/, '$1 个处理器').replaceAll(', ', '，')}：${servers.replaceAll(' (private)', '').replaceAll(', ', '、')}。`, command: '整张表：', left: (n) => `有 ${count(n)} 格没有运行。`,
  sale: (s) => `每秒 ${s.rate} 个买家，${s.services} 个服务进程；租约 ${count(s.lease_ms)} 毫秒，等锁 ${count(s.wait_ms)} 毫秒。杀死进程并不能检验数据是否真的写到了磁盘。`,
  guarantee: '查看全部结论',
};
