// 教学资料的文字（中文）。键与 en.js 相同。
import { count } from '../../ui.js';

export default {
  title: '用它来教学',
  chapterOf: (n) => `第 ${count(n)} 章`,
  present: '放映', plan: '教案', sheet: '练习', solutions: '答案', back: '所有章节',
  unknown: (name) => `没有叫“${name}”的章节。`,

  slides: {
    label: (title) => `幻灯片：${title}`, at: (n, all) => `${count(n)} / ${count(all)}`, of: (n, all) => `第 ${count(n)} 页，共 ${count(all)} 页`,
    part: (n, all) => `${count(n)}/${count(all)}`,
    before: '上一页', next: '下一页', leave: '退出', notes: '备注', noNotes: '这一页没有备注。', full: '全屏', print: '打印',
    keys: '按键：← 和 → 翻页，Home 和 End 到第一页和最后一页，N 显示备注，F 全屏，Esc 退出。',
    live: '动手弄坏它', yours: '轮到你了', answer: '参考答案', levelsHint: '在游戏里，由你来调度。',
  },

  plans: {
    title: '教案', minutes: (n) => `${count(n)} 分钟`, length: '课时长度', watch: '给老师',
    time: '分钟', does: '内容', slides: '幻灯片',
    range: (from, to) => (from === to ? `${count(from)}` : `${count(from)} 到 ${count(to)}`), span: (from, to) => `${count(from)} 到 ${count(to)}`,
    parts: {
      know: () => '开场：学完会知道什么，需要先了解什么',
      primer: () => '预备知识：先请学生说说已经知道的',
      problem: () => '要解决的问题：先让学生自己找出规则，再给出来',
      steps: () => '一步一步看：每放一页，就向全班提一个问题',
      break: (name, predicts) => (predicts ? `每个人先猜结果，然后当场弄坏 ${name}` : `先猜是哪一条命令出的事，再放 ${name} 的反例`),
      source: (names) => `两人一组读源码：${names}。决定成败的是哪一行？`,
      play: (titles) => `一个人或两人一组玩游戏：${titles}`,
      think: () => '下一步和想一想：先自己想，再和同桌讨论，最后对照参考答案',
      close: () => '收尾：参考资料，练习留作作业',
    },
  },

  sheets: {
    title: (chapter) => `练习：${chapter}`, solved: (chapter) => `答案：${chapter}`,
    name: '姓名', print: '打印', other: { questions: '看答案', solutions: '看题目' },
    predict: (name, stock, buyers) => `${count(buyers)} 个买家各要一件，库存 ${count(stock)} 件。${name} 会卖出多少件？`,
    few: (stock) => `少于 ${count(stock)} 件`, all: (stock) => `正好 ${count(stock)} 件`, many: (stock) => `多于 ${count(stock)} 件`,
    run: '运行它，再对照：',
    matrix: '对每个策略和证明里的每个问题：它守得住（✓）还是会被打破（✗）？', strategy: '策略',
    matrixSolved: '这是证明得到的结果；（✓）表示在试过的调度里都守得住。',
    think: '想一想，并说明理由。', play: '找出一个调度，或者说明做不到。',
    impossible: '做不到。', schedule: (moves, switches) => `${count(moves)} 步，切换 ${count(switches)} 次：`,
  },
};
