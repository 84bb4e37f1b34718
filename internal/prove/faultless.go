package prove

import (
	"cmp"
	"context"
	"math"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// faultlessScenarios returns the scenarios without faults, which are searched first. A strategy that
// breaks in these scenarios is not asked about faults, because it would break with a fault as well.
func (t *trial) faultlessScenarios(processes int) []*explore.Scenario {
	where := map[int]string{1: "one process", 2: "two processes"}[processes]
	few := t.sharedTransaction("a shared transaction, enough for some, "+where, 3, nil, processes, explore.Buys)
	many := t.sharedTransaction("a shared transaction, enough for the batch, "+where, 6, nil, processes, explore.Buys)
	return []*explore.Scenario{
		newSale("two buyers, enough for one, "+where, 2, nil, newBuyers(processes, explore.Buys, explore.Buys)),
		newSale("two buyers, enough for both, "+where, 5, nil, newBuyers(processes, explore.Buys, explore.Buys)),
		newSale("one buys, one cancels, "+where, 4, nil, newBuyers(processes, explore.Buys, explore.Cancels)),
		few, many, withCopy(few, "A"), withCopy(many, "A"), withCopy(many, "B"),
	}
}

type faultlessResult struct {
	cell   Cell         // the answer if no rule was broken, with the sum of all searches' Bounds
	broken *brokenRules // all rules that the searches broke
}

// searchFaultless searches the scenarios without faults, with buyers in the given number of processes. It does so once
// for each number, and later calls return the same result.
func (t *trial) searchFaultless(ctx context.Context, processes int) (*faultlessResult, error) {
	if s := t.faultless[processes]; s != nil {
		return s, nil
	}
	s := &faultlessResult{cell: Cell{Answer: Holds, Bounds: explore.Bounds{Exhausted: true}},
		broken: &brokenRules{inScope: anyRule}}
	l := t.searchLimits(s.broken)
	l.Reduce, l.Schedules = true, 3*l.Schedules
	s.broken.schedulesLeft = math.MaxInt // do not stop early, because several questions use all these rules
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
// the strategy sells wrongly only across processes, or 0 if it sells wrongly even in one process.
func (t *trial) soundProcesses(ctx context.Context) (int, error) {
	for _, processes := range []int{2, 1} {
		s, err := t.searchFaultless(ctx, processes)
		if err != nil || !s.sellsWrongly() {
			return processes, err
		}
	}
	return 0, nil
}

func askFaultless(question string, processes int, inScope func(rule string) bool) askFunc {
	return func(ctx context.Context, t *trial) (Cell, error) {
		s, err := t.searchFaultless(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return t.keepCounterexamples(ctx, question, s.cell, s.countedRules(inScope))
	}
}

// countedRules returns the broken rules for which the function inScope returns true. Rules about sales come first, and
// rules about locks and waits last. Within each group, rules that shorter schedules break come first.
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

func saleQuestions() []Question {
	return []Question{
		{ID: "oversell", Title: "no oversell", Choosing: true,
			Asks: "Two buyers in one process, or one beside a cancellation, every schedule of their commands: is " +
				"ever more sold than there was?",
			ask: askFaultless("oversell", 1, isOversell)},
		{ID: "lost-update", Title: "no lost update",
			Asks: "The same: do stock and orders agree in the end, and does every buyer get through?",
			ask: askFaultless("lost-update", 1, func(rule string) bool {
				return !isOversell(rule) && rule != explore.RuleOverlap
			})},
		{ID: "processes", Title: "across processes", Choosing: true,
			Asks: "Both questions again, with the actors in two processes.",
			ask:  askFaultless("processes", 2, func(rule string) bool { return rule != explore.RuleOverlap })},
		// The scenarios of this question do not set Scenario.Next. One more buyer would buy the units left over, which
		// prove that an answer "sold out" was wrong.
		{ID: "sold-out", Title: "sold out only when it is",
			Asks: "Two buyers each want all units, or one wants more than there are, or one of them dies, or a " +
				"batch follows one that may fail: is a buyer told sold out of units that stay unsold to the end?",
			premise:   "it breaks with enough for all",
			breaks:    func(rule string) bool { return rule == judge.RuleUndersold },
			scenarios: soldOutScenarios},
	}
}

func soldOutScenarios(t *trial) []*explore.Scenario {
	all, more := t.buyers(explore.Buys, explore.Buys), t.buyers(explore.Buys, explore.Buys)
	all[1].Quantity = 2
	more[0].Quantity, more[1].Quantity = 3, 2
	list := []*explore.Scenario{
		{Name: "two buyers each want all units", Stock: 2, Buyers: all},
		{Name: "one wants all units, one more than there are", Stock: 2, Buyers: more},
	}
	if t.processes > 1 { // in one process, both buyers would die together and nobody would buy
		list = append(list, &explore.Scenario{Name: "two buyers each want all units, one may die", Stock: 2,
			Buyers: all, Faults: dies})
	}
	// While one batch commits, the next batch computes with a remaining stock that is not stored yet.
	if t.info.Shares {
		batches := newBuyers(1, explore.Buys, explore.Buys, explore.Buys, explore.Comes, explore.Comes)
		for i := range batches {
			batches[i].Quantity = int64(1 + i/3)
		}
		list = append(list, &explore.Scenario{Name: "a batch behind another, whose COMMIT may be lost", Stock: 4,
			Buyers: batches, Faults: []explore.Fault{explore.CommandLost}})
	}
	// A cancelled order's units must come back in the row and in Redis. If they came back in neither, the next buyer
	// would be refused.
	if t.info.Stock == seckill.InRowAndRedis {
		list = append(list, t.sale("the last units come back while Redis loses its data", 2, nil,
			explore.Cancels, explore.Forgets))
	}
	return list
}
