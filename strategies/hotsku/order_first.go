package hotsku

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// OrderFirst touches the hot row last: others wait for it during the UPDATE
// and the COMMIT only.
var OrderFirst = catalog.Info{
	Name:   "order-first",
	Source: "common practice in large shops: the hot row comes last",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &orderFirst{d.Ledger}, nil
	},
}

type orderFirst struct{ store *ledger.Store }

// takeUnits locks the row, and writes what remains into the row and into the
// order. Both numbers come from the locked read: in one UPDATE of two tables
// neither server says which assignment is made first, and a
// "remaining = stock.num - 2" may see the number before or after.
const takeUnits = `UPDATE (
  SELECT id, run, num - ? AS rest FROM stock
   WHERE id = ? AND run = ? AND num - ? >= 0 LIMIT 1 FOR UPDATE) AS locked
  JOIN stock ON stock.id = locked.id
  JOIN orders ON orders.sku_id = locked.id AND orders.run = locked.run
   AND orders.id = ?
   SET stock.num = LAST_INSERT_ID(locked.rest), orders.remaining = locked.rest`

func (s *orderFirst) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	// A plain read, which waits for no one: the run that the order is for.
	// Buyers who come when all is sold need not queue for the row.
	run, _, err := s.store.Look(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		var id int64
		if id, r, err = s.store.Place(tx, p, run, 0); err != nil {
			return err
		}
		rows, left, err := s.store.Exec(tx, takeUnits,
			p.Quantity, p.SKU, run, p.Quantity, id)
		if err != nil {
			return err
		}
		if rows == 0 {
			return s.explainRefusal(tx, p, run)
		}
		r.Remaining = left
		return nil
	})
	return r, err
}

// explainRefusal tells a SKU that is sold out from one that was reset
// meanwhile. The ROLLBACK takes the order back.
func (s *orderFirst) explainRefusal(
	tx *gorm.DB, p seckill.Purchase, run int64,
) error {
	var now int64
	err := s.store.ReadIn(tx, &now,
		"SELECT run FROM stock WHERE id = ?", p.SKU)
	switch {
	case err != nil:
		return err
	case now != run:
		return fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)
	}
	return seckill.ErrSoldOut
}

// Restore takes the locks in the same order as Deduct: the order, then the
// row. A buyer and a cancellation never wait for each other.
func (s *orderFirst) Restore(ctx context.Context, orderID string) error {
	return s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx, "UPDATE stock "+
			"SET num = num + ? WHERE id = ? AND run = ?",
			o.Quantity, o.SKUID, o.Run)
	})
}
