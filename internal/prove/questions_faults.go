package prove

import (
	"context"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/seckill"
)

func deadHolder() Question {
	return Question{ID: "dead-holder", Title: "dead holder", Choosing: true,
		Asks: "A buyer's process dies before any of its commands: is the stock right, and do the others get " +
			"through, how long after the death?",
		premise: "it breaks with every buyer alive",
		across:  "a dead process takes the lock with it; across processes it locks nothing",
		notSeen: nothingEnds, breaks: anyRule, followUp: measureTimeAfterDeath,
		scenarios: deadHolderScenarios}
}

func deadHolderScenarios(t *trial) []*explore.Scenario {
	list := append([]*explore.Scenario{
		{Name: "two buyers, one may die", Stock: 5, Next: true, Buyers: newBuyers(t.processes, explore.Buys,
			explore.Buys), Faults: dies},
	}, t.sharedTransactions(t.processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, one process may die, or one buyer leave",
			Stock: 6, Faults: []explore.Fault{explore.Dies, explore.Leaves}})...)
	if t.info.Locker == nil {
		return list
	}
	contenders := newBuyers(t.processes, explore.Locks, explore.Locks, explore.Locks)
	again := newBuyers(t.processes, explore.Locks, explore.Locks)
	again[0].Again = 1
	if slices.Contains(t.info.Needs, backend.ZooKeeper) || slices.Contains(t.info.Needs, backend.Etcd) {
		list = append(list, &explore.Scenario{Name: "one has the lock, one waits for it, a third comes, and the " +
			"session of one of these ends",
			InLine: true, Latecomers: 1, Buyers: contenders, Faults: ends})
	}
	return append(list,
		&explore.Scenario{Name: "a third contender dies first; two find what it left behind",
			Buyers: contenders, DiesFirst: true},
		&explore.Scenario{Name: "one has the lock, two wait for it, one may die", Buyers: contenders, InLine: true,
			Faults: dies},
		&explore.Scenario{Name: "one has the lock and takes it again, another comes", InLine: true, Latecomers: 1,
			Buyers: again})
}

// buyerLeaves asks about buyers in one process. A leaving buyer's answer goes to the log, and to
// the next request with the same key. A queue in the process needs a third buyer, behind the
// leaving one.
func buyerLeaves() Question {
	return Question{ID: "leaves", Title: "a buyer leaves",
		Asks: "A buyer hangs up, or their time is up, before any of their commands or while they wait; their " +
			"process lives on: is what they are told true, is the stock right, and do the others get through?",
		premise: "it breaks when every buyer stays", notSeen: nothingEnds, breaks: notOverlap,
		scenarios: buyerLeavesScenarios}
}

func buyerLeavesScenarios(t *trial) []*explore.Scenario {
	leaves, goes := []explore.Fault{explore.Leaves}, []explore.Fault{explore.Leaves}
	if t.info.Shares { // a buyer whose code panics also leaves the others of its batch
		goes = append(goes, explore.Panics)
	}
	return []*explore.Scenario{
		{Name: "two buyers in one process, enough for one, one may leave", Stock: 2, Wakes: true,
			Buyers: newBuyers(1, explore.Buys, explore.Buys), Faults: leaves},
		{Name: "three buyers in one process, enough for all, one may leave", Stock: 6, Next: true, Wakes: true,
			Buyers: newBuyers(1, explore.Buys, explore.Buys, explore.Buys), Faults: goes}}
}

func leaseEnd() Question {
	return Question{ID: "lease-end", Title: "lease ends under a holder", Choosing: true,
		Asks: "The lease (or session, or connection) ends at any moment while its holder is paused: is the " +
			"stock right, also when one cancels?",
		premise: "it breaks with every lease alive", notSeen: notLeased, breaks: notOverlap,
		scenarios: leaseEndScenarios}
}

func leaseEndScenarios(t *trial) []*explore.Scenario {
	list := []*explore.Scenario{
		{Name: "two buyers, the holder's lease ends", Stock: 2, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, explore.Buys), Faults: ends},
		{Name: "two buyers, enough for both, the holder's lease ends", Stock: 5, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, explore.Buys), Faults: ends},
		{Name: "one buys, one cancels, the holder's lease ends", Stock: 4, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, explore.Cancels), Faults: ends}}
	if t.info.Stock == seckill.InRowAndRedis { // Redis stores the open orders of each user
		list = append(list, &explore.Scenario{Name: "one user buys with two keys, a lease ends", Stock: 4, Next: true,
			Buyers: oneUser(t.processes, explore.Buys), Faults: ends})
	}
	return list
}

