package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// ConditionalScan is conditional without an index on the column by which it
// finds its row. Its scan locks every row, so buyers of all SKUs wait for each
// other.
var ConditionalScan = catalog.Info{
	Name:   "conditional-scan",
	Source: "A, fourth idea: why to update by a primary or unique key",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults).
		Breaks(catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &conditionalScan{d.Ledger}, nil
	},
}

type conditionalScan struct{ store *ledger.Store }

func (s *conditionalScan) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
				"WHERE code = ? AND num - ? >= 0",
			p.Quantity, p.SKU, p.Quantity)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrSoldOut // the caller knows that the SKU exists
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

func (s *conditionalScan) Restore(
	ctx context.Context, orderID string,
) error {
	return s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE code = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
}
