package prove

import (
	"slices"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/seckill"
)

func faultQuestions() []Question {
	return []Question{
		{ID: "dead-holder", Title: "dead holder", Choosing: true,
			Asks: "A buyer's process dies before any of its commands: is the stock right, and do the others get " +
				"through, how long after the death?",
			premise: "it breaks with every buyer alive",
			across:  "a dead process takes the lock with it; across processes it locks nothing",
			notSeen: nothingEnds, breaks: anyRule, followUp: measureTimeAfterDeath,
			scenarios: deadHolderScenarios},
		// The buyers of this question are in one process. A buyer who has left does not receive the answer. It goes to
		// the log, and to the next request with the same key. Buyers may queue inside the process, so a third buyer
		// queues behind the buyer who leaves.
		{ID: "leaves", Title: "a buyer leaves",
			Asks: "A buyer hangs up, or their time is up, before any of their commands or while they wait; their " +
				"process lives on: is what they are told true, is the stock right, and do the others get through?",
			premise: "it breaks when every buyer stays", notSeen: nothingEnds, breaks: notOverlap,
			scenarios: buyerLeavesScenarios},
		{ID: "hung-holder", Title: "hung holder",
			Asks: "A holder of the lock hangs for longer than a lease while its renewer, session and connections " +
				"live: does the next get the lock? And is a buyer who waits for only a second turned away?",
			premise: "it breaks with no holder hanging", ask: atLock(measureHungHolder)},
		{ID: "lease-end", Title: "lease ends under a holder", Choosing: true,
			Asks: "The lease (or session, or connection) ends at any moment while its holder is paused: is the " +
				"stock right, also when one cancels?",
			premise: "it breaks with every lease alive", notSeen: notLeased, breaks: notOverlap,
			scenarios: leaseEndScenarios},
		{ID: "clocks", Title: "clocks disagree",
			Asks:    "The clock of a buyer's process jumps ahead by more than a lease, at any moment: is the stock right?",
			premise: "it breaks whatever the clocks say",
			across:  "it breaks across processes whatever their clocks say",
			notSeen: noClock, breaks: explore.LedgerRule,
			scenarios: func(t *trial) []*explore.Scenario {
				if !t.world.ReadsClock() { // a strategy that reads no clock cannot notice a wrong clock
					return nil
				}
				return []*explore.Scenario{{
					Name: "two buyers, the clock of one jumps ahead by more than a lease", Stock: 2,
					Buyers: t.buyers(explore.Buys, explore.Buys), Faults: []explore.Fault{explore.ClockJumps}}}
			}},
		{ID: "owner", Title: "only the owner releases",
			Asks: "Three contenders, a lease that ends at any moment, or a release that arrives late: does it ever " +
				"free the lock of another?",
			applies: ofLocks("it is not a lock that could be released"),
			notSeen: nothingEnds, breaks: aboutLock, followUp: releaseTwice,
			scenarios: onlyOwnerReleasesScenarios},
		{ID: "lost-reply", Title: "lost reply",
			Asks: "Any one command takes effect and its reply is lost, or it never arrives: is the stock right, and " +
				"is no buyer blocked for ever? And if Redis refuses a command in the middle of a script, and keeps " +
				"what the script has written?",
			premise: "it breaks with every reply heard", notSeen: nothingEnds, breaks: notOverlap,
			scenarios: lostReplyScenarios},
		{ID: "late-command", Title: "late command", Choosing: true,
			Asks: "Any one command is delayed: its sender gets no answer, cleans up and leaves, and it arrives at " +
				"any later moment. Is the stock right, and is no buyer blocked for ever?",
			premise: "it breaks with every command in time", notSeen: nothingEnds, breaks: notOverlap,
			scenarios: func(t *trial) []*explore.Scenario {
				return []*explore.Scenario{
					t.sharedTransaction("a shared transaction, a command is late", 6, late, t.processes, explore.Buys),
					t.sale("two buyers, a command is late", 5, late, explore.Buys, explore.Buys)}
			}},
		{ID: "renewal", Title: "renewers",
			Asks: "The lock's renewer acts at any moment, also when the lease has ended or a reply is lost: does it " +
				"ever take, keep or free a lock that is not its holder's?",
			applies: ofLocks("it is not a lock that could be renewed"),
			notSeen: notRenewed,
			breaks:  func(rule string) bool { return aboutLock(rule) || rule == explore.RuleStuck },
			scenarios: func(t *trial) []*explore.Scenario {
				two := t.buyers(explore.Locks, explore.Locks)
				return []*explore.Scenario{
					{Name: "two contenders, renewers act", Renewals: 2, Next: true, Buyers: two},
					{Name: "two contenders, renewers act, and the lease ends or a reply is lost",
						InLine: true, Renewals: 1, Next: true,
						Buyers: two, Faults: append(slices.Clone(ends), lost...)}}
			}},
	}
}

