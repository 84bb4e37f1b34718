package redislock

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Tokens grow with every grant, from the greater of the two numbers.
func TestGrantsAreCounted(t *testing.T) {
	server := miniredis.RunT(t)
	in, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{server.Addr()}})
	labtest.Must(t, err)
	t.Cleanup(func() { in.Close() })
	l, err := catalog.NewLocker(RedisFenced, catalog.Deps{Instance: in, Settings: catalog.DefaultSettings()})
	labtest.Must(t, err)
	const key = "seckill:lock:counted"
	take := func(above uint64) (uint64, error) {
		lease, err := l.Acquire(t.Context(), key, lock.Options{Above: above, Lease: time.Minute})
		if err != nil {
			return 0, err
		}
		return lease.Fence(), lease.Release(t.Context())
	}
	for i, c := range []struct{ above, want uint64 }{{0, 1}, {0, 2}, {1, 3}, {3, 4}, {10, 11}, {0, 12}, {1 << 52, 1<<52 + 1}, {7, 1<<52 + 2}} {
		if got, err := take(c.above); err != nil || got != c.want {
			t.Errorf("grant %d, above %d: %d, %v; want %d", i+1, c.above, got, err, c.want)
		}
	}
	in.Redis.Set(t.Context(), grantsOf(key), "no number", 0)
	if _, err := take(0); !errors.Is(err, seckill.ErrUnavailable) || in.Redis.Exists(t.Context(), key).Val() != 0 {
		t.Errorf("the count is no number: %v, and the lock is left behind: %d", err, in.Redis.Exists(t.Context(), key).Val())
	}
}
