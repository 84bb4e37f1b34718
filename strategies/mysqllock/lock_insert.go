package mysqllock

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// LockInsert is a row that exists while the lock is held. The row names its
// owner, so a buyer who releases the lock never deletes another buyer's row.
// After the end of the lease, which is also in the row, another buyer takes
// the row over. The lock fails only if a holder goes on after the end of its
// lease.
var LockInsert = family.Strategy(catalog.Info{
	Name:       "lock-insert",
	Source:     "C, unique index, with the repairs that C names; D, method 1",
	Guarantees: catalog.Leased.Holds(catalog.Owner),
	Also:       []string{"tables.go"},
	Stored:     catalog.Stored{LockTable: "distributed_lock"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &insertLock{
				d.LockDB, d.Settings.LockLease, d.Settings.LockPoll},
			createTables(d.LockDB, distributedLockTable)
	},
})

type insertLock struct {
	db   *gorm.DB
	ttl  time.Duration // the lease if Options.Lease is 0
	poll time.Duration
}

// Acquire takes the lock. A holder that calls it again with the context of its
// lease gets the lock again at once.
func (l *insertLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if lease, err := lock.Again(ctx, l, key); lease != nil || err != nil {
		return lease, err
	}
	ttl, owner := cmp.Or(o.Lease, l.ttl), rand.Text()
	var asked time.Time
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		return l.tryAcquire(ctx, key, owner, ttl)
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewReentrant(ctx, l, key, 0, func(ctx context.Context) error {
		return l.releaseLock(ctx, key, owner)
	})
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}

// tryAcquire reads the row first. A refused INSERT would leave a shared lock
// on the row. Two such shared locks and the holder's DELETE would deadlock.
func (l *insertLock) tryAcquire(
	ctx context.Context, key, owner string, ttl time.Duration,
) (ok bool, err error) {
	var row struct{ Past bool }
	res := l.db.WithContext(ctx).Raw(
		"SELECT COALESCE(expire <= NOW(6), FALSE) AS past "+
			"FROM distributed_lock WHERE name = ?", key).Scan(&row)
	switch {
	case res.Error != nil:
		return false, res.Error
	case res.RowsAffected == 0:
		ok, err = l.insertRow(ctx, key, owner, ttl)
	case row.Past:
		ok, err = l.takeOverRow(ctx, key, owner, ttl)
	}
	if isUndone(err) || isRowHeld(err) {
		return false, nil
	}
	if err != nil { // the reply is lost, but the row may be written
		lock.UndoUnclear(ctx, func(ctx context.Context) error {
			return l.releaseLock(ctx, key, owner)
		})
	}
	return ok, err
}

func (l *insertLock) insertRow(
	ctx context.Context, key, owner string, ttl time.Duration,
) (bool, error) {
	err := l.db.WithContext(ctx).Exec(
		"INSERT INTO distributed_lock (name, owner, expire) "+
			"VALUES (?, ?, NOW(6) + INTERVAL ? MICROSECOND)",
		key, owner, ttl.Microseconds()).Error
	if isDuplicate(err) { // another buyer has inserted the row first
		return false, nil
	}
	return err == nil, err
}

func (l *insertLock) takeOverRow(
	ctx context.Context, key, owner string, ttl time.Duration,
) (bool, error) {
	res := l.db.WithContext(ctx).Exec("UPDATE distributed_lock "+
		"SET owner = ?, expire = NOW(6) + INTERVAL ? MICROSECOND "+
		"WHERE name = ? AND expire <= NOW(6)",
		owner, ttl.Microseconds(), key)
	return res.RowsAffected == 1, res.Error
}

func (l *insertLock) releaseLock(
	ctx context.Context, key, owner string,
) error {
	return lock.ReleaseByToken(ctx, func() error {
		return checkReleased(execUntilDone(ctx, l.db,
			"DELETE FROM distributed_lock WHERE name = ? AND owner = ?",
			key, owner))
	})
}
