package ledger

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"seckill/internal/judge"
)

// sweepPiece is the number of rows that one transaction of Sweep removes. It is small, so that no
// purchase waits for long.
const sweepPiece = 1000

// Sweep removes the orders and refusals of earlier runs, with their units (StockStore InUnits) and reservations. It
// removes small pieces. After each piece it pauses for as long as the piece took, so that at least half of the
// database's time is left for buyers. If the context ends first, Sweep returns the context's error, and the next call
// of Sweep removes the rest. Several processes may sweep at once.
func Sweep(ctx context.Context, db *gorm.DB) error {
	db = db.WithContext(ctx)
	for _, table := range []string{"orders", "stock_units", "reservations"} {
		// The primary key of each table begins with SKU and run, so the subquery reads only one row for each SKU.
		var stale []judge.Stock
		err := db.Raw("SELECT id, run FROM stock WHERE run > " +
			"(SELECT run FROM " + table + " WHERE sku_id = stock.id ORDER BY run LIMIT 1)").Scan(&stale).Error
		if err != nil {
			return before(err)
		}
		for _, st := range stale {
			if err := removeEarlierRuns(db, table, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEarlierRuns removes the rows of a table that belong to earlier runs of the SKU st. It uses READ
// COMMITTED, because a repeatable read would lock the gap before the first order of the current run,
// and the first buyers would wait.
func removeEarlierRuns(db *gorm.DB, table string, st judge.Stock) error {
	statement := "DELETE FROM " + table + " WHERE sku_id = ? AND run < ? ORDER BY run LIMIT ?"
	view := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if db.Name() == "sqlite" {
		statement = "DELETE FROM " + table + " WHERE rowid IN " +
			"(SELECT rowid FROM " + table + " WHERE sku_id = ? AND run < ? LIMIT ?)"
		view = nil
	}
	for {
		begun, piece := time.Now(), int64(0)
		err := db.Transaction(func(tx *gorm.DB) error {
			res := tx.Exec(statement, st.ID, st.Run, sweepPiece)
			piece = res.RowsAffected
			return res.Error
		}, view)
		if err != nil || piece < sweepPiece {
			return before(err)
		}
		select {
		case <-time.After(time.Since(begun)):
		case <-db.Statement.Context.Done():
			return db.Statement.Context.Err()
		}
	}
}
