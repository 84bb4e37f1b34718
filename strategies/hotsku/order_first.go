package hotsku

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// OrderFirst changes the hot row last, so that other buyers wait for the row
// only during the UPDATE and the COMMIT.
var OrderFirst = family.Strategy(catalog.Info{
	Name:       "order-first",
	Source:     "common practice in large shops: the hot row comes last",
	Guarantees: catalog.Robust,
	Stored:     catalog.Stored{Reads: "SELECT run, num"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &orderFirst{d.Ledger}, nil
	},
})

type orderFirst struct{ store *ledger.Store }

// takeUnits locks the row, and writes the remaining units into the row and
// into the order. Both numbers come from the locking read. In an UPDATE of two
// tables, neither MySQL nor MariaDB defines which assignment is made first. So
// "remaining = stock.num - 2" could use the number before or after the sale.
const takeUnits = `UPDATE (
  SELECT id, run, num - ? AS rest FROM stock
   WHERE id = ? AND run = ? AND num - ? >= 0 LIMIT 1 FOR UPDATE) AS locked
  JOIN stock ON stock.id = locked.id
  JOIN orders ON orders.sku_id = locked.id AND orders.run = locked.run
   AND orders.id = ?
   SET stock.num = LAST_INSERT_ID(locked.rest), orders.remaining = locked.rest`

func (s *orderFirst) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	return s.sellOrder(ctx, p, nil)
}

// sellOrder writes the order first, then calls the function writeMore unless
// it is nil, and changes the hot row last.
func (s *orderFirst) sellOrder(
	ctx context.Context, p seckill.Purchase,
	writeMore func(tx *gorm.DB, run, id int64) error,
) (r seckill.Receipt, err error) {
	// Look reads the run for the order. It waits for no lock, and refuses a
	// buyer at once if too few units are left.
	run, _, err := s.store.Look(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		var id int64
		if id, r, err = s.store.Place(tx, p, run, 0); err != nil {
			return err
		}
		if writeMore != nil {
			if err := writeMore(tx, run, id); err != nil {
				return err
			}
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

// explainRefusal finds out why the UPDATE matched no row: the SKU is sold out,
// or the sale was reset meanwhile. The transaction then ends with a ROLLBACK,
// which removes the order.
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
		return ledger.ErrReset
	}
	return seckill.ErrSoldOut
}

// Restore takes the locks in the same order as Deduct: first the order, then
// the stock row. So a purchase and a cancellation cannot deadlock.
func (s *orderFirst) Restore(ctx context.Context, orderID string) error {
	return s.store.CancelOrder(ctx, orderID, s.store.ReturnUnits)
}
