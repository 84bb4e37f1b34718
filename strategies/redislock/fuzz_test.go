package redislock

import (
	"errors"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// FuzzLockName: whatever a lock is called, it is refused as invalid, or held by one,
// and free again.
func FuzzLockName(f *testing.F) {
	server := miniredis.RunT(f)
	in := labtest.Open(f, backend.Config{RedisAddrs: []string{server.Addr()}})
	settings := catalog.DefaultSettings()
	locker, err := catalog.NewLocker(RedisLua, catalog.Deps{Instance: in, Settings: settings})
	labtest.Must(f, err)
	for _, name := range []string{"", "seckill:lock:stock:1", "{a}b", "}{", "\x00", "a b\r\nDEL x", "é", "\xff", "%s%d", "*"} {
		f.Add(name)
	}
	once := lock.Options{Lease: settings.LockLease}
	f.Fuzz(func(t *testing.T, name string) {
		held, err := locker.Acquire(t.Context(), name, once)
		if errors.Is(err, seckill.ErrInvalid) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if _, err := locker.Acquire(t.Context(), name, once); !errors.Is(err, seckill.ErrBusy) {
			t.Fatalf("%q, held: %v, want %v", name, err, seckill.ErrBusy)
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatalf("%q: release: %v", name, err)
		}
		if left := server.DB(0).Keys(); len(left) > 0 {
			t.Fatalf("%q leaves %q", name, left)
		}
	})
}
