package sqlrow

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// ForUpdate is pessimistic locking. It locks the row before it reads the
// stock.
var ForUpdate = family.Strategy(catalog.Info{
	Name:       "for-update",
	Source:     "A, third idea; D: database lock, method 2",
	Guarantees: catalog.Robust,
	Needs:      []backend.Capability{backend.SQL, backend.RowLocks},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &forUpdate{d.Ledger, "id", "FOR UPDATE"}, nil
	},
})

type forUpdate struct {
	store *ledger.Store
	by    string // the name of the column that finds the row
	lock  string // FOR UPDATE or FOR UPDATE NOWAIT
}

func (s *forUpdate) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		// The locking read also returns the stock. A plain SELECT would read
		// the transaction's snapshot, which may be older.
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

func (s *forUpdate) Restore(ctx context.Context, orderID string) error {
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

func (s *forUpdate) lockRow(tx *gorm.DB, sku int64) (int64, error) {
	var num int64
	err := s.store.ReadIn(tx, &num,
		"SELECT num FROM stock WHERE "+s.by+" = ? "+s.lock, sku)
	return num, err
}

func (s *forUpdate) writeStock(tx *gorm.DB, sku, num int64) error {
	return tx.Exec("UPDATE stock SET num = ? WHERE "+s.by+" = ?",
		num, sku).Error
}
