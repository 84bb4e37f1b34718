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
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
)

// A count of grants that is no number refuses the lock, and leaves none behind.
func TestTheCountOfGrantsIsNoNumber(t *testing.T) {
	server := miniredis.RunT(t)
	in := labtest.Open(t, backend.Config{RedisAddrs: []string{server.Addr()}})
	l := locktest.Open(t, RedisFenced, catalog.Deps{Instance: in})
	in.Redis.Set(t.Context(), grantsOf(l.Key), "no number", 0)
	if _, err := l.Acquire(t.Context(), l.Key, lock.Options{Lease: time.Minute}); !errors.Is(err, seckill.ErrUnavailable) || server.Exists(l.Key) {
		t.Errorf("told %v, and the lock is left behind: %t", err, server.Exists(l.Key))
	}
}
