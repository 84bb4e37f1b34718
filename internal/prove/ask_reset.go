package prove

import (
	"context"

	"seckill/internal/explore"
)

var _ = addQuestion(Question{
	column: 98, ID: "reset", Title: "reset and start",
	Asks: "The sale is set anew, or starts, beside buyers, cancellations and another reset: " +
		"is the new sale's stock right, and is nothing sold before the start?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks without a reset", func(processes int) (Cell, error) {
			var scenarios []*explore.Scenario
			for _, s := range []struct {
				name string
				a, b explore.Does
			}{
				{"one buys while the sale is set anew", explore.Buys, explore.Resets},
				{"one cancels while the sale is set anew", explore.Cancels, explore.Resets},
				{"two set the sale anew", explore.Resets, explore.Resets},
				{"one buys while the sale starts", explore.Buys, explore.Starts},
			} {
				scenarios = append(scenarios, &explore.Scenario{Name: s.name, Stock: 4, Next: true, Buyers: buyers(processes, s.a, s.b)})
			}
			scenarios = append(scenarios, b.shared(2, explore.Resets, explore.Scenario{
				Name: "a shared transaction while the sale is set anew", Stock: 6})...)
			return b.search(ctx, "reset", wrongStock, something, scenarios...)
		})
	},
})
