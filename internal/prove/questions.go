package prove

import (
	"context"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Question is a column of the matrix: a search in scenarios, or whatever ask does.
type Question struct {
	ID    string `json:"id"` // as a catalog.Question, where strategies say what they expect
	Title string `json:"title"`
	Asks  string `json:"asks"`
	// Choosing: it tells strategies apart. Where there is no room for all questions,
	// these have a column.
	Choosing bool `json:"choosing,omitempty"`

	// applies says why it cannot be asked; nil: it always can.
	applies func(context.Context, *bench) (whyNot string, err error)
	// premise is why it is not asked of a strategy that breaks by itself; across, of one
	// that breaks with its buyers in two processes. "": it is asked nevertheless, in one.
	premise, across string
	// nothing says why it is not asked where the searches so far have seen nothing of
	// what it is about; nil: there need be nothing.
	nothing func(*bench, explore.Result) string
	// breaks says which rules count.
	breaks    func(rule string) bool
	scenarios func(b *bench, processes int) []*explore.Scenario
	// then is what else is asked of a strategy that has not broken; nil: nothing.
	then func(*bench, context.Context, Cell) (Cell, error)

	// ask answers in another way, with so many processes where there is a premise; nil: it
	// is a search.
	ask func(b *bench, ctx context.Context, processes int) (Cell, error)
}

var (
	nothingEnds = unlessFaulty("there is nothing that could end or be lost")
	notLeased   = unlessFaulty("it holds nothing between two commands that could end")
)

func unlessFaulty(why string) func(*bench, explore.Result) string {
	return func(_ *bench, r explore.Result) string {
		if r.Faulty > 0 {
			return ""
		}
		return why
	}
}

func unlessRenewed(_ *bench, r explore.Result) string {
	if r.Renewed > 0 {
		return ""
	}
	return "nothing renews it by commands of its own"
}

func unlessAsksTime(b *bench, _ explore.Result) string {
	if b.world.AsksTime() {
		return ""
	}
	return "it asks no clock of its own"
}

// ofLocks: it is asked of locks that exclude, if nothing goes wrong.
func ofLocks(whyNot string) func(context.Context, *bench) (string, error) {
	return func(ctx context.Context, b *bench) (string, error) {
		if b.info.Locker == nil {
			return whyNot, nil
		}
		s, err := b.sound(ctx, 1)
		if err != nil || s.broken.schedule(explore.RuleOverlap) == nil {
			return "", err
		}
		return "it excludes no one even without a fault", nil
	}
}

var (
	dies  = []explore.Fault{explore.Dies}
	ends  = []explore.Fault{explore.LeaseEnds}
	late  = []explore.Fault{explore.Delayed}
	lost  = []explore.Fault{explore.ReplyLost, explore.CommandLost}
	fails = []explore.Fault{explore.ReplyLost, explore.CommandLost, explore.Dies}
)

// Questions are all columns, in order.
func Questions() []Question {
	return []Question{
		{ID: "oversell", Title: "no oversell", Choosing: true,
			Asks: "Two buyers in one process, or one beside a cancellation, every schedule of their commands: is ever more sold than there was?",
			ask:  withoutFault("oversell", 1, isOversell)},
		{ID: "lost-update", Title: "no lost update",
			Asks: "The same: do stock and orders agree in the end, and does every buyer get through?",
			ask: withoutFault("lost-update", 1, func(rule string) bool {
				return !isOversell(rule) && rule != explore.RuleOverlap
			})},
		{ID: "processes", Title: "across processes", Choosing: true,
			Asks: "Both questions again, with the actors in two processes.",
			ask:  withoutFault("processes", 2, func(rule string) bool { return rule != explore.RuleOverlap })},
		// No buyer comes afterwards: they would buy the units that show it.
		{ID: "sold-out", Title: "sold out told rightly",
			Asks: "Two buyers each want all units, or one wants more than there are, or one of them dies, " +
				"or a batch follows one that may fail: is a buyer told sold out of units that stay unsold to the end?",
			premise: "it breaks with enough for all",
			breaks:  func(rule string) bool { return rule == judge.RuleUndersold },
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				all, more := buyers(processes, explore.Buys, explore.Buys), buyers(processes, explore.Buys, explore.Buys)
				all[1].Quantity = 2
				more[0].Quantity, more[1].Quantity = 3, 2
				list := []*explore.Scenario{
					{Name: "two buyers each want all units", Stock: 2, Buyers: all},
					{Name: "one wants all units, one more than there are", Stock: 2, Buyers: more},
				}
				if processes > 1 { // a process takes all its buyers along
					list = append(list, &explore.Scenario{Name: "two buyers each want all units, one may die", Stock: 2,
						Buyers: all, Faults: dies})
				}
				if b.info.Shares { // what a batch is to leave is not there until it has committed
					batches := buyers(1, explore.Buys, explore.Buys, explore.Buys, explore.Comes, explore.Comes)
					for i := range batches {
						batches[i].Quantity = int64(1 + i/3)
					}
					list = append(list, &explore.Scenario{Name: "a batch behind another, whose COMMIT may be lost", Stock: 4,
						Buyers: batches, Faults: []explore.Fault{explore.CommandLost}})
				}
				if b.info.Stock == seckill.InRowAndRedis { // units that come back to neither are refused to the next buyer
					back := buyers(processes, explore.Cancels, explore.Forgets)
					list = append(list, &explore.Scenario{Name: "the last units come back while Redis loses its data", Stock: 2, Next: true, Buyers: back})
				}
				return list
			}},
		{ID: "dead-holder", Title: "dead holder", Choosing: true,
			Asks:    "A buyer's process dies before any of its commands: is the stock right, and do the others get through, how long after the death?",
			premise: "it breaks with every buyer alive",
			across:  "a dead process takes the lock with it; across processes it locks nothing",
			nothing: nothingEnds, breaks: anyRule, then: (*bench).timeAfterDeath,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				list := append([]*explore.Scenario{
					{Name: "two buyers, one may die", Stock: 5, Next: true, Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: dies},
				}, b.shared(processes, explore.Buys, explore.Scenario{Name: "a shared transaction, one process may die, or one buyer leave",
					Stock: 6, Faults: []explore.Fault{explore.Dies, explore.Leaves}})...)
				if b.info.Locker == nil {
					return list
				}
				contenders := buyers(processes, explore.Locks, explore.Locks, explore.Locks)
				again := buyers(processes, explore.Locks, explore.Locks)
				again[0].Again = 1
				if slices.Contains(b.info.Needs, backend.ZooKeeper) || slices.Contains(b.info.Needs, backend.Etcd) {
					list = append(list, &explore.Scenario{Name: "one has the lock, one waits for it, a third comes, and the session of one of these ends",
						InLine: true, Latecomers: 1, Buyers: contenders, Faults: ends})
				}
				return append(list,
					&explore.Scenario{Name: "a third contender dies first; two find what it left behind", Buyers: contenders, DiesFirst: true},
					&explore.Scenario{Name: "one has the lock, two wait for it, one may die", Buyers: contenders, InLine: true, Faults: dies},
					&explore.Scenario{Name: "one has the lock and takes it again, another comes", InLine: true, Latecomers: 1, Buyers: again})
			}},
		// What a buyer who leaves is told goes to the log, and to the copy of the request
		// that comes next. All are in one process: a queue there has a third buyer, behind
		// the one who leaves.
		{ID: "leaves", Title: "a buyer leaves",
			Asks: "A buyer hangs up, or their time is up, before any of their commands or while they wait; their process lives on: " +
				"is what they are told true, is the stock right, and do the others get through?",
			premise: "it breaks when every buyer stays", nothing: nothingEnds, breaks: notOverlap,
			scenarios: func(b *bench, _ int) []*explore.Scenario {
				leaves, goes := []explore.Fault{explore.Leaves}, []explore.Fault{explore.Leaves}
				if b.info.Shares { // one whose code panics goes, too, and leaves the others of the batch
					goes = append(goes, explore.Panics)
				}
				return []*explore.Scenario{
					{Name: "two buyers in one process, enough for one, one may leave", Stock: 2, Wakes: true,
						Buyers: buyers(1, explore.Buys, explore.Buys), Faults: leaves},
					{Name: "three buyers in one process, enough for all, one may leave", Stock: 6, Next: true, Wakes: true,
						Buyers: buyers(1, explore.Buys, explore.Buys, explore.Buys), Faults: goes}}
			}},
		{ID: "hung-holder", Title: "hung holder",
			Asks: "A holder of the lock hangs for longer than a lease while its renewer, session and connections live: does the next get the lock? " +
				"And is a buyer who waits for only a second turned away?",
			premise: "it breaks with no holder hanging", ask: (*bench).hungHolder},
		{ID: "lease-end", Title: "lease ends under a holder", Choosing: true,
			Asks:    "The lease (or session, or connection) ends at any moment while its holder is paused: is the stock right, also when one cancels?",
			premise: "it breaks with every lease alive", nothing: notLeased, breaks: notOverlap,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				list := []*explore.Scenario{
					{Name: "two buyers, the holder's lease ends", Stock: 2, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: ends},
					{Name: "two buyers, enough for both, the holder's lease ends", Stock: 5, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: ends},
					{Name: "one buys, one cancels, the holder's lease ends", Stock: 4, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Cancels), Faults: ends}}
				if b.info.Stock == seckill.InRowAndRedis { // which keeps for each user what is open
					list = append(list, &explore.Scenario{Name: "one user buys with two keys, a lease ends", Stock: 4, Next: true,
						Buyers: oneUser(processes, explore.Buys), Faults: ends})
				}
				return list
			}},
		{ID: "clocks", Title: "clocks disagree",
			Asks:    "The clock of a buyer's process jumps ahead by more than a lease, at any moment: is the stock right?",
			premise: "it breaks whatever the clocks say",
			across:  "it breaks across processes whatever their clocks say",
			nothing: unlessAsksTime, breaks: explore.LedgerRule,
			scenarios: func(_ *bench, processes int) []*explore.Scenario {
				return []*explore.Scenario{{Name: "two buyers, the clock of one jumps ahead by more than a lease", Stock: 2,
					Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: []explore.Fault{explore.ClockJumps}}}
			}},
		{ID: "owner", Title: "only the owner releases",
			Asks:    "Three contenders, a lease that ends at any moment, or a release that arrives late: does it ever free the lock of another?",
			applies: ofLocks("it is not a lock that could be released"),
			nothing: nothingEnds, breaks: atTheLock, then: (*bench).releasedTwice,
			scenarios: func(_ *bench, processes int) []*explore.Scenario {
				three := buyers(processes, explore.Locks, explore.Locks, explore.Locks)
				// Two of one process and one of another: a lock may know its processes
				// apart, and not their buyers.
				neighbours := slices.Clone(three)
				neighbours[1].Process = neighbours[0].Process
				// Two show it where the victim is told at its release; where it is not, a
				// third gets in beside it.
				return []*explore.Scenario{
					{Name: "two contenders, the lock is lost under its holder", Clears: true, Buyers: three[:2], Faults: ends},
					{Name: "one has the lock, two wait for it, and it is lost under its holder", Clears: true, InLine: true,
						Buyers: three, Faults: ends},
					{Name: "one has the lock, two wait for it, a command is late", InLine: true, Buyers: neighbours, Faults: late}}
			}},
		{ID: "lost-reply", Title: "lost reply",
			Asks: "Any one command takes effect and its reply is lost, or it never arrives: is the stock right, and is no buyer blocked for ever? " +
				"And if Redis refuses a command in the middle of a script, and keeps what the script has written?",
			premise: "it breaks with every reply heard", nothing: nothingEnds, breaks: notOverlap,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				one := buyers(processes, explore.Buys, explore.Cancels)
				if b.info.Accepts {
					one[0].Does = explore.Accepts
				}
				one[0].Again, one[1].Again = 1, 1
				return append(append(b.shared(processes, explore.Buys, explore.Scenario{
					Name: "a shared transaction, a reply or a command is lost", Stock: 6, Faults: lost}),
					&explore.Scenario{Name: "two buyers, a reply or a command is lost", Stock: 5, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: lost}),
					b.refused("one buys, one cancels, and again; Redis refuses a command, perhaps of a script", one, written...)...)
			}},
		{ID: "late-command", Title: "late command", Choosing: true,
			Asks: "Any one command is delayed: its sender gets no answer, cleans up and leaves, and it arrives at any later moment. " +
				"Is the stock right, and is no buyer blocked for ever?",
			premise: "it breaks with every command in time", nothing: nothingEnds, breaks: notOverlap,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				return append(b.shared(processes, explore.Buys, explore.Scenario{
					Name: "a shared transaction, a command is late", Stock: 6, Faults: late}),
					&explore.Scenario{Name: "two buyers, a command is late", Stock: 5, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: late})
			}},
		{ID: "renewal", Title: "renewers",
			Asks: "The lock's renewer acts at any moment, also when the lease has ended or a reply is lost: " +
				"does it ever take, keep or free a lock that is not its holder's?",
			applies: ofLocks("it is not a lock that could be renewed"),
			nothing: unlessRenewed,
			breaks:  func(rule string) bool { return atTheLock(rule) || rule == explore.RuleStuck },
			scenarios: func(_ *bench, processes int) []*explore.Scenario {
				two := buyers(processes, explore.Locks, explore.Locks)
				return []*explore.Scenario{
					{Name: "two contenders, renewers act", Renewals: 2, Next: true, Buyers: two},
					{Name: "two contenders, renewers act, and the lease ends or a reply is lost", InLine: true, Renewals: 1, Next: true,
						Buyers: two, Faults: append(slices.Clone(ends), lost...)}}
			}},
		{ID: "cancel", Title: "cancelling",
			Asks: "Two cancel one order, or one cancels while another buys; replies are lost, a process dies, and the cancellation is sent again: " +
				"is each order given back once, and only once? Reservations, where there are any, are paid, cancelled and swept, too.",
			premise: "it breaks when nothing is cancelled", breaks: wrongStock,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				beside := buyers(processes, explore.Buys, explore.Cancels)
				beside[1].Again = 1
				more := append(b.shared(2, explore.Cancels, explore.Scenario{Name: "a shared transaction beside one who cancels", Stock: 6}),
					b.reserved()...)
				if b.info.Stock == seckill.InBuckets { // one bucket has them all then
					more = append(more, &explore.Scenario{Name: "the last units come back, and two want them", Stock: 2, Next: true,
						Buyers: buyers(processes, explore.Cancels, explore.Buys, explore.Buys)})
				}
				return append(more,
					// One who cancels reads the order first, and so comes when others wait.
					&explore.Scenario{Name: "two buy in one process, one cancels there", Stock: 6, Next: true,
						Buyers: buyers(1, explore.Buys, explore.Buys, explore.Cancels)},
					&explore.Scenario{Name: "two cancel the same order", Stock: 4, Next: true, Buyers: twice(processes, 0, explore.Cancels)},
					&explore.Scenario{Name: "two cancel the same order, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
						Buyers: twice(processes, 1, explore.Cancels), Faults: fails},
					&explore.Scenario{Name: "one buys, one cancels, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
						Buyers: beside, Faults: fails})
			}},
		{ID: "reset", Title: "reset and start",
			Asks: "The sale is set anew, or starts, beside buyers, cancellations and another reset, or Redis refuses a part of it: " +
				"is the new sale's stock right, and is nothing sold before the start?",
			premise: "it breaks without a reset", breaks: wrongStock,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				few := func(name string, does ...explore.Does) *explore.Scenario {
					return &explore.Scenario{Name: name, Stock: 4, Next: true, Buyers: buyers(processes, does...)}
				}
				list := b.shared(2, explore.Resets, explore.Scenario{Name: "a shared transaction while the sale is set anew", Stock: 6})
				if b.info.Stock == seckill.InRowAndRedis || b.info.Stock == seckill.InStream { // which let buyers through whom the row refuses
					list = append(list, &explore.Scenario{Name: "one user buys with two keys while the sale starts", Stock: 4, Next: true,
						Buyers: oneUser(processes, explore.Buys, explore.Starts)})
				}
				if b.info.Accepts { // a reset forgets requests, also those that are accepted only
					copies := append(twice(processes, 0, explore.Accepts), buyers(processes, explore.Buys, explore.Buys, explore.Resets)[2])
					list = append(list, &explore.Scenario{Name: "two accept the same request while the sale is set anew", Stock: 4, Next: true,
						Buyers: copies})
				}
				if b.info.Stock != seckill.InRow {
					list = append(list, b.refused("one cancels while the sale is set anew; Redis refuses a command, perhaps of a script",
						buyers(processes, explore.Cancels, explore.Resets), "DEL", "HSET", "SET", "XGROUP")...)
				}
				if b.info.Stock == seckill.InStream { // a writer may sleep, and another refuse what it has read
					taken := few("two buy while the sale starts, the writer's lease ends", explore.Buys, explore.Buys, explore.Starts)
					taken.Faults = ends
					list = append(list, taken)
				}
				return append([]*explore.Scenario{
					few("one buys while the sale is set anew", explore.Buys, explore.Resets),
					few("two buy while the sale is set anew", explore.Buys, explore.Buys, explore.Resets),
					few("one cancels while the sale is set anew", explore.Cancels, explore.Resets),
					few("two set the sale anew", explore.Resets, explore.Resets),
					few("one buys while two set the sale anew", explore.Buys, explore.Resets, explore.Resets),
					few("one buys while the sale starts", explore.Buys, explore.Starts),
				}, list...)
			}},
		{ID: "same-key", Title: "one key, one order",
			Asks: "Two copies of one request go through the whole service, in two processes; replies are lost, commands come late, a process dies, and they are sent again: " +
				"do all copies hear one final answer, and is a request that has an order never refused? And has one user who buys with two keys one order? " +
				"Is a key refused that was used for another quantity or call, and not for another SKU? " +
				"Where a buyer is answered before the order is written: does every accepted request come to an order or a refusal, " +
				"also after a death, and is its buyer told which?",
			premise: "it breaks when every request comes once", breaks: explore.LedgerRule,
			scenarios: func(b *bench, processes int) []*explore.Scenario {
				used := buyers(processes, explore.Asks, explore.Asks, explore.Asks)
				used[1].Same, used[2].Same, used[2].Other = "A", "A", true
				list := append(b.shared(processes, explore.Buys, explore.Scenario{Name: "a shared transaction, an id is taken", Stock: 6,
					Faults: []explore.Fault{explore.IDTaken}}), b.accepted(processes)...)
				list = append(list, &explore.Scenario{Name: "one key for two quantities, and for another SKU", Stock: 4, Buyers: used})
				if b.info.Reserves {
					used := buyers(processes, explore.Asks, explore.Reserves)
					used[1].Same, used[1].Quantity = "A", used[0].Quantity
					list = append(list, &explore.Scenario{Name: "one key for a purchase and a reservation", Stock: 4, Buyers: used})
				}
				return append(list,
					&explore.Scenario{Name: "a request that has its order is sent again beside another buyer", Stock: 5,
						Buyers: buyers(processes, explore.Repeats, explore.Asks)},
					&explore.Scenario{Name: "two copies of one request, for the last units", Stock: 2, Buyers: twice(processes, 1, explore.Asks)},
					&explore.Scenario{Name: "two copies of one request, and again; a reply or a command is lost, or one dies", Stock: 4,
						Buyers: twice(processes, 1, explore.Asks), Faults: fails},
					&explore.Scenario{Name: "two copies of one request, for the last units; a command comes late", Stock: 2,
						Buyers: twice(processes, 1, explore.Asks), Faults: late},
					&explore.Scenario{Name: "one user buys with two keys", Stock: 5, Buyers: oneUser(processes, explore.Asks)})
			}},
		{ID: "two-faults", Title: "two faults",
			Asks:    "Two of the faults that it survives one at a time, in schedules drawn at random: is the stock right?",
			premise: "it breaks without a fault", ask: (*bench).twoFaults},
		{ID: "other-skus", Title: "other SKUs unhindered",
			Asks:   "Two buyers of different SKUs: does one ever wait for the other?",
			breaks: func(rule string) bool { return rule == explore.RuleHindered },
			scenarios: func(*bench, int) []*explore.Scenario {
				two := buyers(1, explore.Buys, explore.Buys)
				two[1].Other = true
				return []*explore.Scenario{{Name: "two buyers of different SKUs", Stock: 5, Buyers: two}}
			}},
		// These are measured, in real time.
		{ID: "waits", Title: "how it waits", Choosing: true,
			Asks: "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.",
			ask:  (*bench).waits},
		{ID: "order", Title: "first come first served",
			Asks: "Six buyers come one after another while a seventh holds the lock: do they get it in that order?",
			ask:  (*bench).order},
		{ID: "reentrant", Title: "reentrant",
			Asks: "Does the holder get the lock again when it passes its lease's context on?",
			applies: func(_ context.Context, b *bench) (string, error) {
				if b.info.Locker == nil {
					return "not a lock", nil
				}
				return "", nil
			}, ask: (*bench).reentrant},
		{ID: NodeLossQuestion, Title: "loss of one node",
			Asks: "One server of the lock's backend is lost while the lock is held.",
			applies: func(_ context.Context, b *bench) (string, error) {
				_, whyNot := ensembleOf(b.info)
				return whyNot, nil
			}, premise: "it breaks with every node alive", ask: (*bench).nodeLoss},
	}
}

