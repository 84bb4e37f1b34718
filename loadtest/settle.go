package loadtest

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"seckill/internal/ledger"
)

// A patience says how long to wait for purchases whose buyers have gone.
type patience struct {
	limit time.Duration // in all; the run is not valid after that
	poll  time.Duration // between two looks
	quiet time.Duration // the ledger must stand still so long at a service that does not say what it is working on
}

var defaultPatience = patience{limit: 30 * time.Second, poll: 200 * time.Millisecond, quiet: 5 * time.Second}

// settle reads the ledger once nothing changes it any more. Where a buyer got
// no answer his purchase may still be running; where everybody got one, one
// look is enough. settled is false when the last look may have been too early.
func (p patience) settle(ctx context.Context, services []service, from Ledger, sku int64, everybodyAnswered bool) (snap ledger.Snapshot, settled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	tick := time.NewTicker(p.poll)
	defer tick.Stop()
	seen, still := false, time.Now()
	for {
		busy, silent := working(ctx, services)
		now, readErr := from.Snapshot(ctx, sku)
		switch {
		case readErr != nil: // its database may come back
			still = time.Now()
		case everybodyAnswered:
			return now, true, nil
		case busy || !seen || !same(snap, now):
			still = time.Now()
		case !silent || time.Since(still) >= p.quiet:
			return now, true, nil
		}
		if readErr == nil {
			snap, seen = now, true
		} else if ctx.Err() == nil {
			err = readErr
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			switch {
			case seen:
				err = nil
			case err == nil: // the first look did not end in time
				err = readErr
			}
			return snap, false, err
		}
	}
}

// working asks the services whether any purchase is running. A process that
// refuses the connection is dead and runs nothing; one that does not answer
// may be. silent: some service does not tell.
func working(ctx context.Context, services []service) (busy, silent bool) {
	for _, s := range services {
		m, err := s.metrics(ctx)
		var op *net.OpError
		var refused *refusal
		switch {
		case err == nil:
			n, ok := m.inFlight()
			busy, silent = busy || n > 0, silent || !ok
		case errors.As(err, &refused): // it has no such page
			silent = true
		case errors.As(err, &op) && op.Op == "dial":
		default:
			busy = true
		}
	}
	return busy, silent
}

// same reports whether nothing was sold or cancelled between two looks.
func same(a, b ledger.Snapshot) bool {
	return a.Stock.Run == b.Stock.Run && a.Stock.Num == b.Stock.Num && a.Stock.Version == b.Stock.Version &&
		slices.EqualFunc(a.Orders, b.Orders, func(a, b ledger.Order) bool {
			return a.PublicID == b.PublicID && a.Status == b.Status
		})
}
