package ledger

import (
	"context"
	"database/sql"

	"gorm.io/gorm"
)

const mostStragglers = 100 // that a walk shows; one is enough to make a run prove nothing

// Walk reads one SKU in one consistent view of the database: its row first, then
// the orders of its current run, by id. It holds one order at a time; o is used
// anew for each. ErrUnknownSKU if there is no such SKU.
//
// Orders of earlier runs stay in the table for a while and are no concern of
// this run: Record refuses to write into them once the run has moved on. Up to
// 100 orders of higher runs are shown first: the stock row was put back to
// an older state beneath them, and nothing that it says can be trusted.
func (s *Store) Walk(ctx context.Context, sku int64, stock func(Stock), each func(o *Order)) error {
	view := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	if s.db.Name() == "sqlite" { // every SQLite transaction is one consistent view
		view.Isolation = sql.LevelDefault
	}
	err := s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var st Stock
		if err := scan(tx, &st, "SELECT * FROM stock WHERE id = ?", sku); err != nil {
			return err
		}
		stock(st)
		reserved, err := reservationsOf(tx, sku, st.Run)
		if err != nil {
			return err
		}
		whole := each
		each = func(o *Order) {
			o.Reservation = reserved[o.ID]
			whole(o)
		}
		if err := walk(tx, each, "run > ? ORDER BY run, id LIMIT ?", sku, st.Run, mostStragglers); err != nil {
			return err
		}
		return walk(tx, each, "run = ? ORDER BY id", sku, st.Run)
	}, view)
	return before(err)
}

// walk leaves out what no judge looks at.
func walk(tx *gorm.DB, each func(*Order), which string, args ...any) error {
	rows, err := tx.Raw("SELECT id, public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy "+
		"FROM orders WHERE sku_id = ? AND "+which, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o Order
		if err := rows.Scan(&o.ID, &o.PublicID, &o.RequestID, &o.Run, &o.UserID, &o.SKUID,
			&o.Quantity, &o.Remaining, &o.Status, &o.Strategy); err != nil {
			return err
		}
		each(&o)
	}
	return rows.Err()
}

// Sellers names the strategies that wrote orders of the SKU's current run.
func (s *Store) Sellers(ctx context.Context, sku int64) ([]string, error) {
	names := []string{}
	err := s.db.WithContext(ctx).Raw("SELECT DISTINCT strategy FROM orders WHERE sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?)",
		sku, sku).Scan(&names).Error
	return names, before(err)
}
