package mysqllock

import (
	"context"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// LockInsertPlain is a unique key and nothing else: of several INSERTs of one
// name one succeeds. No row is ever deleted for a holder that cannot do it.
var LockInsertPlain = catalog.Info{
	Name:   "lock-insert-plain",
	Source: "D, database lock, method 1; C, unique index",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand),
	Needs:  []backend.Capability{backend.SQL, backend.RowLocks},
	Repair: "get-lock",
	Stock:  seckill.InRow,
	Also:   []string{"tables.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &insertPlain{d.LockDB, d.Settings.LockPoll, named{}}
		l.named = named{l.deleteRow}
		return l, createTables(d.LockDB, distributedLockTable)
	},
	Key: stockKey,
}

type insertPlain struct {
	db   *gorm.DB
	poll time.Duration
	named
}

func (l *insertPlain) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) { return l.tryAcquire(ctx, key) })
	if err != nil {
		return nil, err
	}
	return l.lease(ctx, key), nil
}

func (l *insertPlain) tryAcquire(
	ctx context.Context, key string,
) (bool, error) {
	err := l.db.WithContext(ctx).Exec(
		"INSERT INTO distributed_lock (name) VALUES (?)", key).Error
	switch {
	case isDuplicate(err):
		return false, nil
	case isUndone(err), isRowHeld(err):
		return false, nil
	}
	return err == nil, err
}

func (l *insertPlain) deleteRow(
	ctx context.Context, key string,
) (rows int64, err error) {
	res := l.db.WithContext(ctx).Exec(
		"DELETE FROM distributed_lock WHERE name = ?", key)
	return res.RowsAffected, res.Error
}
