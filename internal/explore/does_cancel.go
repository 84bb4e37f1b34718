package explore

import (
	"context"
	"fmt"

	"seckill/internal/ledger"
)

// Cancels calls the strategy's Restore for an order that was placed before the
// actors came, and again when that failed (Buyer.Again). Two may cancel the same
// one (Buyer.Same).
var Cancels = addDoing("cancels", doing{
	prepare: func(ctx context.Context, w *World, first *process, b Buyer) (err error) {
		if _, there := w.placed[b.owner()]; there {
			return nil
		}
		if w.placed[b.owner()], err = first.strategy.Deduct(ctx, w.purchase(b)); err != nil {
			return fmt.Errorf("place the order that %s cancels: %w", b.Name, err)
		}
		return nil
	},
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		for n := 0; n <= o.Again && ctx.Err() == nil; n++ {
			if o.Err = p.strategy.Restore(ctx, w.placed[o.owner()].OrderID); o.Err == nil {
				return
			}
		}
	},
	told: func(w *World, o Outcome) (told []ledger.Told) {
		placed := w.placed[o.owner()]
		t := Tell(w.purchase(o.Buyer), Outcome{Receipt: placed})
		if o.Same == "" { // the purchase, once
			told = append(told, t)
		}
		t.Call, t.Outcome = ledger.CallCancel, ledger.OutcomeUnknown
		switch {
		case o.Err == nil:
			t.Outcome = ledger.OutcomeCancelled
		case o.NothingTaken():
			t.Outcome = ledger.OutcomeError
		}
		return append(told, t)
	},
	answer: func(Outcome) string { return "cancelled" },
})
