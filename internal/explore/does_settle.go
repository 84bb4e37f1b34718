package explore

import (
	"context"
	"fmt"

	"seckill/internal/seckill"
)

// Settles is what a strategy's worker does beside the buyers: the stock row
// follows the orders. The scheduler decides when, and between which commands.
var Settles = addDoing("settles", doing{
	check: func(w *World) error {
		if !w.info.Follows() {
			return fmt.Errorf("the stock row of %s does not follow its orders: it has nothing to settle", w.info.Name)
		}
		return nil
	},
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.Err = p.strategy.(seckill.Settler).Settle(ctx, w.sku)
	},
	answer: func(Outcome) string { return "the row has followed" },
})