// oneUser are two buyers who are one user, and others.
func oneUser(processes int, twice explore.Does, others ...explore.Does) []explore.Buyer {
	all := buyers(processes, append([]explore.Does{twice, twice}, others...)...)
	all[1].User = all[0].Name
	return all
}

// buyers of the scenarios, each in a process of its own or all in one. Their
// quantities differ: writing an equal value twice would hide a lost update.
func buyers(processes int, does ...explore.Does) []explore.Buyer {
	list := make([]explore.Buyer, len(does))
	for i, d := range does {
		list[i] = explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(2 - i%2), Does: d}
		if processes > 1 {
			list[i].Process = i
		}
	}
	return list
}

// twice is two actors with one order, or one request, between them.
func twice(processes, again int, does explore.Does) []explore.Buyer {
	list := buyers(processes, does, does)
	list[1].Same, list[1].Quantity = "A", list[0].Quantity
	for i := range list {
		list[i].Again = again
	}
	return list
}

// accepted are the scenarios of buyers who are answered before their orders are
// written. None for a strategy that never does.
func (b *bench) accepted(processes int) []*explore.Scenario {
	if !b.info.Accepts {
		return nil
	}
	// A buyer who does not wait, beside one who buys. In two processes they ask again when an answer was lost: what they
	// are told then hides an untrue first answer.
	one, two := buyers(1, explore.Accepts, explore.Buys), buyers(processes, explore.Accepts, explore.Buys)
	two[0].Again = 1
	faults := append(slices.Clone(dies), lost...)
	return []*explore.Scenario{
		{Name: "one is accepted, one buys, and writes for both", Stock: 6, Next: true, Buyers: two},
		{Name: "one process accepts and writes; a reply or a command is lost, or it dies", Stock: 6, Next: true,
			Buyers: one, Faults: faults},
		{Name: "one accepts, another writes; a reply or a command is lost, or one dies", Stock: 6, Next: true,
			Buyers: two, Faults: faults},
		{Name: "two accept the same request; a reply or a command is lost, or one dies", Stock: 6, Next: true,
			Buyers: twice(processes, 1, explore.Accepts), Faults: faults}}
}