func deadHolderScenarios(t *trial) []*explore.Scenario {
	list := []*explore.Scenario{
		t.sale("two buyers, one may die", 5, dies, explore.Buys, explore.Buys),
		t.sharedTransaction("a shared transaction, one process may die, or one buyer leave", 6,
			[]explore.Fault{explore.Dies, explore.Leaves}, t.processes, explore.Buys),
	}
	if t.info.Locker == nil {
		return list
	}
	contenders := t.buyers(explore.Locks, explore.Locks, explore.Locks)
	again := t.buyers(explore.Locks, explore.Locks)
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

func buyerLeavesScenarios(t *trial) []*explore.Scenario {
	leaves, goes := []explore.Fault{explore.Leaves}, []explore.Fault{explore.Leaves}
	// One buyer of a batch runs the transaction for all buyers of the batch. If the code of this buyer panics, the
	// other buyers must not wait for ever.
	if t.info.Shares {
		goes = append(goes, explore.Panics)
	}
	list := []*explore.Scenario{
		{Name: "two buyers in one process, enough for one, one may leave", Stock: 2, Wakes: true,
			Buyers: newBuyers(1, explore.Buys, explore.Buys), Faults: leaves},
		{Name: "three buyers in one process, enough for all, one may leave", Stock: 6, Next: true, Wakes: true,
			Buyers: newBuyers(1, explore.Buys, explore.Buys, explore.Buys), Faults: goes}}
	if slices.Contains(t.info.Needs, backend.ZooKeeper) || slices.Contains(t.info.Needs, backend.Etcd) {
		list = append(list, &explore.Scenario{Name: "two buyers in one process, one may leave while a command is on its way",
			Stock: 5, Next: true, Unheard: true, Buyers: newBuyers(1, explore.Buys, explore.Buys), Faults: leaves})
	}
	return list
}

func leaseEndScenarios(t *trial) []*explore.Scenario {
	list := []*explore.Scenario{
		t.sale("two buyers, the holder's lease ends", 2, ends, explore.Buys, explore.Buys),
		t.sale("two buyers, enough for both, the holder's lease ends", 5, ends, explore.Buys, explore.Buys),
		t.sale("one buys, one cancels, the holder's lease ends", 4, ends, explore.Buys, explore.Cancels)}
	// Redis also stores the open orders of each user, so one scenario has a user who buys twice.
	if t.info.Stock == seckill.InRowAndRedis {
		list = append(list, newSale("one user buys with two keys, a lease ends", 4, ends, t.oneUser(explore.Buys)))
	}
	return list
}

func onlyOwnerReleasesScenarios(t *trial) []*explore.Scenario {
	three := t.buyers(explore.Locks, explore.Locks, explore.Locks)
	// Two contenders are in one process, and a third one is in another process. A lock may be able to tell processes
	// apart, but not the buyers of one process.
	neighbours := slices.Clone(three)
	neighbours[1].Process = neighbours[0].Process
	// A lock is wrong if a buyer frees it while another buyer holds it. If the holder's own release then returns an
	// error, two contenders are enough to show this. If that release returns no error, a third contender shows it by
	// getting the lock as well.
	return []*explore.Scenario{
		{Name: "two contenders, the lock is lost under its holder", Clears: true, Buyers: three[:2], Faults: ends},
		{Name: "one has the lock, two wait for it, and it is lost under its holder", Clears: true, InLine: true,
			Buyers: three, Faults: ends},
		{Name: "one has the lock, two wait for it, a command is late", InLine: true, Buyers: neighbours, Faults: late}}
}

func lostReplyScenarios(t *trial) []*explore.Scenario {
	one := t.buyers(explore.Buys, explore.Cancels)
	if t.info.Accepts {
		one[0].Action = explore.Accepts
	}
	one[0].Again, one[1].Again = 1, 1
	return append([]*explore.Scenario{
		t.sharedTransaction("a shared transaction, a reply or a command is lost", 6, lost, t.processes, explore.Buys),
		t.sale("two buyers, a reply or a command is lost", 5, lost, explore.Buys, explore.Buys)},
		t.refusedCommands("one buys, one cancels, and again; Redis refuses a command, perhaps of a script", one,
			writeCommands...)...)
}
