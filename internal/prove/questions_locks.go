package prove

import (
	"context"
	"slices"

	"seckill/internal/explore"
)

func onlyOwnerReleases() Question {
	return Question{ID: "owner", Title: "only the owner releases",
		Asks: "Three contenders, a lease that ends at any moment, or a release that arrives late: does it ever " +
			"free the lock of another?",
		applies: ofLocks("it is not a lock that could be released"),
		notSeen: nothingEnds, breaks: aboutLock, followUp: releaseTwice,
		scenarios: onlyOwnerReleasesScenarios}
}

func onlyOwnerReleasesScenarios(t *trial) []*explore.Scenario {
	three := newBuyers(t.processes, explore.Locks, explore.Locks, explore.Locks)
	// Two contenders of one process and one of another: a lock may distinguish processes, but not the
	// buyers of one process.
	neighbours := slices.Clone(three)
	neighbours[1].Process = neighbours[0].Process
	// Two contenders are enough if the victim gets an error from its release. Otherwise a third one shows
	// the failure by getting the lock as well.
	return []*explore.Scenario{
		{Name: "two contenders, the lock is lost under its holder", Clears: true, Buyers: three[:2], Faults: ends},
		{Name: "one has the lock, two wait for it, and it is lost under its holder", Clears: true, InLine: true,
			Buyers: three, Faults: ends},
		{Name: "one has the lock, two wait for it, a command is late", InLine: true, Buyers: neighbours, Faults: late}}
}

func renewers() Question {
	return Question{ID: "renewal", Title: "renewers",
		Asks: "The lock's renewer acts at any moment, also when the lease has ended or a reply is lost: does it " +
			"ever take, keep or free a lock that is not its holder's?",
		applies:   ofLocks("it is not a lock that could be renewed"),
		notSeen:   unlessRenewed,
		breaks:    func(rule string) bool { return aboutLock(rule) || rule == explore.RuleStuck },
		scenarios: renewersScenarios}
}

func renewersScenarios(t *trial) []*explore.Scenario {
	two := newBuyers(t.processes, explore.Locks, explore.Locks)
	return []*explore.Scenario{
		{Name: "two contenders, renewers act", Renewals: 2, Next: true, Buyers: two},
		{Name: "two contenders, renewers act, and the lease ends or a reply is lost", InLine: true, Renewals: 1, Next: true,
			Buyers: two, Faults: append(slices.Clone(ends), lost...)}}
}

func hungHolder() Question {
	return Question{ID: "hung-holder", Title: "hung holder",
		Asks: "A holder of the lock hangs for longer than a lease while its renewer, session and connections " +
			"live: does the next get the lock? And is a buyer who waits for only a second turned away?",
		premise: "it breaks with no holder hanging", ask: measureHungHolder}
}

// howItWaits and the following questions are measured, in real time.
func howItWaits() Question {
	return Question{ID: "waits", Title: "how it waits", Choosing: true,
		Asks: "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.",
		ask:  measureWait}
}

func firstComeFirstServed() Question {
	return Question{ID: "order", Title: "first come first served",
		Asks: "Six buyers come one after another while a seventh holds the lock: do they get it in that order?",
		ask:  measureOrder}
}

func reentrant() Question {
	return Question{ID: "reentrant", Title: "reentrant",
		Asks: "Does the holder get the lock again when it passes its lease's context on?",
		applies: func(_ context.Context, b *trial) (string, error) {
			if b.info.Locker == nil {
				return "not a lock", nil
			}
			return "", nil
		}, ask: measureReentrancy}
}

func lossOfOneNode() Question {
	return Question{ID: NodeLossQuestion, Title: "loss of one node",
		Asks: "One server of the lock's backend is lost while the lock is held.",
		applies: func(_ context.Context, b *trial) (string, error) {
			_, whyNot := ensembleOf(b.info)
			return whyNot, nil
		}, premise: "it breaks with every node alive", ask: loseNodes}
}
