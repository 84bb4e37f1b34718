package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Conditional checks the stock in the WHERE of the UPDATE.
var Conditional = family.Strategy(catalog.Info{
	Name:       "conditional",
	Source:     "A, fourth idea: optimistic locking by a condition",
	Guarantees: catalog.Robust,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &conditional{d.Ledger, "id"}, nil
	},
})

type conditional struct {
	store *ledger.Store
	by    string // the name of the column that finds the row
}

func (s *conditional) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		// LAST_INSERT_ID puts the units left into the reply to the UPDATE, so
		// that no second read is needed.
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
				"WHERE "+s.by+" = ? AND num - ? >= 0",
			p.Quantity, p.SKU, p.Quantity)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrSoldOut // the row exists, so num was too small
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

func (s *conditional) Restore(ctx context.Context, orderID string) error {
	return s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE "+s.by+" = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
}
