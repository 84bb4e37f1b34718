package prove

import (
	"context"

	"seckill/internal/explore"
)

// What a buyer who leaves is told goes to the log, and to the copy of the request
// that comes next. All are in one process: a queue there has a third buyer, behind
// the one who leaves.
var _ = addQuestion(Question{
	column: 45, ID: "leaves", Title: "a buyer leaves",
	Asks: "A buyer hangs up, or their time is up, before any of their commands or while they wait; their process lives on: " +
		"is what they are told true, is the stock right, and do the others get through?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks when every buyer stays", func(int) (Cell, error) {
			leaves := []explore.Fault{explore.Leaves}
			return b.faulty(ctx, "leaves", notOverlap,
				&explore.Scenario{Name: "two buyers in one process, enough for one, one may leave", Stock: 2,
					Buyers: buyers(1, explore.Buys, explore.Buys), Faults: leaves},
				&explore.Scenario{Name: "three buyers in one process, enough for all, one may leave", Stock: 6, Next: true,
					Buyers: buyers(1, explore.Buys, explore.Buys, explore.Buys), Faults: leaves})
		})
	},
})
