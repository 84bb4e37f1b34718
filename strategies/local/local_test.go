package local

import (
	"testing"
	"testing/synctest"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

// First come, first served. The bubble shows when a goroutine waits at the
// channel; a tap shows only that it is about to.
func TestQueue(t *testing.T) {
	for _, i := range []catalog.Info{Mutex, MutexPerSKU} {
		synctest.Test(t, func(t *testing.T) {
			l := process(t, i)
			holder := l.Take(t, lock.Options{})
			var line []*locktest.Waiter
			for range 6 {
				line = append(line, l.Contend(t))
				synctest.Wait()
			}
			for n, w := range line {
				locktest.Free(t, holder)
				synctest.Wait()
				for other, o := range line {
					if in := len(o.In); in > 0 != (other == n) {
						t.Fatalf("%s: after release %d, waiter %d holds %d locks", i.Name, n+1, other+1, in)
					}
				}
				holder = locktest.In(t, w)
			}
			locktest.Free(t, holder)
		})
	}
}

// process is one process, and its lock of SKU 1.
func process(t *testing.T, i catalog.Info) *locktest.Process {
	t.Helper()
	l, err := catalog.NewLocker(i, catalog.Deps{})
	labtest.Must(t, err)
	return &locktest.Process{Locker: l, Key: i.Key(1), Waiting: locktest.PassesTap}
}

// Anybody may ask for any SKU: what nobody uses any more takes no room.
func TestMutexesAreForgotten(t *testing.T) {
	l := process(t, MutexPerSKU)
	first := l.Take(t, lock.Options{})
	l.Busy(t)
	for sku := range int64(100) {
		l.Key = MutexPerSKU.Key(2 + sku)
		locktest.Free(t, l.Take(t, lock.Options{}))
	}
	kept := l.Locker.(*mutexes)
	if len(kept.byKey) != 1 {
		t.Errorf("one SKU is locked, and %d mutexes are kept", len(kept.byKey))
	}
	locktest.Free(t, first)
	if len(kept.byKey) != 0 {
		t.Errorf("nothing is locked, and %d mutexes are kept", len(kept.byKey))
	}
}
