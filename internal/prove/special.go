package prove

import (
	"context"
	"slices"

	"seckill/internal/explore"
)

// Questions that are more than a search in scenarios.

func notAsked(why string) (Cell, error) { return Cell{Answer: NotAsked, Text: why}, nil }

// withoutFault asks what the searches without faults found.
func withoutFault(question string, processes int, counts func(rule string) bool) func(*bench, context.Context) (Cell, error) {
	return func(b *bench, ctx context.Context) (Cell, error) {
		s, err := b.sound(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return b.verdict(ctx, question, s, counts)
	}
}

func (b *bench) deadHolder(ctx context.Context) (Cell, error) {
	processes, err := b.premise(ctx)
	switch {
	case err != nil:
		return Cell{}, err
	case processes == 0:
		return notAsked("it breaks with every buyer alive")
	case processes == 1:
		return notAsked("a dead process takes the lock with it; across processes it locks nothing")
	}
	scenarios := []*explore.Scenario{
		{Name: "two buyers, one may die", Stock: 5, Next: true, Buyers: buyers(2, explore.Buys, explore.Buys), Faults: dies},
	}
	scenarios = append(scenarios, b.shared(2, explore.Buys, explore.Scenario{Name: "a shared transaction, one process may die, or one buyer leave",
		Stock: 6, Faults: []explore.Fault{explore.Dies, explore.Leaves}})...)
	if b.info.Locker != nil {
		contenders := buyers(3, explore.Locks, explore.Locks, explore.Locks)
		scenarios = append(scenarios,
			&explore.Scenario{Name: "a third contender dies first; two find what it left behind", Buyers: contenders, DiesFirst: true},
			&explore.Scenario{Name: "one has the lock, two wait for it, one may die", Buyers: contenders, InLine: true,
				Faults: dies})
	}
	c, err := b.faulty(ctx, "dead-holder", nothingEnds, anyRule, scenarios...)
	if err != nil || c.Answer != Holds {
		return c, err
	}
	return b.timeAfterDeath(ctx, c)
}

func (b *bench) clocks(ctx context.Context) (Cell, error) {
	processes, err := b.premise(ctx)
	switch {
	case err != nil:
		return Cell{}, err
	case processes == 0:
		return notAsked("it breaks whatever the clocks say")
	case processes == 1:
		return notAsked("it breaks across processes whatever their clocks say")
	}
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
	c, err := b.faulty(ctx, "owner", nothingEnds, atTheLock,
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

func (b *bench) renewal(ctx context.Context) (Cell, error) {
	if b.info.Locker == nil {
		return Cell{Answer: NotAsked, Text: "it is not a lock that could be renewed"}, nil
	}
	s, err := b.sound(ctx, 1)
	if err != nil || s.by[explore.RuleOverlap] != nil {
		return Cell{Answer: NotAsked, Text: "it excludes no one even without a fault"}, err
	}
	acts := func(r explore.Result) string {
		if r.Renewed == 0 {
			return "nothing renews it by commands of its own"
		}
		return ""
	}
	processes, err := b.premise(ctx)
	if err != nil {
		return Cell{}, err
	}
	two := buyers(processes, explore.Locks, explore.Locks)
	return b.search(ctx, "renewal", func(rule string) bool { return atTheLock(rule) || rule == explore.RuleStuck }, acts,
		&explore.Scenario{Name: "two contenders, renewers act", Renewals: 2, Next: true, Buyers: two},
		&explore.Scenario{Name: "two contenders, renewers act, and the lease ends or a reply is lost", InLine: true, Renewals: 1, MaxFaults: 1, Next: true,
			Buyers: two, Faults: []explore.Fault{explore.LeaseEnds, explore.ReplyLost, explore.CommandLost}})
}

// survived are the faults that a strategy survives, by the questions that asked.
var survived = []struct {
	question string
	faults   []explore.Fault
}{
	{"dead-holder", []explore.Fault{explore.Dies}},
	{"lease-end", []explore.Fault{explore.LeaseEnds}},
	{"lost-reply", []explore.Fault{explore.ReplyLost, explore.CommandLost}},
	{"late-command", []explore.Fault{explore.Delayed}},
}

func (b *bench) twoFaults(ctx context.Context) (Cell, error) {
	processes, err := b.premise(ctx)
	if err != nil {
		return Cell{}, err
	}
	if processes == 0 {
		return notAsked("it breaks without a fault")
	}
	var faults []explore.Fault
	for _, s := range survived {
		c, asked := b.cells[s.question]
		if !asked {
			all := Questions()
			q := all[slices.IndexFunc(all, func(q Question) bool { return q.ID == s.question })]
			if c, err = b.answer(ctx, q); err != nil {
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
	return b.sampled(ctx, processes, faults)
}

// sampled draws schedules with two faults at random.
func (b *bench) sampled(ctx context.Context, processes int, faults []explore.Fault) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	c := Cell{Answer: Holds}
	for _, does := range [][]explore.Does{{explore.Buys, explore.Buys}, {explore.Buys, explore.Cancels}} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true, Buyers: buyers(processes, does...), Faults: faults, MaxFaults: 2}
		l := b.limits(wrongStock)
		l.Schedules, l.Random = 1, max(b.options.Schedules/2, 1)
		res, err := w.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.add(res)
		if res.First != nil {
			return b.broken(ctx, "two-faults", c, res.First, wrongStock)
		}
	}
	return c, nil
}
