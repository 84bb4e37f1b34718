package mysqllock

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// LockInsert also writes the owner into the row, and frees only its own. A
// holder that outlives its lease is all that is left to break it.
var LockInsert = catalog.Info{
	Name:   "lock-insert",
	Source: "C, unique index, with the repairs that it names; D, method 1",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	Also:  []string{"tables.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &insertLock{d.LockDB, d.Settings.LockLease,
				d.Settings.LockPoll},
			createTables(d.LockDB, distributedLockTable)
	},
	Key: stockKey,
}

type insertLock struct {
	db   *gorm.DB
	ttl  time.Duration // when Options name none; C: 30 s
	poll time.Duration
}

func (l *insertLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if h, ok := ctx.Value(insertKey{l, key}).(*insertHold); ok && h.enter() {
		return lock.NewHold(ctx, 0, h.leave), nil
	}
	ttl := cmp.Or(o.Lease, l.ttl)
	h := &insertHold{lock: l, key: key, owner: rand.Text(), depth: 1}
	var until time.Time
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) {
			until = time.Now().Add(ttl)
			return l.tryAcquire(ctx, key, h.owner, ttl)
		})
	if err != nil {
		return nil, err
	}
	lease := lock.NewHold(
		context.WithValue(ctx, insertKey{l, key}, h), 0, h.leave)
	lease.ExpireAt(until)
	h.alive = lease.Context()
	return lease, nil
}

// try looks first, because a refused INSERT would leave a shared lock on the
// row: two of them, and the holder's DELETE, are a deadlock.
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
	if err != nil { // it may have been done all the same
		ctx, cancel := tap.WithTimeout(
			context.WithoutCancel(ctx), insertPatience)
		defer cancel()
		_ = l.releaseLock(ctx, key, owner) // or it ends with its lease
	}
	return ok, err
}

// What may be taken without our knowing is given back within this time.
const insertPatience = 2 * time.Second

func (l *insertLock) insertRow(
	ctx context.Context, key, owner string, ttl time.Duration,
) (bool, error) {
	err := l.db.WithContext(ctx).Exec(
		"INSERT INTO distributed_lock (name, owner, expire) "+
			"VALUES (?, ?, NOW(6) + INTERVAL ? MICROSECOND)",
		key, owner, ttl.Microseconds()).Error
	if isDuplicate(err) { // another was faster
		return false, nil
	}
	return err == nil, err
}

// takeOver: of all that found the row past, the first takes it.
func (l *insertLock) takeOverRow(
	ctx context.Context, key, owner string, ttl time.Duration,
) (bool, error) {
	res := l.db.WithContext(ctx).Exec("UPDATE distributed_lock "+
		"SET owner = ?, expire = NOW(6) + INTERVAL ? MICROSECOND "+
		"WHERE name = ? AND expire <= NOW(6)",
		owner, ttl.Microseconds(), key)
	return res.RowsAffected == 1, res.Error
}

func (l *insertLock) deleteRow(
	ctx context.Context, key, owner string,
) (rows int64, err error) {
	for {
		res := l.db.WithContext(ctx).Exec("DELETE FROM distributed_lock "+
			"WHERE name = ? AND owner = ?", key, owner)
		if !isUndone(res.Error) || ctx.Err() != nil {
			return res.RowsAffected, res.Error
		}
	}
}

func (l *insertLock) releaseLock(ctx context.Context, key, owner string) error {
	return lock.FreeByToken(ctx, func() error {
		return checkReleased(l.deleteRow(ctx, key, owner))
	})
}

// An insertHold is a row that is ours. Every Acquire that reaches it through
// the context has a lease of its own; the last one's release deletes the row.
type insertHold struct {
	lock       *insertLock
	key, owner string
	alive      context.Context // until the lock is released or lost

	mu    sync.Mutex
	depth int
}

// insertKey is where a lease's context carries the hold of a key.
type insertKey struct {
	lock *insertLock
	key  string
}

func (h *insertHold) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.depth == 0 || h.alive.Err() != nil {
		return false
	}
	h.depth++
	return true
}

func (h *insertHold) leave(ctx context.Context) error {
	h.mu.Lock()
	h.depth--
	last := h.depth == 0
	h.mu.Unlock()
	if !last {
		return nil
	}
	return h.lock.releaseLock(ctx, h.key, h.owner)
}
