package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"seckill/internal/seckill"
)

// started turns buyers away, before they reach a strategy, from a sale that has not
// started and from a SKU that does not exist: a lock would keep a row or a node for
// each. Buyers who come at once share one reading.
//
// A sale that was seen open is not asked about again. Should another process set a
// new start, the statement that writes the order refuses (ledger.Store.Record), and
// late asks anew.
func (s *Server) started(ctx context.Context, sku int64) error {
	if _, open := s.open.Load(sku); open {
		return nil
	}
	reading := s.starts.DoChan(strconv.FormatInt(sku, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		start, err := s.ledger.Start(ctx, sku)
		if err == nil && start.In() == 0 {
			s.open.Store(sku, true)
		}
		return start.In(), err
	})
	select {
	case got := <-reading:
		if wait := got.Val.(time.Duration); got.Err == nil && wait > 0 {
			return notStarted(wait)
		}
		return got.Err
	case <-ctx.Done():
		return fmt.Errorf("%w: the start of the sale: %w", seckill.ErrUnavailable, ctx.Err())
	}
}

// late is for a purchase that the ledger refused as too early: what this
// process knew of the start was old.
func (s *Server) late(ctx context.Context, sku int64) error {
	s.open.Delete(sku)
	if err := s.started(ctx, sku); errors.Is(err, seckill.ErrNotStarted) {
		return err
	}
	return notStarted(0) // it started meanwhile, or cannot be read
}

func notStarted(wait time.Duration) error {
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	p := refused(seckill.ErrNotStarted, fmt.Sprintf("The sale has not started. Nothing was taken: come back in %d s.", seconds))
	p.RetryAfter = seconds
	return p
}