// written are the commands that change something in Redis.
var written = []string{"DECRBY", "DEL", "HDEL", "HSET", "HSETNX", "INCR", "INCRBY", "LPUSH", "PEXPIRE", "PUBLISH", "SET", "XACK", "XADD",
	"XAUTOCLAIM", "XDEL", "XGROUP", "XREADGROUP", "ZADD", "ZREM"}

// refused are scenarios in which Redis refuses one of the commands, each in turn, to a strategy that has scripts.
// Others have none: what is refused outside of a script changes nothing.
func (b *bench) refused(name string, of []explore.Buyer, commands ...string) (list []*explore.Scenario) {
	sent := b.info.RedisCommands()
	for _, command := range commands {
		if slices.Contains(sent, "EVALSHA") && slices.Contains(sent, command) {
			list = append(list, &explore.Scenario{Name: name, Stock: 4, Next: true, Buyers: of,
				Faults: []explore.Fault{explore.Refused}, Denies: command})
		}
	}
	return list
}

// shared are further scenarios for a strategy whose buyers share a transaction
// (catalog.Info.Shares). Two buyers never do: the first goes ahead at once. So
// three are in one process, where the second and the third share, and with two
// processes a fourth does something beside them. Other strategies have none.
func (b *bench) shared(processes int, fourth explore.Does, s explore.Scenario) []*explore.Scenario {
	if !b.info.Shares {
		return nil
	}
	s.Next = true
	s.Buyers = buyers(1, explore.Buys, explore.Buys, explore.Buys)
	if processes > 1 {
		s.Buyers = buyers(1, explore.Buys, explore.Buys, explore.Buys, fourth)
		s.Buyers[3].Process = 1
		if fourth == explore.Buys {
			s.Buyers[3].Quantity = 2 // more than the batch may leave
		}
	}
	return []*explore.Scenario{&s}
}

