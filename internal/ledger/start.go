package ledger

import (
	"context"
	"time"

	"seckill/internal/judge"
)

// A Start is when a SKU's sale starts, its run, and what time it was when that was read.
type Start struct {
	Run      int64
	StartsAt *judge.Moment // nil: it is on
	Now      judge.Moment
}

// In is how long the sale has yet to wait, 292 years at most; 0 when it is on.
func (s Start) In() time.Duration {
	if s.StartsAt == nil {
		return 0
	}
	return max(0, s.StartsAt.Time().Sub(s.Now.Time()))
}

// Start reads when the sale of a SKU starts; ErrUnknownSKU if there is none.
func (s *Store) Start(ctx context.Context, sku int64) (Start, error) {
	var st Start
	err := s.Read(ctx, &st, "SELECT run, starts_at, "+nowIn(s.db)+" AS now FROM stock WHERE id = ?", sku)
	return st, err
}
