package mysqllock

import (
	"cmp"
	"context"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// LockInsertByName writes the end of the lock into the row, and deletes rows
// whose end has passed. The row does not name the holder.
var LockInsertByName = family.Strategy(catalog.Info{
	Name:       "lock-insert-by-name",
	Source:     "C, unique index",
	Guarantees: catalog.Leased.Breaks(catalog.Owner),
	Repair:     "get-lock",
	Also:       []string{"tables.go"},
	Stored:     catalog.Stored{LockTable: "distributed_lock"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &insertByName{newNamedRow(d, "distributed_lock")},
			createTables(d.LockDB, distributedLockTable)
	},
})

// The lease is a setting. In the published article C it is 30 s.
type insertByName struct{ namedRow }

func (l *insertByName) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) { return l.tryAcquire(ctx, key, ttl) })
	if err != nil {
		return nil, err
	}
	return newNameLease(ctx, l, key), nil
}

func (l *insertByName) tryAcquire(
	ctx context.Context, key string, ttl time.Duration,
) (bool, error) {
	for {
		err := l.db.WithContext(ctx).Exec(
			"INSERT INTO distributed_lock (name, expire) "+
				"VALUES (?, NOW(6) + INTERVAL ? MICROSECOND)",
			key, ttl.Microseconds()).Error
		if err == nil {
			return true, nil
		}
		past := int64(0)
		if isDuplicate(err) {
			past, err = l.deleteExpired(ctx, key)
		}
		switch {
		case isUndone(err), isRowHeld(err):
			return false, nil
		case err != nil || past == 0:
			return false, err
		}
	}
}

// deleteExpired deletes the lock's row if it has expired. The published
// article C deletes all expired rows periodically.
func (l *insertByName) deleteExpired(
	ctx context.Context, key string,
) (past int64, err error) {
	res := l.db.WithContext(ctx).Exec("DELETE FROM distributed_lock "+
		"WHERE name = ? AND expire <= NOW(6)", key)
	return res.RowsAffected, res.Error
}
