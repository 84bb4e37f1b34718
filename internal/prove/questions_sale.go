package prove

import (
	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

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
		// The scenarios of this question do not set Scenario.Next, because one more buyer would buy the units that
		// prove an answer "sold out" wrong.
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
