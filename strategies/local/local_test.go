package local

import (
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
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
	if err != nil {
		t.Fatal(err)
	}
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
