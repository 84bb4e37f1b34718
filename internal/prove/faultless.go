package prove

import (
	"cmp"
	"context"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// The searches without faults come first. A strategy that breaks in them is not asked
// about faults: a question whose answer is known teaches nothing.

func (t *trial) faultlessScenarios(processes int) []*explore.Scenario {
	where := map[int]string{1: "one process", 2: "two processes"}[processes]
	few := t.sharedTransactions(processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, enough for some, " + where, Stock: 3})
	many := t.sharedTransactions(processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, enough for the batch, " + where, Stock: 6})
	return slices.Concat([]*explore.Scenario{
		{Name: "two buyers, enough for one, " + where, Stock: 2, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Buys)},
		{Name: "two buyers, enough for both, " + where, Stock: 5, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Buys)},
		{Name: "one buys, one cancels, " + where, Stock: 4, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Cancels)},
	}, few, many, withCopies(few, "A"), withCopies(many, "A"), withCopies(many, "B"))
}

// A faultlessResult is what the searches without faults found.
type faultlessResult struct {
	cell   Cell         // their bounds, added up
	broken *brokenRules // all that there are, whatever a question counts
}

// searchFaultless searches the schedules without faults, once for each number of processes.
func (t *trial) searchFaultless(ctx context.Context, processes int) (*faultlessResult, error) {
	if s := t.faultless[processes]; s != nil {
		return s, nil
	}
	w, err := t.openWorld(ctx)
	if err != nil {
		return nil, err
	}
	s := &faultlessResult{cell: Cell{Answer: Holds, Exhausted: true}, broken: &brokenRules{counts: anyRule}}
	l := t.searchLimits(s.broken)
	l.Reduce, l.Schedules = true, 2*l.Schedules
	for _, scenario := range t.faultlessScenarios(processes) {
		res, err := w.Search(ctx, scenario, l)
		if err != nil {
			return nil, err
		}
		s.cell.addBounds(res)
	}
	t.faultless[processes] = s
	return s, nil
}

// sellsWrongly reports whether the stock was wrong although nothing had failed.
func (s *faultlessResult) sellsWrongly() bool {
	return slices.ContainsFunc(s.broken.list, func(r brokenRule) bool { return explore.LedgerRule(r.rule) })
}

// processesWithoutFlaw returns the number of processes for questions about faults: two, or
// one if the strategy sells wrongly in two without a fault, or 0 if it does so in one, too.
func (t *trial) processesWithoutFlaw(ctx context.Context) (processes int, err error) {
	for _, n := range []int{2, 1} {
		s, err := t.searchFaultless(ctx, n)
		if err != nil {
			return 0, err
		}
		if !s.sellsWrongly() {
			return n, nil
		}
	}
	return 0, nil
}

// askFaultless returns a question about what the searches without faults found.
func askFaultless(
	question string, processes int, counts func(rule string) bool,
) func(context.Context, *trial) (Cell, error) {
	return func(ctx context.Context, t *trial) (Cell, error) {
		s, err := t.searchFaultless(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return t.keepCounterexamples(ctx, question, s.cell, s.countedRules(counts))
	}
}

// countedRules returns the broken rules that count, the gravest first: rules of the ledger
// before those about waits, and short schedules before long ones.
func (s *faultlessResult) countedRules(counts func(rule string) bool) *brokenRules {
	list := slices.DeleteFunc(slices.Clone(s.broken.list), func(r brokenRule) bool { return !counts(r.rule) })
	grave := func(r brokenRule) int {
		if explore.LedgerRule(r.rule) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b brokenRule) int {
		return cmp.Or(cmp.Compare(grave(a), grave(b)), cmp.Compare(a.schedule.Preemptions, b.schedule.Preemptions),
			cmp.Compare(len(a.schedule.Steps), len(b.schedule.Steps)))
	})
	return &brokenRules{counts: counts, list: list}
}

func isOversell(rule string) bool { return rule == judge.RuleOversold || rule == judge.RuleNegative }
