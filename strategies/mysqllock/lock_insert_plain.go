package mysqllock

import (
	"context"
	"embed"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

//go:embed lock_insert_plain.go tables.go
//go:embed lock_insert_plain.en.md lock_insert_plain.zh.md
var insertPlainFiles embed.FS

// LockInsertPlain is a unique key and nothing else: of any number of INSERTs
// of one name one goes in. What is left: nobody deletes the row when its
// holder cannot.
var LockInsertPlain = catalog.Info{
	Name:   "lock-insert-plain",
	Title:  "INSERT, DELETE",
	Family: "mysqllock",
	Source: "D, database lock, method 1; C, unique index",
	Idea: "INSERT the lock's name into a table with a unique key on it: " +
		"who gets his row in has the lock, the others pause and try " +
		"again. DELETE frees.",
	Promises: "One holder at a time across any number of processes, " +
		"while the database keeps the row and every holder lives to " +
		"delete it. No lease ends under a slow holder: there is none.",
	Breaks: "A holder who dies blocks the others for ever, because " +
		"nothing else deletes the row: it was committed and belongs to " +
		"no connection, so closed sockets and a power cut are the same " +
		"to the database. A hung holder blocks them as long as he " +
		"hangs. So does an INSERT whose reply was lost: the lock is " +
		"taken, and its holder does not know. Whoever deletes the row " +
		"of somebody who was only slow lets that one's DELETE free his " +
		"successor's lock. Under contention INSERTs and DELETE of one " +
		"name deadlock, since a refused INSERT leaves a shared lock on " +
		"the row: one of them is undone, and tries again.",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts"},
	},
	Files: insertPlainFiles,
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
	case number(err) == errDuplicate:
		return false, nil
	case undone(err), held(err):
		l.observe.Retried()
		return false, nil
	}
	return err == nil, err
}

// Clear removes a lock that nobody will free.
func (l *insertPlain) Clear(ctx context.Context, key string) error {
	_, err := l.delete(ctx, key)
	return err
}

// delete is tried again when it is undone by a deadlock: the row of a holder
// who gave up here would stay for ever.
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

// Release frees whoever's lock it is.
func (l *insertPlainLease) Release(ctx context.Context) error {
	defer l.end()
	return freed(l.lock.delete(ctx, l.key))
}
