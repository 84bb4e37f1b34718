package local

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// First come, first served. The bubble shows when a goroutine waits at the
// channel; a tap shows only that it is about to.
func TestQueue(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		synctest.Test(t, func(t *testing.T) {
			l := process(t, i)
			holder := acquire(t, l, i.Key(1), 0)
			var line []*locktest.Waiter
			for range 6 {
				line = append(line, locktest.Contend(t, l, i.Key(1), nil))
				synctest.Wait()
			}
			for n, w := range line {
				locktest.Free(t, holder)
				synctest.Wait()
				for other, o := range line {
					if in := len(o.In); in > 0 != (other == n) {
						t.Fatalf("after release %d, waiter %d holds %d locks", n+1, other+1, in)
					}
				}
				holder = locktest.In(t, w)
			}
			locktest.Free(t, holder)
		})
	})
}

// process is one process's locker.
func process(t *testing.T, i catalog.Info) lock.Locker {
	t.Helper()
	l, err := catalog.NewLocker(i, catalog.Deps{})
	labtest.Must(t, err)
	return l
}

func acquire(t *testing.T, l lock.Locker, key string, wait time.Duration) lock.Lease {
	t.Helper()
	return locktest.Take(t, l, key, lock.Options{Wait: wait})
}

// excluding are the strategies that exclude somebody.
func excluding(t *testing.T, f func(*testing.T, catalog.Info)) {
	for _, i := range []catalog.Info{Mutex, MutexPerSKU} {
		t.Run(i.Name, func(t *testing.T) { f(t, i) })
	}
}

// Anybody may ask for any SKU: what nobody uses any more takes no room.
func TestMutexesAreForgotten(t *testing.T) {
	l := process(t, MutexPerSKU).(*mutexes)
	first := acquire(t, l, MutexPerSKU.Key(1), 0)
	locktest.Busy(t, l, MutexPerSKU.Key(1))
	for sku := range int64(100) {
		locktest.Free(t, acquire(t, l, MutexPerSKU.Key(2+sku), 0))
	}
	if len(l.byKey) != 1 {
		t.Errorf("one SKU is locked, and %d mutexes are kept", len(l.byKey))
	}
	locktest.Free(t, first)
	if len(l.byKey) != 0 {
		t.Errorf("nothing is locked, and %d mutexes are kept", len(l.byKey))
	}
}

func TestTheWaitPassesTheTap(t *testing.T) {
	excluding(t, func(t *testing.T, i catalog.Info) {
		l := process(t, i)
		n := &tap.Counter{}
		lease, err := l.Acquire(tap.With(t.Context(), n), i.Key(1), lock.Options{Wait: -1})
		if err != nil || n.Count(tap.Waiting) != 1 {
			t.Fatalf("got %v, and the tap saw %d waits, want 1", err, n.Count(tap.Waiting))
		}
		locktest.Free(t, lease)
		lost := &locktest.Tap{OnAfter: func(*tap.Command, error) error { return locktest.ErrLostReply }}
		_, err = l.Acquire(tap.With(t.Context(), lost), i.Key(1), lock.Options{Wait: -1})
		if !errors.Is(err, seckill.ErrUnavailable) || !errors.Is(err, locktest.ErrLostReply) {
			t.Errorf("the grant was lost: got %v", err)
		}
		locktest.Free(t, acquire(t, l, i.Key(1), 0)) // it was not lost for the others
	})
}
