package explore

import (
	"context"
	"fmt"

	"seckill/internal/seckill"
)

// Resets sets the sale anew, as PUT /skus/ID does: the ledger first, then what
// the strategy keeps elsewhere.
var Resets = addDoing("resets", doing{
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		if _, o.Err = p.store.Reset(ctx, w.sku, skuName, w.stock); o.Err != nil {
			return
		}
		if r, ok := p.strategy.(seckill.Resetter); ok {
			o.Err = r.Reset(ctx, w.sku, w.stock)
		}
	},
	answer: func(Outcome) string { return "the sale was set anew" },
})

// Starts is the moment at which the sale begins: until then it is scheduled for
// later.
var Starts = addDoing("starts", doing{
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		if err := p.in.DB.WithContext(ctx).Exec("UPDATE stock SET starts_at = 1 WHERE id = ?", w.sku).Error; err != nil {
			o.Err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		}
	},
	answer: func(Outcome) string { return "the sale has begun" },
})
