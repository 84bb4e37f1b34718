package hotsku

import (
	"cmp"
	"context"
	"errors"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

const (
	// sweepEvery is how late an unpaid reservation comes back at most, while
	// the sweeper keeps up.
	sweepEvery = 500 * time.Millisecond
	// mostSwept reservations are looked for at a time.
	mostSwept = 200
	// sweepLimit bounds one look and what it finds.
	sweepLimit = 10 * time.Second
)

// Work sweeps until ctx ends, and lets go of nothing half done.
func (s *reserve) Work(ctx context.Context) {
	failed := false
	for {
		pause := time.NewTimer(sweepEvery)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		for ctx.Err() == nil {
			swept, cancel := tap.WithTimeout(
				context.WithoutCancel(ctx), sweepLimit)
			n, err := s.Expire(swept)
			cancel()
			if err != nil && !failed { // once, not twice a second
				s.log.Warn("expired reservations are not given back", "error", err)
			}
			if failed = err != nil; failed || n < mostSwept {
				break
			}
		}
	}
}

// Expire is a sweep. What it finds may be paid, cancelled or swept by another
// before it gets there: release looks again. A SKU whose row is held is left
// for the next sweep; its error is returned when the others are done.
func (s *reserve) Expire(ctx context.Context) (released int, err error) {
	var due []ledger.Order
	err = s.store.DB(ctx).Raw("SELECT r.sku_id, r.run, r.id, r.quantity "+
		"FROM reservations r JOIN stock s ON s.id = r.sku_id AND s.run = r.run "+
		"WHERE r.strategy = ? AND r.state = 'reserved' "+
		"AND r.ends_at <= UTC_TIMESTAMP(6) ORDER BY r.ends_at LIMIT ?",
		s.store.Strategy(), mostSwept).Scan(&due).Error
	if err != nil {
		return 0, err
	}
	held := map[int64]bool{}
	for _, o := range due {
		if held[o.SKUID] {
			continue
		}
		done, wrong := s.release(ctx, o, ledger.Expired, s.overdue)
		switch {
		case errors.Is(wrong, seckill.ErrUnknownOrder): // the sale was reset
		case errors.Is(wrong, seckill.ErrBusy) && ctx.Err() == nil:
			held[o.SKUID] = true
			err = cmp.Or(err, wrong)
		case wrong != nil:
			return released, wrong
		case done:
			released++
		}
	}
	return released, err
}
