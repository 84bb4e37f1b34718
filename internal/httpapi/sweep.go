package httpapi

import (
	"context"
	"log/slog"
	"time"
)

// sweepEvery is how often a process looks for orders of earlier runs that no
// reset of its own has left: the process that reset a sale may have died.
const sweepEvery = time.Minute

// sweep removes the orders of earlier runs, beside the sale: after each reset,
// and from time to time.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		begun := time.Now()
		removed, err := s.Ledger.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("remove orders of earlier runs", "removed", removed, "error", err)
		case removed > 0:
			s.Log.Log(ctx, slog.LevelInfo, "removed orders of earlier runs", "orders", removed, "took", time.Since(begun))
		}
		select {
		case <-s.stale:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) sweepSoon() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}
