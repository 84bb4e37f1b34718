package httpapi

import (
	"context"
	"time"
)

const (
	// sweepEvery is how often a process looks for orders of earlier runs that no
	// reset of its own has left: the process that reset a sale may have died.
	sweepEvery = 10 * time.Minute
	// mostStale bounds the SKUs that wait for the sweeper; it finds the others
	// when it looks at all.
	mostStale = 64
)

// sweep removes the orders of earlier runs, beside the sale: of a SKU after its
// reset, of every SKU from time to time.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	sweep := func() (int64, error) { return s.Ledger.Sweep(ctx) }
	for {
		begun := time.Now()
		removed, err := sweep()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("remove orders of earlier runs", "removed", removed, "error", err)
		case removed > 0:
			s.Log.Info("removed orders of earlier runs", "orders", removed, "took", time.Since(begun))
		}
		select {
		case sku := <-s.stale:
			sweep = func() (int64, error) { return s.Ledger.SweepSKU(ctx, sku) }
		case <-tick.C:
			sweep = func() (int64, error) { return s.Ledger.Sweep(ctx) }
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) sweepSoon(sku int64) {
	select {
	case s.stale <- sku:
	default:
	}
}
