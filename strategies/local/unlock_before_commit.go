package local

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// UnlockBeforeCommit takes the mutex of mutex-per-sku inside the transaction,
// and releases it before the COMMIT. The next buyer reads the old stock, and
// overwrites the sale.
var UnlockBeforeCommit = family.Strategy(catalog.Info{
	Name: "unlock-before-commit",
	Source: "ours: a common bug of such programs, a lock inside a " +
		"method that the framework wraps in a transaction; A, second " +
		"idea, names synchronized and Spring, and not this",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Needs:      []backend.Capability{backend.SQL, backend.RowLocks},
	Repair:     "conditional",
	Also:       []string{"mutex_per_sku.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &unlockBeforeCommit{wait: d.Settings.LockWait,
			store: d.Ledger}, nil
	},
})

type unlockBeforeCommit struct {
	locks skuMutexes
	wait  time.Duration
	store *ledger.Store
}

func (s *unlockBeforeCommit) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	// Tx plays the part of a framework that runs a method between BEGIN and
	// COMMIT.
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		unlock, err := s.lockSKU(ctx, p.SKU)
		if err != nil {
			return err
		}
		defer unlock() // the flaw: COMMIT comes after the unlock
		num, run, err := s.readStock(tx, p.SKU)
		if err != nil {
			return err
		}
		left := num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		err = tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			left, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, run, left)
		return err
	})
	return r, err
}

// Restore reads, computes and writes like Deduct, so it also loses updates.
func (s *unlockBeforeCommit) Restore(
	ctx context.Context, orderID string,
) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		unlock, err := s.lockSKU(ctx, o.SKUID)
		if err != nil {
			return err
		}
		defer unlock()
		num, _, err := s.readStock(tx, o.SKUID)
		if err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		return s.store.GiveBack(tx,
			"UPDATE stock SET num = ? WHERE id = ? AND run = ?",
			num+o.Quantity, o.SKUID, o.Run)
	})
}

func (s *unlockBeforeCommit) lockSKU(
	ctx context.Context, sku int64,
) (unlock func(), err error) {
	lease, err := s.locks.Acquire(ctx, fmt.Sprint("stock ", sku),
		lock.Options{Wait: s.wait})
	if err != nil {
		return nil, err
	}
	return func() { _ = lease.Release(ctx) }, nil
}

func (s *unlockBeforeCommit) readStock(
	tx *gorm.DB, sku int64,
) (num, run int64, err error) {
	var now struct{ Num, Run int64 }
	err = s.store.ReadIn(tx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	return now.Num, now.Run, err
}
