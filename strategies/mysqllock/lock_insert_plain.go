package mysqllock

import (
	"context"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
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
	Stock:  ledger.InRow,
	Also:   []string{"tables.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &insertPlain{d.LockDB, d.Settings.LockPoll, d.Observe},
			create(d.LockDB, distributedLock)
	},
	Key: stockKey,
}

type insertPlain struct {
	db      *gorm.DB
	poll    time.Duration
	observe seckill.Observer
}

func (l *insertPlain) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if err := checkName(key, tableName); err != nil {
		return nil, err
	}
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) { return l.try(ctx, key) })
	if err != nil {
		return nil, err
	}
	held, end := context.WithCancel(ctx)
	return &insertPlainLease{l, key, held, end}, nil
}

func (l *insertPlain) try(
	ctx context.Context, key string,
) (bool, error) {
	err := l.db.WithContext(ctx).Exec(
		"INSERT INTO distributed_lock (name) VALUES (?)", key).Error
	switch {
	case taken(err):
		return false, nil
	case undone(err), held(err):
		l.observe.Retried()
		return false, nil
	}
	return err == nil, err
}

// Clear removes a lock that its holder will not free.
func (l *insertPlain) Clear(ctx context.Context, key string) error {
	_, err := l.delete(ctx, key)
	return err
}

// delete is tried again when it is undone by a deadlock: the row of a holder
// that gave up here would stay for ever.
func (l *insertPlain) delete(
	ctx context.Context, key string,
) (rows int64, err error) {
	for {
		res := l.db.WithContext(ctx).Exec(
			"DELETE FROM distributed_lock WHERE name = ?", key)
		if !undone(res.Error) || ctx.Err() != nil {
			return res.RowsAffected, res.Error
		}
		l.observe.Retried()
	}
}

type insertPlainLease struct {
	lock *insertPlain
	key  string
	ctx  context.Context
	end  context.CancelFunc
}

func (l *insertPlainLease) Context() context.Context { return l.ctx }
func (l *insertPlainLease) Fence() uint64            { return 0 }

// Release frees the lock of any owner.
func (l *insertPlainLease) Release(ctx context.Context) error {
	defer l.end()
	return freed(l.lock.delete(ctx, l.key))
}
