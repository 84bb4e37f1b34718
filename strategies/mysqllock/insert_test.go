package mysqllock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Of all who find the row past, one takes it over.
func TestOneTakesOver(t *testing.T) {
	b := newBench(t, LockInsert)
	for range 20 {
		dead := b.acquire(t, lock.Options{Lease: time.Minute})
		b.expire(t)
		var won atomic.Int32
		var winner lock.Lease
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				l, err := b.Acquire(t.Context(), b.key, lock.Options{Lease: time.Minute})
				switch {
				case err == nil:
					won.Add(1)
					winner = l
				case !errors.Is(err, seckill.ErrBusy):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := won.Load(); n != 1 {
			t.Fatalf("%d took the dead holder's lock over, want 1", n)
		}
		if err := dead.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("the dead holder's release: %v", err)
		}
		release(t, winner)
	}
}

func TestInsertIsReentrant(t *testing.T) {
	b := newBench(t, LockInsert)
	outer := b.acquire(t, lock.Options{Lease: time.Minute})
	again := func(ctx context.Context) (lock.Lease, error) {
		return b.Acquire(ctx, b.key, lock.Options{Lease: time.Minute})
	}
	inner, err := again(outer.Context())
	if err != nil {
		t.Fatalf("the holder asks again: %v", err)
	}
	innermost, err := again(inner.Context())
	if err != nil {
		t.Fatalf("and again: %v", err)
	}
	release(t, innermost)
	release(t, inner)
	b.busy(t)
	if _, err := b.Acquire(outer.Context(), b.key+"x", lock.Options{Lease: time.Minute}); err != nil {
		t.Errorf("another name: %v", err)
	}
	release(t, outer)
	if _, err := again(context.WithoutCancel(outer.Context())); err != nil {
		t.Errorf("after the release he is a stranger, and it is free: %v", err)
	}
	b.busy(t)
}

// Nobody but its owner ends a lock that has no end; nor does lock-insert.
func TestForeignRowIsALockHeld(t *testing.T) {
	b := newBench(t, LockInsert)
	b.exec(t, "INSERT INTO distributed_lock (name) VALUES (?)", b.key)
	b.busy(t)
	b.exec(t, "DELETE FROM distributed_lock WHERE name = ?", b.key)
	release(t, b.acquire(t, lock.Options{Lease: time.Minute}))
}

// The three recipes of one table exclude each other on one name.
func TestRecipesOfOneTableExcludeEachOther(t *testing.T) {
	all := []*bench{newBench(t, LockInsertPlain), newBench(t, LockInsertByName), newBench(t, LockInsert)}
	for _, holder := range all {
		l := holder.acquire(t, lock.Options{Lease: time.Minute})
		for _, other := range all {
			other.busy(t)
		}
		release(t, l)
	}
}

func TestLeaseIsOver(t *testing.T) {
	b := newBench(t, LockInsert)
	const lease = 400 * time.Millisecond
	asked := time.Now()
	l := b.acquire(t, lock.Options{Lease: lease})
	if err := ended(t, l); err != lock.ErrLost || time.Since(asked) < lease {
		t.Errorf("after %v the holder was told %v, want %v after %v", time.Since(asked), err, lock.ErrLost, lease)
	}
	next := b.acquire(t, lock.Options{Wait: lease, Lease: time.Minute})
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("released after the end: %v", err)
	}
	b.busy(t)
	release(t, next)
}

func TestWithoutLeaseItIsRenewed(t *testing.T) {
	b := newBench(t, LockInsert, func(d *catalog.Deps) { d.Settings.LockLease = 600 * time.Millisecond })
	renewed := make(chan struct{}, 100)
	m := &meddler{after: func(c *tap.Command) error {
		if c.Name == "UPDATE" {
			renewed <- struct{}{}
		}
		return nil
	}}
	l, err := b.Acquire(tap.With(t.Context(), m), b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // a whole lease and more
		<-renewed
		b.busy(t)
	}
	if err := l.Context().Err(); err != nil {
		t.Errorf("the holder was told %v", context.Cause(l.Context()))
	}
	b.exec(t, "UPDATE distributed_lock SET owner = 'somebody else' WHERE name = ?", b.key)
	if err := ended(t, l); err != lock.ErrLost {
		t.Errorf("the lock is another's, and the holder was told %v", err)
	}
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("release: %v", err)
	}
	b.busy(t)
}

func TestRenewalHasALimit(t *testing.T) {
	b := newBench(t, LockInsert, func(d *catalog.Deps) {
		d.Settings.LockLease, d.Settings.MaxHold = 300*time.Millisecond, 500*time.Millisecond
	})
	hung := b.acquire(t, lock.Options{})
	next := b.acquire(t, lock.Options{Wait: 5 * time.Second, Lease: time.Minute})
	if err := ended(t, hung); err != lock.ErrLost {
		t.Errorf("the holder that hangs was told %v", err)
	}
	release(t, next)
}
