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

// A count of grants that is no number refuses the lock, and leaves none behind.
func TestTheCountOfGrantsIsNoNumber(t *testing.T) {
	server := miniredis.RunT(t)
	in, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{server.Addr()}})
	labtest.Must(t, err)
	t.Cleanup(func() { in.Close() })
	l, err := catalog.NewLocker(RedisFenced, catalog.Deps{Instance: in, Settings: catalog.DefaultSettings()})
	labtest.Must(t, err)
	const key = "seckill:lock:counted"
	in.Redis.Set(t.Context(), grantsOf(key), "no number", 0)
	if _, err := l.Acquire(t.Context(), key, lock.Options{Lease: time.Minute}); !errors.Is(err, seckill.ErrUnavailable) || server.Exists(key) {
		t.Errorf("told %v, and the lock is left behind: %t", err, server.Exists(key))
	}
}
