package explore

import (
	"context"
	"fmt"

	"seckill/internal/ledger"
)

// Buys calls the strategy's Deduct.
var Buys = addDoing("buys", doing{
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.Receipt, o.Err = p.strategy.Deduct(ctx, w.purchase(o.Buyer))
	},
	told: func(w *World, o Outcome) []ledger.Told {
		return []ledger.Told{Tell(w.purchase(o.Buyer), o)}
	},
	answer: func(o Outcome) string {
		return fmt.Sprintf("sold %d, %d left", o.Receipt.Quantity, o.Receipt.Remaining)
	},
})
