package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// ForUpdateAutocommit runs FOR UPDATE without a transaction, so that the row
// is locked during the SELECT only.
var ForUpdateAutocommit = catalog.Info{
	Name: "for-update-autocommit",
	Source: "A, third idea: why the business code must be in the " +
		"transaction",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Needs:      []backend.Capability{backend.SQL, backend.RowLocks},
	Repair:     "for-update",
	Stock:      seckill.InRow,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &forUpdateAutocommit{d.Ledger}, nil
	},
}

type forUpdateAutocommit struct{ store *ledger.Store }

func (s *forUpdateAutocommit) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	var now struct{ Num, Run int64 }
	err = s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ? FOR UPDATE", p.SKU)
	if err != nil {
		return r, err
	}
	// Here the row is not locked any more.
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

// Restore reads, computes and writes like Deduct, and loses updates like it.
func (s *forUpdateAutocommit) Restore(
	ctx context.Context, orderID string,
) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	var num int64
	err = s.store.Read(ctx, &num,
		"SELECT num FROM stock WHERE id = ? FOR UPDATE", o.SKUID)
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