func clocksDisagree() Question {
	return Question{ID: "clocks", Title: "clocks disagree",
		Asks:    "The clock of a buyer's process jumps ahead by more than a lease, at any moment: is the stock right?",
		premise: "it breaks whatever the clocks say",
		across:  "it breaks across processes whatever their clocks say",
		notSeen: unlessReadsClock, breaks: explore.LedgerRule,
		scenarios: clocksDisagreeScenarios}
}

func clocksDisagreeScenarios(t *trial) []*explore.Scenario {
	return []*explore.Scenario{{Name: "two buyers, the clock of one jumps ahead by more than a lease", Stock: 2,
		Buyers: newBuyers(t.processes, explore.Buys, explore.Buys), Faults: []explore.Fault{explore.ClockJumps}}}
}

func lostReply() Question {
	return Question{ID: "lost-reply", Title: "lost reply",
		Asks: "Any one command takes effect and its reply is lost, or it never arrives: is the stock right, and " +
			"is no buyer blocked for ever? And if Redis refuses a command in the middle of a script, and keeps " +
			"what the script has written?",
		premise: "it breaks with every reply heard", notSeen: nothingEnds, breaks: notOverlap,
		scenarios: lostReplyScenarios}
}

func lostReplyScenarios(t *trial) []*explore.Scenario {
	one := newBuyers(t.processes, explore.Buys, explore.Cancels)
	if t.info.Accepts {
		one[0].Action = explore.Accepts
	}
	one[0].Again, one[1].Again = 1, 1
	return append(append(t.sharedTransactions(t.processes, explore.Buys, explore.Scenario{
		Name: "a shared transaction, a reply or a command is lost", Stock: 6, Faults: lost}),
		&explore.Scenario{Name: "two buyers, a reply or a command is lost", Stock: 5, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, explore.Buys), Faults: lost}),
		t.refusedCommands("one buys, one cancels, and again; Redis refuses a command, perhaps of a script", one,
			writeCommands...)...)
}

func lateCommand() Question {
	return Question{ID: "late-command", Title: "late command", Choosing: true,
		Asks: "Any one command is delayed: its sender gets no answer, cleans up and leaves, and it arrives at " +
			"any later moment. Is the stock right, and is no buyer blocked for ever?",
		premise: "it breaks with every command in time", notSeen: nothingEnds, breaks: notOverlap,
		scenarios: lateCommandScenarios}
}

func lateCommandScenarios(t *trial) []*explore.Scenario {
	return append(t.sharedTransactions(t.processes, explore.Buys, explore.Scenario{
		Name: "a shared transaction, a command is late", Stock: 6, Faults: late}),
		&explore.Scenario{Name: "two buyers, a command is late", Stock: 5, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, explore.Buys), Faults: late})
}

func twoFaults() Question {
	return Question{ID: "two-faults", Title: "two faults",
		Asks:    "Two of the faults that it survives one at a time, in schedules drawn at random: is the stock right?",
		premise: "it breaks without a fault", ask: drawTwoFaults}
}

// singleFaults lists the faults of the questions that ask about one fault.
var singleFaults = []struct {
	question string
	faults   []explore.Fault
}{{"dead-holder", dies}, {"lease-end", ends}, {"lost-reply", lost}, {"late-command", late}}

// drawTwoFaults searches schedules with two faults, drawn at random.
func drawTwoFaults(ctx context.Context, t *trial) (Cell, error) {
	var faults []explore.Fault
	for _, s := range singleFaults {
		c, asked := t.cells[s.question]
		if !asked {
			q, err := chooseQuestions([]string{s.question})
			if err == nil {
				c, err = t.answerQuestion(ctx, q[0])
			}
			if err != nil {
				return c, err
			}
		}
		if c.Answer == Holds {
			faults = append(faults, s.faults...)
		}
	}
	if len(faults) == 0 {
		return notAsked("it survives no single fault")
	}
	c, broken := Cell{Answer: Holds}, t.brokenRules(wrongStock)
	for _, second := range []explore.Action{explore.Buys, explore.Cancels} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true,
			Buyers: newBuyers(t.processes, explore.Buys, second),
			Faults: faults, MaxFaults: 2}
		l := t.searchLimits(broken)
		l.Schedules, l.Random = 1, max(t.options.Schedules/2, 1)
		res, err := t.world.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.addBounds(res)
	}
	return t.keepCounterexamples(ctx, "two-faults", c, broken)
}
