package ledger

import (
	"context"
	"database/sql"

	"gorm.io/gorm"
)

// begin is gorm's Begin for a purchase: gorm copies its session three times on
// the way to a transaction, this does so once. Like there, the error is in
// tx.Error.
func begin(ctx context.Context, db *gorm.DB, o ...*sql.TxOptions) *gorm.DB {
	pool, ok := db.Statement.ConnPool.(gorm.TxBeginner)
	if !ok { // a pool of another kind, which gorm may know
		return db.WithContext(ctx).Begin(o...)
	}
	var options *sql.TxOptions
	if len(o) > 0 {
		options = o[0]
	}
	tx := db.Session(&gorm.Session{Context: ctx, NewDB: true})
	begun, err := pool.BeginTx(ctx, options)
	if err != nil {
		_ = tx.AddError(err)
		return tx
	}
	tx.Statement.ConnPool = begun
	return tx
}
