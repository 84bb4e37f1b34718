package compare

// chinese words the report; a test finds what is missing.
var chinese = tongue{
	".": "。", ": ": "：", ", ": "，", "; ": "；",
	"seckill: strategies compared": "seckill：策略对比",
	"Strategies compared":          "策略对比",
	"The same %s units, the same buyers in the same order, one strategy after the other; every sale was judged from the ledger and " +
		"from what each buyer was told. Figures are medians of %d rounds in alternating order, with the lowest and the highest.": "同样的 %s 件库存，同样的买家、同样的先后，依次运行每一种策略；每一场都按账本和每位买家得到的答复判定。数字是 %d 轮的中位数，" +
		"括号里是最低和最高的一轮；每隔一轮顺序相反。",
	"Problem:": "问题：",

	"%d held as they must, %d broken ones were caught":    "%d 种如期守住，%d 种故意写错的已发现",
	", %d CAME OUT OTHERWISE":                             "，%d 种与已知的不同",
	", %d not run":                                        "，%d 种未运行",
	"; interrupted: what is here was measured until then": "；提前停止：这里是停止之前的结果",
	"Verdicts":                                    "结论",
	"Not run":                                     "未运行",
	"Since the older result":                      "与较早的结果相比",
	"Sales per second":                            "每秒售出",
	"Sales per second by buyers at a time":        "不同并发下的每秒售出",
	"What a sale took":                            "一场秒杀的代价",
	"Beside the fastest that held":                "与守住的策略里最快的相比",
	"What a buyer waited: from the median to p99": "买家等了多久：从中位数到 p99",
	"Milliseconds; the axis is logarithmic.":      "毫秒；对数坐标。",
	"Commands per purchase":                       "每次购买的命令数",
	"The articles’ words, and what this run says": "文章的说法，与这次的结果",
	"Each strategy":                               "每一种策略",
	"What each of them guarantees":                "各自保证什么",
	"How it was measured":                         "怎样测的",
	"sales/s with %d → %d buyers at a time: %s":   "并发 %d → %d 时的每秒售出：%s",
	"%s %s → %s (p99 %s → %s ms)%s":               "%s %s → %s（p99 %s → %s 毫秒）%s",
	"held":                                        "守住了",
	"broken, and caught":                          "故意写错，已发现",
	"not as known":                                "与已知的不同",
	"baseline":                                    "基线",
	"baseline: the work without a strategy":       "基线：不用策略、只做同样的工作",
	"not measured: ":                              "没有测：",
	"%s per second":                               "每秒 %s",
	"bare gin handler":                            "空的 gin 处理器",
	"bare Redis INCR":                             "单纯的 Redis INCR",
	"bare hot-row UPDATE":                         "单纯 UPDATE 同一行",
	"the same transaction without HTTP":           "同一个事务，不经 HTTP",
	"a pessimistic lock suits low concurrency":    "悲观锁适合并发低的场合",
	"four choices by concurrency and consistency": "按并发和一致性分的四种选择",
	"%s and %s cannot be told apart%s":            "%s 与 %s 分不出快慢%s",
	" (%s–%s)":                                    "（%s–%s）",
	"%s is %s × %s%s":                             "%[1]s 是 %[3]s 的 %[2]s 倍%[4]s",
	pairNote:                                      "每秒售出，同一轮与同一轮相比：各轮比值的几何平均，以及它的 95% 置信区间。每个区间各自成立：二十个里可能有一个不对。",
	"As the services count them, sold or not; then the average wait for the lock.":                                                "由服务进程计数，不论是否成交；后面是等锁的平均时间。",
	"Purchases that sold, by the time from a sale’s first request to its last sold one. Bar: median of the rounds; dot: a round.": "成交的购买数，除以从第一个请求到最后一笔成交的时间。条形是各轮的中位数，每个点是一轮。",
	"Above: the latency distribution of the median round, on the same axes for all. Below: the course of that sale: answers per second " +
		"(line, left) and stock left as last reported (dashed, right), one point per tenth of a second.": "上图：中位数那一轮的延迟分布，所有策略坐标相同。下图：那一场的经过，每秒答复数（实线，左轴）和最后得知的剩余库存（虚线，右轴），每十分之一秒一个点。",
	"Computed by seckill prove, not by this run: ✓ holds, ✗ breaks, – does not apply.": "由 seckill prove 算出，不是这次测的：✓ 守住，✗ 守不住，– 不适用。",

	// Columns and their notes.
	"strategy": "策略", "verdict": "结论", "sold": "售出", "sales/s": "售出/秒", "p50 ms": "p50 毫秒", "p99 ms": "p99 毫秒",
	"lock wait ms": "等锁 毫秒", "commands": "命令数", "of gin": "比 gin", "of INCR": "比 INCR", "of UPDATE": "比 UPDATE", "of transaction": "比事务",
	"sold out in s": "售罄用时 秒", "p99.9 ms": "p99.9 毫秒", "errors": "错误", "busy": "繁忙",
	"CPU service ms": "服务 CPU 毫秒", "CPU servers ms": "服务器 CPU 毫秒", "CPU generator ms": "压测端 CPU 毫秒",
	"change": "变化", "of": "与何相比", "was": "之前", "is": "之后", "SLOWER": "慢了", "another verdict": "结论变了", "transaction": "事务",
	"Not in this result: ": "不在这个结果里：", "Not in the older one: ": "不在较早的结果里：",
	"More than %g %% slower, or another verdict, fails. It was: %s": "慢了 %g%% 以上，或者结论变了，就算不合格。较早的命令：%s",
	strategyNote: "各轮的中位数（最低–最高）。售出：占库存的多少，其余的因繁忙或冲突被拒绝。每秒售出：成交的购买数，除以从第一个请求到最后一笔成交的时间。" +
		"比值相对于同一轮的基线：对 gin 和 INCR 按请求，对 UPDATE 和事务按成交。等锁和命令数都按每次购买算。",
	costNote: "售罄用时：从第一个请求到最后一笔成交，每一场都卖光才有。p99.9：全部请求，满 1,000 个才有。错误和繁忙：占请求的多少。" +
		"CPU：每个请求用的处理器时间；压测端连同内嵌在它进程里的引擎。",

	// Verdicts, and what the judge found.
	"HELD": "守住了", "NOT VALID": "无效", "NOT CAUGHT": "未发现", "OVERSOLD!": "超卖", "LOST!": "账不平", "BLOCKED!": "停滞",
	"OVERSOLD, as known": "超卖，如已知", "LOST, as known": "账不平，如已知",
	"%s units too many": "多卖了 %s 件",
	"oversold":          "卖出的多于原有的", "negative stock": "库存低于零", "lost update": "丢失更新", "lost units": "库存消失",
	"bought twice": "一个买家，两个订单", "bad order": "不可能的订单", "missing order": "卖了却没有订单", "wrong receipt": "回执与订单不符",
	"unacknowledged order": "没有买家被告知的订单", "invented order": "没有买家请求过的订单", "undersold": "有货却拒绝了买家",
	"nothing sold": "什么也没卖出", "initial changed": "这场销售中途被重置", "mixed homes": "库存放在两处", "straggler": "属于另一次运行的订单",
	"unknown home": "库存读不出来", "counter and row differ": "计数器与库存行不一致", "unused counter changed": "没有销售，计数器却变了",
	"fewer than told": "卖出的比告知买家的少", "more than told": "卖出的比告知买家的多", "two answers": "同一请求，两个答复",
	"key refused": "请求已有订单却被拒绝", "false duplicate": "没有订单却被告知重复", "not cancelled": "取消没有生效",
	"cancelled unasked": "被取消，却不是买家取消的", "not linearizable": "这些答复不可能同时为真", "blocked": "停滞",

	// What it was measured with.
	"private": "专用", "given": "外部", "embedded": "内嵌", ", DOWN: ": "，没有响应：",
	"command": "命令", "sale": "秒杀", "rounds": "轮数", "when": "时间", "machine": "机器", "services": "服务进程", "locks": "锁", "durability": "持久性",
	"%s units, %s buyers × %d, %d at a time, seed %d":               "%s 件，%s 位买家各买 %d 件，并发 %d，种子 %d",
	"%d in alternating order, at least %s measured of each in each": "%d 轮，顺序交替，每种每轮至少测 %s",
	"%d processors, %s/%s, %s":                                      "%d 个处理器，%s/%s，%s",
	"%s, seckill %s":                                                "%s，seckill %s",
	"lease %s, wait %s, poll %s":                                    "租约 %s，等待 %s，轮询间隔 %s",

	// Questions of the guarantee matrix.
	"no oversell": "不超卖", "no lost update": "不丢失更新", "across processes": "跨进程", "sold out told rightly": "售罄说得对", "dead holder": "持有者死亡", "hung holder": "持有者挂起",
	"lease ends under a holder": "租约在持有者手里到期", "clocks disagree": "时钟不一致", "only the owner releases": "只有持有者能释放",
	"lost reply": "答复丢失", "late command": "命令迟到", "renewers": "续期", "cancelling": "取消订单", "reset and start": "重置与开售",
	"one key, one order": "幂等键", "two faults": "两个故障", "linearizable": "可线性化", "other SKUs unhindered": "不阻塞别的商品",
	"how it waits": "怎样等待", "first come first served": "先到先得", "reentrant": "可重入", "loss of one node": "节点丢失",
}
