package ledger

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"seckill/internal/judge"
)

// sweepPiece is how many orders one transaction of Sweep removes: few enough
// that a purchase never waits for it noticeably.
const sweepPiece = 1000

// Sweep removes the orders and refusals of runs that are over, with their units
// (StockStore InUnits) and reservations, in small pieces. It pauses after each for as
// long as that took, so that buyers have at least half of the database. It returns how
// many orders it removed, and the context's error when that ends first: what is left is
// for the next call. Several processes may sweep at once.
func (s *Store) Sweep(ctx context.Context) (removed int64, err error) {
	for _, table := range []string{"orders", "stock_units", "reservations"} {
		var stale []judge.Stock // with rows of earlier runs in the table, whose primary key begins with SKU and run
		err := s.DB(ctx).Raw("SELECT id, run FROM stock WHERE run > " +
			"(SELECT run FROM " + table + " WHERE sku_id = stock.id ORDER BY run LIMIT 1)").Scan(&stale).Error
		if err != nil {
			return removed, before(err)
		}
		for _, st := range stale {
			n, err := s.remove(ctx, table, st)
			if table == "orders" {
				removed += n
			}
			if err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// remove removes the rows of a table that belong to a SKU's runs before st. It reads
// committed rows only: a repeatable read would lock the gap before the current run's
// first order, and with it the first buyers.
func (s *Store) remove(ctx context.Context, table string, st judge.Stock) (removed int64, err error) {
	statement, view := "DELETE FROM "+table+" WHERE sku_id = ? AND run < ? ORDER BY run LIMIT ?", &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if s.db.Name() == "sqlite" {
		statement = "DELETE FROM " + table + " WHERE rowid IN (SELECT rowid FROM " + table + " WHERE sku_id = ? AND run < ? LIMIT ?)"
		view = nil
	}
	for {
		begun, piece := time.Now(), int64(0)
		err := s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			res := tx.Exec(statement, st.ID, st.Run, sweepPiece)
			piece = res.RowsAffected
			return res.Error
		}, view)
		if removed += piece; err != nil || piece < sweepPiece {
			return removed, before(err)
		}
		select {
		case <-time.After(time.Since(begun)):
		case <-ctx.Done():
			return removed, ctx.Err()
		}
	}
}
