package mysqllock

import (
	"context"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// LockInsertPlain is a unique key and nothing else: if several buyers INSERT
// the same name, one succeeds. Nobody deletes the row of a dead holder.
var LockInsertPlain = family.Strategy(catalog.Info{
	Name:   "lock-insert-plain",
	Source: "D, database lock, method 1; C, unique index",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand),
	Repair: "get-lock",
	Also:   []string{"tables.go"},
	Stored: catalog.Stored{LockTable: "distributed_lock"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &insertPlain{newNamedRow(d, "distributed_lock")},
			createTables(d.LockDB, distributedLockTable)
	},
})

type insertPlain struct{ namedRow }

func (l *insertPlain) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) { return l.tryAcquire(ctx, key) })
	if err != nil {
		return nil, err
	}
	return newNameLease(ctx, l, key), nil
}

func (l *insertPlain) tryAcquire(
	ctx context.Context, key string,
) (bool, error) {
	err := l.db.WithContext(ctx).Exec(
		"INSERT INTO distributed_lock (name) VALUES (?)", key).Error
	if isDuplicate(err) || isUndone(err) || isRowHeld(err) {
		return false, nil
	}
	return err == nil, err
}
