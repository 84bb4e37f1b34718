package prove

import (
	"cmp"
	"context"
	"math"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// faultlessScenarios returns the scenarios without faults, which are searched first. A strategy that
// breaks in these scenarios is not asked about faults, because it would break with a fault as well.
func (t *trial) faultlessScenarios(processes int) []*explore.Scenario {
	where := map[int]string{1: "one process", 2: "two processes"}[processes]
	few := t.sharedTransaction(processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, enough for some, " + where, Stock: 3})
	many := t.sharedTransaction(processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, enough for the batch, " + where, Stock: 6})
	return []*explore.Scenario{
		{Name: "two buyers, enough for one, " + where, Stock: 2, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Buys)},
		{Name: "two buyers, enough for both, " + where, Stock: 5, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Buys)},
		{Name: "one buys, one cancels, " + where, Stock: 4, Next: true,
			Buyers: newBuyers(processes, explore.Buys, explore.Cancels)},
		few, many, withCopy(few, "A"), withCopy(many, "A"), withCopy(many, "B"),
	}
}

type faultlessResult struct {
	cell   Cell         // the answer if no rule was broken, with the sum of all searches' Bounds
	broken *brokenRules // all rules that the searches broke
}

// searchFaultless searches the scenarios without faults for a number of processes. It does so once, and later calls
// return the same result.
func (t *trial) searchFaultless(ctx context.Context, processes int) (*faultlessResult, error) {
	if s := t.faultless[processes]; s != nil {
		return s, nil
	}
	s := &faultlessResult{cell: Cell{Answer: Holds, Bounds: explore.Bounds{Exhausted: true}},
		broken: &brokenRules{inScope: anyRule}}
	l := t.searchLimits(s.broken)
	l.Reduce, l.Schedules = true, 3*l.Schedules
	s.broken.schedulesLeft = math.MaxInt // all rules are wanted, because several questions take their answers from here
	for _, scenario := range present(t.faultlessScenarios(processes)) {
		res, err := t.world.Search(ctx, scenario, l)
		if err != nil {
			return nil, err
		}
		s.cell.Add(res.Bounds)
	}
	t.faultless[processes] = s
	return s, nil
}

func (s *faultlessResult) sellsWrongly() bool {
	return slices.ContainsFunc(s.broken.list, func(r brokenRule) bool { return explore.LedgerRule(r.rule) })
}

// soundProcesses returns the number of processes in which the strategy sells rightly without a fault. It is 2, or 1 if
// the strategy sells wrongly only across processes, or 0.
func (t *trial) soundProcesses(ctx context.Context) (int, error) {
	for _, processes := range []int{2, 1} {
		s, err := t.searchFaultless(ctx, processes)
		if err != nil || !s.sellsWrongly() {
			return processes, err
		}
	}
	return 0, nil
}

// askFaultless returns a Question.ask that takes the answer from the searches without faults.
func askFaultless(question string, processes int, inScope func(rule string) bool) askFunc {
	return func(ctx context.Context, t *trial) (Cell, error) {
		s, err := t.searchFaultless(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return t.keepCounterexamples(ctx, question, s.cell, s.countedRules(inScope))
	}
}

// countedRules returns the broken rules for which the function inScope returns true. Rules about sales come first,
// and rules about locks and waits last. Among these, rules that short schedules break come first.
func (s *faultlessResult) countedRules(inScope func(rule string) bool) *brokenRules {
	list := slices.DeleteFunc(slices.Clone(s.broken.list), func(r brokenRule) bool { return !inScope(r.rule) })
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
	return &brokenRules{inScope: inScope, list: list}
}

func isOversell(rule string) bool { return rule == judge.RuleOversold || rule == judge.RuleNegative }
