package local

import (
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
)

// Anybody may ask for any SKU: what nobody uses any more takes no room.
func TestMutexesAreForgotten(t *testing.T) {
	locker, err := catalog.NewLocker(MutexPerSKU, catalog.Deps{})
	labtest.Must(t, err)
	l := &locktest.Process{Locker: locker, Key: MutexPerSKU.Key(1)}
	first := l.Take(t, lock.Options{})
	l.Busy(t)
	for sku := range int64(100) {
		l.Key = MutexPerSKU.Key(2 + sku)
		locktest.Free(t, l.Take(t, lock.Options{}))
	}
	kept := l.Locker.(*skuMutexes)
	if len(kept.byKey) != 1 {
		t.Errorf("one SKU is locked, and %d mutexes are kept", len(kept.byKey))
	}
	locktest.Free(t, first)
	if len(kept.byKey) != 0 {
		t.Errorf("nothing is locked, and %d mutexes are kept", len(kept.byKey))
	}
}
