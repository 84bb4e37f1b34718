package mysqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// LockRow locks a row that always exists. One transaction holds the lock and
// runs the purchase. If lock and purchase used different connections, the
// purchase would go on after the loss of the lock's connection. And waiters
// could occupy all connections, so that a holder would wait for another.
var LockRow = family.Strategy(catalog.Info{
	Name:       "lock-row",
	Source:     "B, the common recipe; D, database lock, method 2",
	Guarantees: catalog.Robust.Holds(catalog.Owner),
	OneNode:    true,
	Also:       []string{"session.go", "tables.go"},
	Stored:     catalog.Stored{LockTable: "lock_row"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		if err := createTables(d.LockDB, lockRowTable); err != nil {
			return nil, err
		}
		limit, err := maxRowWait(d.LockDB)
		return &rowLock{db: d.LockDB, limit: limit}, err
	},
})

type rowLock struct {
	db    *gorm.DB
	limit time.Duration // how long the server lets a statement wait for a row
	made  sync.Map      // the names of lock rows that are known to exist
}

// Acquire waits until it has locked the row of key. o.Lease has no effect: the
// lock lives as long as its transaction.
func (l *rowLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	end := time.Now().Add(o.Wait)
	conn, err := takeConn(ctx, l.db, o.Wait)
	if err != nil {
		return nil, err
	}
	tx, err := l.beginLocked(ctx, conn, key, o.Wait, end)
	switch {
	case isRowHeld(err):
		conn.Close()
		return nil, acquireError(ctx, err)
	case err != nil:
		closeConn(conn)
		return nil, acquireError(ctx, err)
	}
	lease := &sessionLease{session: onConnection(ctx, l.db, tx)}
	lease.Hold = lock.NewHold(ctx, 0, func(context.Context) error {
		defer conn.Close()
		return tx.releaseLock()
	})
	return lease, nil
}

func (l *rowLock) beginLocked(
	ctx context.Context, conn *sql.Conn, key string,
	wait time.Duration, end time.Time,
) (*rowTx, error) {
	for {
		if err := l.ensureRow(ctx, conn, key); err != nil {
			return nil, err
		}
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		err = l.waitForRow(ctx, tx, key, wait, end)
		if err == nil {
			return &rowTx{Tx: tx}, nil
		}
		_ = tx.Rollback()
		late := wait >= 0 && time.Until(end) <= 0
		switch {
		case errors.Is(err, sql.ErrNoRows):
			l.made.Delete(key)
		case !isRowHeld(err) || late:
			return nil, err
		}
	}
}

// ensureRow inserts the lock's row if this process has not seen it yet. It
// reads first, because an INSERT of a row that exists would wait for the row's
// holder.
func (l *rowLock) ensureRow(
	ctx context.Context, conn *sql.Conn, key string,
) error {
	if _, ok := l.made.Load(key); ok {
		return nil
	}
	var found int
	err := conn.QueryRowContext(ctx,
		"SELECT COUNT(*) FROM lock_row WHERE name = ?", key).Scan(&found)
	if err == nil && found == 0 {
		_, err = conn.ExecContext(ctx,
			"INSERT IGNORE INTO lock_row (name) VALUES (?)", key)
	}
	if err == nil {
		l.made.Store(key, true)
	}
	return err
}

// waitForRow sends the SELECT that locks the row. If the server ends the wait,
// the caller tries again in a new transaction, because
// innodb_rollback_on_timeout may have ended the first one. waitForRow reads
// nothing before the row, because a plain read would fix the transaction's
// snapshot before the lock.
func (l *rowLock) waitForRow(
	ctx context.Context, tx *sql.Tx, key string,
	wait time.Duration, end time.Time,
) error {
	query := "SELECT name FROM lock_row WHERE name = ? FOR UPDATE"
	asking, cancel := ctx, context.CancelFunc(func() {})
	if wait == 0 {
		query += " NOWAIT"
	} else {
		asking, cancel = statementContext(ctx, wait, end, l.limit)
	}
	defer cancel()
	var name string
	err := tx.QueryRowContext(asking, query, key).Scan(&name)
	if ctx.Err() == nil && asking.Err() != nil && err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return err
}

// A rowTx is the transaction that holds the lock and runs the purchase. The
// purchase's BEGIN continues this transaction, and its COMMIT releases the
// lock.
type rowTx struct {
	*sql.Tx
	over atomic.Bool
}

// BeginTx implements gorm.ConnPoolBeginner. After a deadlock the ledger begins
// the purchase again. BeginTx then returns an error, because the lock has
// ended together with the first transaction.
func (t *rowTx) BeginTx(
	context.Context, *sql.TxOptions,
) (gorm.ConnPool, error) {
	if t.over.Load() {
		return nil, fmt.Errorf("%w: %w", seckill.ErrConflict, lock.ErrLost)
	}
	return t, nil
}

func (t *rowTx) Commit() error {
	t.over.Store(true)
	return t.Tx.Commit()
}

func (t *rowTx) Rollback() error {
	t.over.Store(true)
	return t.Tx.Rollback()
}

// releaseLock ends the transaction if the purchase has not ended it. The
// transaction is still open if the purchase failed or had nothing to write.
func (t *rowTx) releaseLock() error {
	if t.over.Swap(true) {
		return nil
	}
	if err := t.Tx.Rollback(); err != nil {
		return releaseError(err)
	}
	return nil
}
