package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Atomic checks the stock, and then lets the database subtract without a
// condition. If others buy in between, the stock may fall below zero.
var Atomic = family.Strategy(catalog.Info{
	Name:       "atomic",
	Source:     "A, first idea: the database computes",
	Guarantees: catalog.Unsound.Holds(catalog.LostUpdate, catalog.OtherSKUs),
	Repair:     "conditional",
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &atomic{d.Ledger}, nil
	},
})

type atomic struct{ store *ledger.Store }

func (s *atomic) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	var now struct{ Num, Run int64 }
	err = s.store.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?", p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE stock SET num = num - ? WHERE id = ?",
			p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		// LAST_INSERT_ID(num - ?) would be cheaper than this SELECT. But MySQL
		// refuses a negative number there, so the flaw would no longer show.
		var left int64
		err = s.store.ReadIn(tx, &left,
			"SELECT num FROM stock WHERE id = ?", p.SKU)
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

func (s *atomic) Restore(ctx context.Context, orderID string) error {
	return s.store.CancelOrder(ctx, orderID, s.store.ReturnUnits)
}
