// 课程的文字（中文）。键与 en.js 相同。
import { count } from '../../ui.js';

export default {
  title: '课程', chapters: '章节', turn: '翻页',
  chapter: (n, all) => `第 ${count(n)} 章，共 ${count(all)} 章`,
  progress: (n, all) => `${count(all)} 章中已读 ${count(n)} 章`,
  read: '已读',
  unknown: (name) => `没有叫“${name}”的章节或策略。这是第一章。`,
  source: '实际运行的源码', answer: '参考答案',
  predict: {
    asks: (name, stock, buyers) => `先猜一猜：${count(buyers)} 个买家各要一件，库存 ${count(stock)} 件。${name} 会卖出多少件？`,
    fewer: (stock) => `少于 ${count(stock)} 件`, all: (stock) => `正好 ${count(stock)} 件`, more: (stock) => `多于 ${count(stock)} 件`,
    right: '你猜对了。', wrong: '和你想的不一样。', was: (sold, initial) => `${count(initial)} 件卖出了 ${count(sold)} 件。`,
  },
  breakIt: (name, stock, buyers) => `弄坏它：${count(buyers)} 位买家，${count(stock)} 件，${name}`,
  live: (name, title) => `现场弄坏它：${name}，“${title}”`, liveRuns: '正在实验室的服务器上执行这个调度……', said: '：',
  liveBroke: (rules) => `刚刚在这个实验室的服务器上出错了：${rules}。`, liveHeld: '这一次没有出错，可以再试一次。',
  play: (name, title) => `${name}，“${title}”，一步一步看`, inWords: '用文字描述这张图', howItBreaks: '它怎样出错：时空图', playYourself: '自己来调度',
  drawn: (strategy, question = '') => `${strategy}${question && ` · ${question}`}：逐步看这张图`, notDrawn: (why) => `无法加载这张图：${why}`,
  beside: (name) => `${name} 遇到同样的情形，一步一步看`,
  noExample: '这个程序的矩阵里没有这个反例。要找到它，请运行',
  traces: '两个买家，一步一步看：',
  other: (name) => `${name} 正在运行，请等它的结论。`,
  measure: '数字取决于机器，请测你自己的：',
  measured: {
    strategy: '策略', sales: '每秒售出', share: '相当于裸事务的比例',
    lock: '锁', alone: '无竞争，每秒加锁', crowd: (n) => `${n} 个竞争者，每秒加锁`, wait: (n) => `${n} 个，等待 p99 毫秒`,
    pause: '两次尝试之间的停顿', lease: '租约', rate: '每秒加锁', notYet: '尚未测量', commands: '每次加锁的命令数', lost: '丢失的更新',
    on: (date, cpus, servers) => `${date} 测于 ${count(cpus)} 个处理器的机器：${servers}。数字是各轮的中位数，括号里是最低与最高。`,
    how: {
      compare: (run) => `同时 ${count(run.at_once)} 位买家。`,
      'bench locks': (run) => `每个竞争者持锁 ${run.hold_ms} 毫秒。`,
      'bench claims': (run) => `${run.lock}，8 个竞争者，任务 ${run.task_ms} 毫秒。一行中央锁用的时间是一百个分段的 ${run.central_over_segmented[0]} 倍。`,
    },
  },
};
