// 对比页面的全部文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

const tidy = (s) => (s < 90 ? `${Math.max(1, Math.round(s))} 秒` : `${count(Math.round(s / 60))} 分钟`);

export default {
  title: '对比',
  what: '哪个更快，又对不对？用同一场秒杀、同样的买家、同样的先后，依次运行每一种策略。每隔一轮顺序相反，机器一时变慢就不会只影响某一种策略。',

  form: '对比内容', preset: '秒杀', advanced: '策略与设置',
  presets: {
    'flash-sale': ['秒杀', '件数少，每件有 20 位买家：哪一种答复的买家最多？'],
    'hot-row': ['热点行', '库存卖不完：一行能卖多快？'],
    'many-skus': ['许多商品', '50 种商品：哪种锁或扫描会让买别的商品的人等待？'],
    'few-buyers': ['买家很少', '一次两位：没有人排队时，一次购买要多久？'],
  },
  fields: {
    skus: ['商品数', '每种都有这么多库存'],
    zipf: ['冷热不均', '0：各种一样热；1.5：一种最热'],
    rounds: ['轮数', '每隔一轮顺序相反'],
    turn: ['每次至少测量，毫秒', '太短的秒杀会重复，直到满这么久'],
    crowds: ['更多并发数', '再各测一遍，用逗号分开：1, 16, 256'],
    seed: ['种子', '种子相同，买家及其先后就相同'],
  },
  keys: '每个请求都带 Idempotency-Key：另测不带键的', keyless: '，不带键',
  anySeed: '随机', noCrowds: '不加',
  busy: '实验室正忙：有运行、对比或轨迹在进行。请等它结束，或者停止它。',
  start: '开始对比',
  sameCommand: '等价的命令行：',
  copyCommand: '复制命令', copyLink: '复制链接',

  progress: {
    begins: '开始测量……',
    on: (name, crowd) => `正在测量 ${name}${crowd ? `（并发 ${count(crowd)}）` : ''}……`,
    stopping: '已停止：正在判定已有的结果……',
    turns: (done, total) => (total ? `${count(total)} 次中完成了 ${count(done)} 次` : '第一次'),
    left: (s) => `大约还要 ${tidy(s)}`,
  },
  verdicts: {
    held: () => '正确',
    caught: (v) => `${{ lost: '账不平', blocked: '停滞' }[v] ?? '超卖'}（已知）`,
    wrong: (v) => ({ lost: '账不平', blocked: '停滞' }[v] ?? '超卖'),
    missed: () => '未发现',
    void: () => '无效',
  },
  served: { yes: '服务到位', no: '服务不到位', not_known: '服务是否到位：未知', '': '–' },
  over: (n) => `多卖 ${count(n)} 件`,
  answer: {
    answers: (one, times, other) => [one, ' 答复的买家是 ', other, ' 的 ', times, ' 倍'],
    sales: (one, times, other) => [one, ' 的售出速度是 ', other, ' 的 ', times, ' 倍'],
    alike: (one, other) => [one, ' 与 ', other, ' 分不出快慢'],
    breaks: (one, questions) => ['在证明里，', one, ' 会出错：', questions],
  },
  announce: { on: '正在对比。', over: (text) => `对比结束：${text}` },
  isOn: '有一场对比正在进行：去看看',

  outcome: (v) => [
    v.held && `${count(v.held)} 种守住了`,
    v.caught && `${count(v.caught)} 种故意写错的已发现`,
    v.other && `${count(v.other)} 种与已知的不同`,
    v.not_run && `${count(v.not_run)} 种未运行`,
  ].filter(Boolean).join('，') || '没有结果',
  wasStopped: '提前停止：这里是停止之前的结果',
  duration: (s) => (s < 60 ? `${s < 10 ? s.toFixed(1) : Math.round(s)} 秒` : `${Math.floor(s / 60)} 分 ${Math.floor(s % 60)} 秒`),
  table: '所有策略', factorOf: (name) => `比 ${name}`,
  columns: {
    strategy: ['策略'], right: ['对不对？', '账本和告诉买家的话都对吗？'], served: ['服务？', '及时、有明确的答复，直到卖光'],
    answers: ['答复/秒', '给所有买家的，包括被拒绝的'], sales: ['售出/秒', '到一场的最后一件为止'],
    sell_out: ['售罄用时', '从第一个请求到最后一笔成交；卖光才有'],
    bought: ['买到：p50 / p99（毫秒）', '买到的人里，一半、100 个里有 99 个，等待不超过这个时间'],
    refused: ['没买到：p50 / p99（毫秒）', '没买到的人里，一半、100 个里有 99 个，等待不超过这个时间'],
    commands: ['命令数', '一次购买向后端发的命令'],
    processor: ['CPU 毫秒 服务 / 服务器', '处理每个请求，服务进程和私有服务器各用的处理器时间'],
    keys: ['带键 / 不带', '带 Idempotency-Key 时的速度是不带键时的几倍，附 95% 置信区间'],
    factor: ['', '带 95% 置信区间'],
  },
  tableNote: (rounds) => (rounds > 1
    ? `数字是 ${count(rounds)} 轮的中位数。倍数是各轮比值的几何平均，后面是它的 95% 置信区间。区间包含 1，就分不出快慢；`
      + '轮数越多，区间越窄。点表头排序。'
    : '只有一轮，看不出波动：两轮以上才有区间。点表头排序。'),
  charts: {
    crowds: { answers: '不同并发下的每秒答复', sales: '不同并发下的每秒售出' }, crowdsHint: '各轮的中位数',
    waits: '买家等了多久', waitsHint: '100 位买家里有几位等待不超过这个时间',
    table: '看表格',
  },
  found: '判定发现了什么',
  notRun: '未运行', problems: '其他问题',
  machine: (cpus, os) => `${count(cpus)} 个处理器，${os}`,
  unknown: '这里没有这场对比：它可能属于别的实验室。现有的列在下面。',

  list: {
    title: '历史',
    empty: '还没有做过对比。',
    started: '开始', strategies: '策略', sale: '秒杀', rounds: '轮数', verdicts: '结论', took: '用时',
    names: (names) => (names.join() === 'all' ? '全部' : names.length > 3 ? `${names.slice(0, 2).join('、')} 等 ${count(names.length)} 种` : names.join('、')),
    saleOf: (s) => `${count(s.stock)} 件，${count(s.buyers)} 位买家${s.quantity > 1 ? `各买 ${count(s.quantity)} 件` : ''}，并发 ${count(s.concurrency)}`,
    roundsOf: (n, ms) => `${count(n)} × ${count(ms)} 毫秒`,
    on: '进行中', stopped: '提前停止',
    held: (n) => `${count(n)} 守住`, caught: (n) => `${count(n)} 已发现`, other: (n) => `${count(n)} 不同`, notRun: (n) => `${count(n)} 未运行`,
    reuse: '用此设置',
    kept: (folder, most) => `最近的 ${count(most)} 场保存在 ${folder}。`,
    notKept: '这个实验室没有历史文件夹：停止后，这些就没有了。',
  },
};
