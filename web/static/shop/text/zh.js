// 商店的全部文字（中文）。键与 ../text.js 相同。
import { count } from '../../ui.js';

const time = (n) => (n < 1000 ? `${count(n)} 毫秒` : `${(n / 1000).toFixed(1)} 秒`);
const lastUnit = (all) => (all?.selling_seconds ? `对手到来 ${time(1000 * all.selling_seconds)}后，他们买走了最后一件。` : '');

export default {
  title: '限时秒杀',
  skip: '跳到商品',

  product: '便携储能电源', price: '¥349', was: '¥1,399', wasLabel: '原价 ¥1,399', priceHint: '仅供展示，不用付款',

  loading: '正在加载……',
  nothing: '还没有商品在卖，请在下面开始一场。',
  soldBy: '扣减库存的策略：',

  starts: '距离开抢还有', seconds: (_) => '秒',
  on: '正在抢购',
  left: (n, all) => `还剩 ${count(n)} 件，共 ${count(all)} 件`,
  unread: '现在读不到库存计数器：这个数字可能不是最新的。',
  below: (n) => `超卖了 ${count(-n)} 件`,
  over: '已售罄',
  gone: '一件不剩。有人取消，就会多出一件。',
  onePerPerson: '每人限购一件。',

  buy: '抢一件', reserve: '预留一件',
  buying: '请稍候……',
  wait: '还没开始',
  ask: '再问一次',

  results: {
    sold: { title: '抢到了', text: '订单已经记入账本。' },
    sold_out: { title: '已售罄', text: '最后一件被别人买走了。' },
    duplicate: { title: '每人限购一件', text: '你已经有一件了。想再买，请先取消那一单。' },
    busy: { title: '繁忙', text: '同时抢的人太多。没有为你下单，请再试一次。' },
    not_started: { title: '还没开始', text: '服务器说秒杀还没开始。没有为你下单。' },
    unavailable: { title: '商店暂时无法出售', text: '没有为你下单，过一会儿再试。' },
    looking: { title: '正在查询', text: '应答丢失了，正在账本里查询这一单……' },
    unknown: { title: '还不知道', text: '目前没有订单，但它仍可能出现。可以再问一次：幂等键相同，不会买两次。' },
    refused: { title: '被拒绝', text: '商店没有接受这一单。' },
  },

  reservation: {
    left: '剩余付款时间', seconds: (n) => (n > 0 ? '秒内付款' : '时间到了，正在询问商店……'),
    pay: '付款', cancel: '取消', doing: { pay: '正在付款……', cancel: '正在取消……' },
    states: {
      reserved: { title: '已为你预留', text: '请在截止前付款，否则这一件会重新上架。以商店的时钟为准。' },
      paid: { title: '已付款，归你了', text: '订单已经记入账本。' },
      expired: { title: '已过期', text: '没有在截止前付款。你没有付钱，这一件重新可卖。' },
      cancelled: { title: '已取消', text: '这一件重新可卖。' },
    },
    late: '你的付款晚于截止时间，已被拒绝。',
    unknown: {
      pay: '还不知道是否付款成功。请再按一次“付款”：付两次也只算一次。',
      cancel: '还不知道是否取消成功。请再按一次“取消”，不会有坏处。',
    },
  },

  you: '你是买家',
  change: '换一个人',
  keep: '用这个编号',
  userLabel: '买家编号',
  userHint: '实验室没有密码，任意编号都可以。',
  userWrong: '请填 1 到 9,007,199,254,740,991 之间的整数。',

  orders: '我的订单',
  none: '还没有。',
  active: '已购买', cancelled: '已取消', expired: '已过期', reserved: '已预留', paid: '已付款',
  cancel: '取消',
  cancelling: '正在取消……',
  cancelOrder: (id) => `取消订单 ${id}`,
  wasCancelled: '已取消，这一件重新可卖。',
  ordersLost: '暂时无法读取你的订单。',

  rivals: {
    title: '对手',
    how: '人数',
    send: (n) => `放出 ${count(n)} 名对手`,
    hint: '他们也要抢这些商品：三秒后，或者开抢的那一刻，一起下单。等他们动手，你也按下按钮。',
    late: '已经没有商品可抢，请开始下一场。',
    come: (n) => `${count(n)} 名对手即将到来`,
    here: (n) => `${count(n)} 名对手正在抢，快按按钮！`,
    answered: '已得到答复的对手',
    progress: (answered, sold) => `${count(answered)} 人已得到答复，${count(sold)} 人买到。`,
    judging: '全部得到答复，正在核对账本……',
    stop: '叫停对手',
  },
  forbidden: '只有实验室所在的机器，或者持有令牌的页面，才能这样做：请在“运行”页填写令牌。',
  story: {
    title: '结果',
    shared: {
      title: ({ yours }) => `你和另外 ${count(yours.holders - 1)} 人都买到了第 ${count(yours.remaining + yours.quantity)} 号商品`,
      text: ({ yours }) => `账本里有 ${count(yours.holders)} 个订单指向这同一件商品，只有一个人能拿到。`,
    },
    never: {
      title: ({ initial, yours }) => `一共 ${count(initial)} 件，你买到的是第 ${count(initial - yours.remaining)} 件`,
      text: ({ initial }) => `总共只有 ${count(initial)} 件：你的那一件并不存在。`,
    },
    got: {
      title: ({ yours }) => `抢到了，第 ${count(yours.place)} 个下单`,
      text: ({ yours }) => (yours.holders === 1 ? `账本里，第 ${count(yours.remaining + yours.quantity)} 号商品只记在你名下。` : '订单已经记入账本。'),
    },
    held: { title: () => '你预留了一件', text: () => '付款之后它才归你。截止之前，对手买不到它。' },
    late: {
      title: (_, all) => `已售罄：${count(all?.requests ?? 0)} 名对手来过`,
      text: (_, all, { took }) => `${time(took)}后得到答复。${lastUnit(all)}`,
    },
    unknown: { title: () => '还不知道', text: () => '应答丢失了，或者等得太久。这不等于“已售罄”：你可能已经买到。请再问一次。' },
    refused: { title: () => '没有为你下单', text: () => '你被拒绝不是因为库存，原因见上面的答复。' },
    absent: { title: () => '你什么也没买', text: (_, all) => `趁对手在抢的时候按下按钮。${lastUnit(all)}` },
    verdict: {
      held: ({ sold, initial }) => `${count(initial)} 件卖出 ${count(sold)} 件，每件只归一位买家。`,
      oversold: ({ sold, initial, twice }) => `只有 ${count(initial)} 件，却卖出 ${count(sold)} 件。${twice > 0 ? `其中 ${count(twice)} 件同时卖给了几位买家。` : ''}`,
      lost: () => '账对不上，详情见整场压测。',
      blocked: () => '还有库存，秒杀却停住了。',
      not_valid: () => '这场压测不能证明什么，原因见整场压测。',
    },
    play: '一步一步看它怎样出错',
    lesson: (name) => `${name} 的课程`,
    run: '在“运行”页看整场压测',
    repair: (name) => `换成不会超卖的策略：${name}`,
    broken: (name) => `换一个会出错的策略来卖：${name}`,
  },
  ledger: {
    title: '账本',
    intro: '订单和预留一写入就出现在这里，最新的在最上面。',
    lost: '暂时无法读取账本，正在重试……',
    left: '剩余', sold: '已售', reserved: '已预留', twice: '重复卖出',
    tooMany: (n) => `多卖了 ${count(n)} 件。`,
    givenBack: '有订单取消或过期，退回的商品可以再卖，因此无法统计重复卖出的件数。',
    orders: '最新订单',
    place: '订单', user: '买家', remaining: '之后还剩', holders: '同一件卖给',
    shared: (unit, n) => `⚠ 第 ${count(unit)} 号：${count(n)} 人`,
    never: '⚠ 并不存在',
    you: '你',
    none: '还没有订单。',
  },

  next: {
    title: '下一场', strategy: '策略', stock: '件数', broken: '故意写错',
    put: '开始下一场', putting: '正在等进行中的购买结束……', hint: '结束这一场，并删除它的订单。',
    add: (n) => `为这一场补货 ${count(n)} 件`, adding: '正在补货……', addHint: '为正在进行的销售补货，订单保留。',
  },
};
