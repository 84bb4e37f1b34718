package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Naive reads the stock, subtracts in the program, and writes the result. If
// two buyers read the same number, the second overwrites the result of the
// first: a lost update.
var Naive = family.Strategy(catalog.Info{
	Name:       "naive",
	Source:     "A, first idea: where it starts",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Repair:     "conditional",
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &naive{d.Ledger, ""}, nil
	},
})

type naive struct {
	store   *ledger.Store
	locking string // " FOR UPDATE" in for-update-autocommit, otherwise ""
}

func (s *naive) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	var now struct{ Num, Run int64 }
	err = s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?"+s.locking, p.SKU)
	if err != nil {
		return r, err
	}
	// The flaw: from here on, another buyer may change the stock.
	left := now.Num - p.Quantity
	if left < 0 {
		return r, seckill.ErrSoldOut
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			left, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// Restore reads, computes and writes like Deduct, so it also loses updates.
func (s *naive) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	var num int64
	err = s.store.Read(ctx, &num,
		"SELECT num FROM stock WHERE id = ?"+s.locking, o.SKUID)
	if err != nil {
		return err
	}
	return s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx,
			"UPDATE stock SET num = ? WHERE id = ? AND run = ?",
			num+o.Quantity, o.SKUID, o.Run)
	})
}
