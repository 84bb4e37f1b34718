package ledger

import (
	"context"

	"gorm.io/gorm"
)

// A Balance is one SKU's row beside the sum of its orders, as one statement saw
// them.
type Balance struct {
	Run, Initial, Num int64
	Held              int64 // units of active orders, paid or not
}

// Left is what the row must say: what was set less what orders hold. Below zero
// more was sold than there was.
func (b Balance) Left() int64 { return b.Initial - b.Held }

const balance = "SELECT run, initial, num, (SELECT COALESCE(SUM(quantity), 0) FROM orders " +
	"WHERE sku_id = stock.id AND run = stock.run AND status = ?) AS held FROM stock WHERE id = ?"

// Balance reads a SKU's. Row and orders are of one moment, also while buyers buy.
func (s *Store) Balance(ctx context.Context, sku int64) (b Balance, err error) {
	return b, s.Read(ctx, &b, balance, Active, sku)
}

// Mend writes what the row must say, if it does not, and returns what it found.
// It is for sales whose purchases take units and write the order in one
// transaction: their row is locked first, and only then are the orders summed, so a
// purchase is in both or in neither. One that takes its units later finds the row
// as it is by then. Only purchases that compute the new value outside the database
// can overwrite it; the difference is there again then.
func (s *Store) Mend(ctx context.Context, sku int64) (found Balance, err error) {
	look, store := "SELECT id FROM stock WHERE id = ?", s
	if s.db.Name() != "sqlite" { // there BEGIN has locked all
		look, store = look+" FOR UPDATE", s.ReadCommitted()
	}
	err = store.Tx(ctx, func(tx *gorm.DB) error {
		var id int64
		if err := scan(tx, &id, look, sku); err != nil {
			return err
		}
		if err := scan(tx, &found, balance, Active, sku); err != nil || found.Num == found.Left() {
			return err
		}
		_, _, err := s.Exec(tx, "UPDATE stock SET num = ?, version = version + 1 WHERE id = ?", found.Left(), sku)
		return err
	})
	return found, err
}
