package prove

import (
	"context"

	"seckill/internal/explore"
	"seckill/internal/ledger"
)

// No buyer comes afterwards: they would buy the units that show it.
var _ = addQuestion(Question{
	column: 35, ID: "sold-out", Title: "sold out told rightly",
	Asks: "Two buyers each want all units, or one wants more than there are, or one of them dies: " +
		"is a buyer told sold out of units that stay unsold to the end?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks with enough for all", func(processes int) (Cell, error) {
			all, more := buyers(processes, explore.Buys, explore.Buys), buyers(processes, explore.Buys, explore.Buys)
			all[1].Quantity = 2
			more[0].Quantity, more[1].Quantity = 3, 2
			scenarios := []*explore.Scenario{
				{Name: "two buyers each want all units", Stock: 2, Buyers: all},
				{Name: "one wants all units, one more than there are", Stock: 2, Buyers: more},
			}
			if processes > 1 { // a process takes all its buyers along
				scenarios = append(scenarios, &explore.Scenario{Name: "two buyers each want all units, one may die", Stock: 2,
					Buyers: all, Faults: []explore.Fault{explore.Dies}, MaxFaults: 1})
			}
			return b.search(ctx, "sold-out", toldWrongly, something, scenarios...)
		})
	},
})

func toldWrongly(rule string) bool { return rule == ledger.RuleUndersold }
