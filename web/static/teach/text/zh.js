// 教学资料的文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

export default {
  title: '用它来教学',
  chapterOf: (n) => `第 ${count(n)} 章`,
  present: '放映', plan: '教案', sheet: '练习', solutions: '答案', back: '所有章节',
  unknown: (name) => `没有叫“${name}”的章节。`,

  slides: {
    label: (title) => `幻灯片：${title}`, at: (n, all) => `${count(n)} / ${count(all)}`, of: (n, all) => `第 ${count(n)} 页，共 ${count(all)} 页`,
    part: (n, all) => `${count(n)}/${count(all)}`,
    before: '上一页', next: '下一页', leave: '退出', notes: '备注', full: '全屏', print: '打印',
    keys: '按键：← 和 → 翻页，Home 和 End 到第一页和最后一页，N 显示备注，F 全屏，Esc 退出。',
    live: '动手弄坏它', predict: '先猜一猜', yours: '轮到你了', answer: '参考答案', levelsHint: '在游戏里，由你来调度。',
    note: {
      title: () => '开讲前先在另一个窗口打开实验室：动手的那一页要用到它。',
      know: () => '念一遍学习目标，问问谁在工作里遇到过这个问题，请一位讲讲。',
      primer: () => '先问谁已经知道。都知道就跳过这一页。',
      problem: () => '在这里停一下，先让全班说出什么事绝不能发生。',
      steps: () => '每走一步就问：下一条命令是什么？谁可能插进来？',
      drawn: () => '时间从上往下走，每个买家一列。先遮住下半部分，问下一个应答是什么。',
      picture: () => '先在黑板上一部分一部分地画出来，再放这一页。',
      table: () => '先遮住最后一列，让全班一行一行地填。',
      predict: () => '每个答案都举手表决，把人数写在黑板上，先不说谁对。',
      figures: () => '只在同一张表里比较。换一台机器数字会变，先后顺序很少变。',
      break: () => '只说按钮做什么，不说会有什么结果。',
      live: (name, stock, buyers) => `再念一遍大家猜的结果：库存 ${count(stock)} 件、${count(buyers)} 个买家时，${name} 会卖出多少件？然后按下按钮，等待结论。打开图之前，先问原因。这一次如果没有出错，就再运行一次：每次运行的调度都不同。`,
      schedule: (name) => `先让学生指出 ${name} 的哪一条命令之后会出错，再一步一步放这个反例，每一步都先问应答是什么。`,
      play: () => '两人一组，十分钟：一个人调度买家，另一个人说出数据库里现在是什么。最先过关的一组上来演示。',
      close: () => '只记住一句话。下一章就从它的漏洞开始。',
      think: () => '自己想两分钟，和同桌讨论两分钟，再收集答案。',
      answer: () => '听到三种不同的答案之后再放这一页。',
      sources: () => '想深入的同学可以读这些资料。练习单发下去当作业。',
    },
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
    run: '运行它，再对照：',
    matrix: '对每个策略和证明里的每个问题：它不会出错（✓）还是会出错（✗）？', strategy: '策略',
    matrixSolved: '这是证明得到的结果；（✓）表示试过的执行顺序里都没有出错。',
    think: '想一想，并说明理由。', play: '找出一个调度，或者说明做不到。',
    impossible: '做不到。', schedule: (moves, switches) => `${count(moves)} 步，切换 ${count(switches)} 次：`,
  },
};
