package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// ForUpdateScan finds its row by a scan, which locks every row.
var ForUpdateScan = catalog.Info{
	Name:   "for-update-scan",
	Source: "A, third idea; D: row lock or table lock",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults).
		Breaks(catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &forUpdateScan{d.Ledger}, nil
	},
}

type forUpdateScan struct{ store *ledger.Store }

func (s *forUpdateScan) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		num, err := s.lockRow(tx, p.SKU)
		if err != nil {
			return err
		}
		left := num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		if err := s.writeStock(tx, p.SKU, left); err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

func (s *forUpdateScan) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		num, err := s.lockRow(tx, o.SKUID)
		if err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		return s.writeStock(tx, o.SKUID, num+o.Quantity)
	})
}

func (s *forUpdateScan) lockRow(
	tx *gorm.DB, sku int64,
) (num int64, err error) {
	err = s.store.ReadIn(tx, &num,
		"SELECT num FROM stock WHERE code = ? FOR UPDATE", sku)
	return num, err
}

func (s *forUpdateScan) writeStock(tx *gorm.DB, sku, num int64) error {
	return tx.Exec("UPDATE stock SET num = ? WHERE code = ?",
		num, sku).Error
}
