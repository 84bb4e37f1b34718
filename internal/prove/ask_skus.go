package prove

import (
	"context"

	"seckill/internal/explore"
)

var _ = addQuestion(Question{
	column: 120, ID: "other-skus", Title: "other SKUs unhindered",
	Asks: "Two buyers of different SKUs: does one ever wait for the other?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		two := buyers(1, explore.Buys, explore.Buys)
		two[1].Other = true
		return b.search(ctx, "other-skus", func(rule string) bool { return rule == explore.RuleHindered }, something,
			&explore.Scenario{Name: "two buyers of different SKUs", Stock: 5, Buyers: two})
	},
})
