package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// LockRow: another session holds the row for longer than a statement waits for it
// (error 1205).
const LockRow Name = "lock_row_mysql"

var lockRow = Fault{Name: LockRow, Question: lateCommand, Everywhere: true, Lasts: true,
	Describe: "another session holds the row for longer than statements wait for it",
	missing: func(e Env) *Lack {
		db, why := e.Database()
		if why == nil {
			db.Close()
		}
		return why
	},
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		db, why := e.Database()
		if why != nil {
			return nil, fmt.Errorf("%s: %s", LockRow, why)
		}
		seen := everywhere(ctx, e, a)
		tx, waited, err := holdRow(ctx, db, a.SKU)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", LockRow, err), db.Close())
		}
		begun := time.Now()
		seen.Took = true
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, e *Effect) error {
			defer db.Close()
			after, err := rowLockWaits(ctx, db)
			e.Stood = int(time.Since(begun).Milliseconds())
			if after == waited {
				e.Took, e.Matters, e.Why = false, false, NotMet
			}
			return errors.Join(err, tx.Rollback())
		}}, nil
	}}

// holdRow locks the row until the transaction ends. waited is how often statements
// have waited for rows before.
func holdRow(ctx context.Context, db *sql.DB, sku int64) (tx *sql.Tx, waited int64, err error) {
	if waited, err = rowLockWaits(ctx, db); err != nil {
		return nil, 0, err
	}
	if tx, err = db.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
		return nil, 0, err
	}
	var num int64
	if err := tx.QueryRowContext(ctx, "SELECT num FROM stock WHERE id = ? FOR UPDATE", sku).Scan(&num); err != nil {
		return nil, 0, errors.Join(err, tx.Rollback())
	}
	return tx, waited, nil
}

// rowLockWaits is the server's own count.
func rowLockWaits(ctx context.Context, db *sql.DB) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'innodb_row_lock_waits'").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read how often statements waited for rows: %w", err)
	}
	return n, nil
}
