package prove

import (
	"context"

	"seckill/internal/explore"
)

var (
	_ = addQuestion(Question{
		column: 60, ID: "lease-end", Title: "lease ends under a holder",
		Asks: "The lease (or session, or connection) ends at any moment while its holder is paused: is the stock right, also when one cancels?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			return b.stands(ctx, "it breaks with every lease alive", func(processes int) (Cell, error) {
				ends := []explore.Fault{explore.LeaseEnds}
				return b.search(ctx, "lease-end", notOverlap, func(r explore.Result) string {
					if r.Faulty == 0 {
						return "it holds nothing between two commands that could end"
					}
					return ""
				},
					&explore.Scenario{Name: "two buyers, the holder's lease ends", Stock: 2, Next: true, MaxFaults: 1,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: ends},
					&explore.Scenario{Name: "two buyers, enough for both, the holder's lease ends", Stock: 5, Next: true, MaxFaults: 1,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: ends},
					&explore.Scenario{Name: "one buys, one cancels, the holder's lease ends", Stock: 4, Next: true, MaxFaults: 1,
						Buyers: buyers(processes, explore.Buys, explore.Cancels), Faults: ends})
			})
		},
	})
	_ = addQuestion(Question{
		column: 70, ID: "clocks", Title: "clocks disagree",
		Asks: "The clock of a buyer's process jumps ahead by more than a lease, at any moment: is the stock right?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			return b.stands(ctx, "it breaks whatever the clocks say", func(processes int) (Cell, error) {
				if processes == 1 {
					return Cell{Answer: NotAsked, Text: "it breaks across processes whatever their clocks say"}, nil
				}
				return b.clocks(ctx)
			})
		},
	})
	_ = addQuestion(Question{
		column: 80, ID: "owner", Title: "only the owner releases",
		Asks: "Three contenders, a lease that ends at any moment, or a release that arrives late: does it ever free the lock of another?",
		ask:  (*bench).owner,
	})
)

func (b *bench) clocks(ctx context.Context) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	return b.search(ctx, "clocks", explore.LedgerRule, func(explore.Result) string {
		if !w.AsksTime() {
			return "it asks no clock of its own"
		}
		return ""
	}, &explore.Scenario{Name: "two buyers, the clock of one jumps ahead by more than a lease", Stock: 2,
		Buyers: buyers(2, explore.Buys, explore.Buys), Faults: []explore.Fault{explore.ClockJumps}, MaxFaults: 1})
}

// neighbours are two contenders of one process and one of another.
func neighbours(processes int) []explore.Buyer {
	three := buyers(processes, explore.Locks, explore.Locks, explore.Locks)
	three[1].Process = three[0].Process
	return three
}

func (b *bench) owner(ctx context.Context) (Cell, error) {
	if b.info.Locker == nil {
		return Cell{Answer: NotAsked, Text: "it is not a lock that could be released"}, nil
	}
	s, err := b.sound(ctx, 1)
	if err != nil || s.by[explore.RuleOverlap] != nil {
		return Cell{Answer: NotAsked, Text: "it excludes no one even without a fault"}, err
	}
	processes := 3
	if spread, err := b.sound(ctx, 2); err != nil || spread.unsound() {
		processes = 1
	}
	// Two show it where the victim is told at its release; where it is not, a
	// third gets in beside it.
	c, err := b.faulty(ctx, "owner", atTheLock,
		&explore.Scenario{Name: "two contenders, the lock is lost under its holder", Clears: true,
			Buyers: buyers(processes, explore.Locks, explore.Locks), Faults: []explore.Fault{explore.LeaseEnds}},
		&explore.Scenario{Name: "one has the lock, two wait for it, and it is lost under its holder", Clears: true, InLine: true,
			Buyers: buyers(processes, explore.Locks, explore.Locks, explore.Locks), Faults: []explore.Fault{explore.LeaseEnds}},
		// Two of one process and one of another: a lock may know its processes
		// apart, and not their buyers.
		&explore.Scenario{Name: "one has the lock, two wait for it, a command is late", InLine: true,
			Buyers: neighbours(processes), Faults: []explore.Fault{explore.Delayed}})
	if err != nil || c.Answer == Breaks {
		return c, err
	}
	return b.releasedTwice(ctx, c)
}