// copied are the same scenarios once more, in which the third buyer is a copy of
// another.
func copied(scenarios []*explore.Scenario, of string) (copies []*explore.Scenario) {
	for _, s := range scenarios {
		c := *s
		c.Name += ", " + of + " twice"
		c.Buyers = append([]explore.Buyer(nil), s.Buyers...)
		c.Buyers[2].Same, c.Buyers[2].Quantity = of, c.Buyers[of[0]-'A'].Quantity
		copies = append(copies, &c)
	}
	return copies
}

// reserved are the ways in which a payment, a cancellation and sweepers meet at
// one reservation. None for a strategy without reservations.
func (b *bench) reserved() (list []*explore.Scenario) {
	if !b.info.Reserves {
		return nil
	}
	at := func(again int, does ...explore.Does) []explore.Buyer {
		all := buyers(2, does...)
		for i := range all {
			all[i].Quantity, all[i].Again = 2, again
			if i > 0 {
				all[i].Same = "A"
			}
		}
		return all
	}
	for _, s := range []explore.Scenario{
		{Name: "one pays, a sweeper comes", Buyers: at(0, explore.Pays, explore.Sweeps)},
		{Name: "one pays after the deadline", Buyers: at(0, explore.PaysLate)},
		{Name: "one cancels, a sweeper comes", Buyers: at(0, explore.Releases, explore.Sweeps)},
		{Name: "one pays, one cancels", Buyers: at(0, explore.Pays, explore.Releases)},
		{Name: "two sweepers", Buyers: at(0, explore.Sweeps, explore.Sweeps)},
		{Name: "one pays, one cancels, a sweeper comes", Buyers: at(0, explore.Pays, explore.Releases, explore.Sweeps)},
		// An order is cancelled also when it is paid, and by another statement than a reservation.
		{Name: "a sweeper comes, one cancels the order", Buyers: at(0, explore.Sweeps, explore.Cancels)},
		{Name: "one pays, one cancels the order, a sweeper comes", Buyers: at(0, explore.Pays, explore.Cancels, explore.Sweeps)},
		{Name: "one cancels, one cancels the order", Buyers: at(0, explore.Releases, explore.Cancels)},
		{Name: "one pays after the deadline, one cancels", Buyers: at(0, explore.PaysLate, explore.Releases)},
		{Name: "one pays after the deadline, one cancels the order", Buyers: at(0, explore.PaysLate, explore.Cancels)},
		{Name: "one pays after the deadline, a sweeper comes", Buyers: at(0, explore.PaysLate, explore.Sweeps)},
		{Name: "one pays, a sweeper comes; a reply or a command is lost, or one dies", Buyers: at(1, explore.Pays, explore.Sweeps), Faults: fails},
	} {
		s.Stock, s.Next = 3, true
		list = append(list, &s)
	}
	return list
}
