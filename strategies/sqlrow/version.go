package sqlrow

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Version is optimistic locking by a version number, which each write raises.
var Version = family.Strategy(catalog.Info{
	Name:       "version",
	Source:     "A, fourth idea: optimistic locking by a version number",
	Guarantees: catalog.Robust,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &version{d.Ledger, d.Settings.Retries}, nil
	},
})

type version struct {
	store   *ledger.Store
	retries int
}

type versionedRow struct{ Num, Version, Run int64 }

func (s *version) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = retryConflicts(ctx, s.retries, func() error {
		now, err := s.readRow(ctx, p.SKU)
		if err != nil {
			return err
		}
		left := now.Num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		return s.store.Tx(ctx, func(tx *gorm.DB) error {
			err := s.writeStock(tx, p.SKU, left, now.Version)
			if err != nil {
				return err
			}
			r, err = s.store.Record(tx, p, now.Run, left)
			return err
		})
	})
	return r, err
}

func (s *version) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return retryConflicts(ctx, s.retries, func() error {
		now, err := s.readRow(ctx, o.SKUID)
		if err != nil {
			return err
		}
		return s.store.CancelOrder(ctx, orderID, func(
			tx *gorm.DB, o ledger.Order,
		) error {
			return s.writeStock(tx, o.SKUID, now.Num+o.Quantity, now.Version)
		})
	})
}

// readRow reads outside any transaction. Inside one, REPEATABLE READ would
// show the same old row to every attempt.
func (s *version) readRow(
	ctx context.Context, sku int64,
) (now versionedRow, err error) {
	err = s.store.Read(ctx, &now,
		"SELECT num, version, run FROM stock WHERE id = ?", sku)
	return now, err
}

func (s *version) writeStock(tx *gorm.DB, sku, num, old int64) error {
	rows, _, err := s.store.Exec(tx,
		"UPDATE stock SET num = ?, version = version + 1 "+
			"WHERE id = ? AND version = ?", num, sku, old)
	if err == nil && rows == 0 {
		err = seckill.ErrConflict
	}
	return err
}

const (
	minPause = 2 * time.Millisecond
	maxPause = 64 * time.Millisecond
)

// retryConflicts calls the function attempt again after a conflict. Random
// pauses, up to a limit that doubles ("full jitter"), keep the losers from
// trying again at the same moment.
func retryConflicts(
	ctx context.Context, retries int, attempt func() error,
) error {
	for n := 0; ; n++ {
		err := attempt()
		if !errors.Is(err, seckill.ErrConflict) || n >= retries {
			return err
		}
		pause := rand.N(min(minPause<<min(n, 10), maxPause))
		if tap.Sleep(ctx, pause) != nil {
			return err // no time is left, so report the conflict
		}
	}
}
