package ledger

import (
	"context"
	"time"

	"seckill/internal/judge"
)

// A Start says when the current run of a SKU's sale starts.
type Start struct {
	Run      int64
	StartsAt *judge.Moment // nil if the sale started at the reset
	Now      judge.Moment  // the time by the database's clock when the Start was read
}

// Wait returns the time from Now until the sale starts, at most 292 years. If the sale has started, Wait returns 0.
func (s Start) Wait() time.Duration {
	if s.StartsAt == nil {
		return 0
	}
	return max(0, s.StartsAt.Time().Sub(s.Now.Time()))
}

// Start reads when the sale of a SKU starts. It returns ErrUnknownSKU if there is no such SKU.
func (s *Store) Start(ctx context.Context, sku int64) (Start, error) {
	var st Start
	err := s.Read(ctx, &st, "SELECT run, starts_at, "+nowIn(s.db)+" AS now FROM stock WHERE id = ?", sku)
	return st, err
}
