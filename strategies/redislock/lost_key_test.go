package redislock

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A Redis that is full evicts a lock that is held, and grants it again. With
// noeviction it refuses what is new and keeps the lock.
func TestAFullRedisForgetsALock(t *testing.T) {
	l := locktest.Open(t, RedisLua, catalog.Deps{})
	ctx, key, in := t.Context(), l.Key, l.In
	set := func(name, value string) {
		t.Helper()
		labtest.Must(t, in.Redis.ConfigSet(ctx, name, value).Err())
	}
	t.Cleanup(func() { // the other tests of the package share the server
		in.Redis.ConfigSet(t.Context(), "maxmemory", "0")
		in.Redis.FlushAll(t.Context())
	})
	// fill writes until the lock is gone or the server refuses: 64 MB at most.
	fill := func() (held bool, err error) {
		filler := strings.Repeat("x", 4096)
		for i := range 16_384 {
			if err := in.Redis.Set(ctx, "cache:"+time.Duration(i).String(), filler, time.Hour).Err(); err != nil {
				return in.Redis.Exists(ctx, key).Val() == 1, err
			}
			if in.Redis.Exists(ctx, key).Val() == 0 {
				return false, nil
			}
		}
		return true, nil
	}
	for policy, keeps := range map[string]bool{"noeviction": true, "allkeys-random": false, "volatile-ttl": false} {
		t.Run(policy, func(t *testing.T) {
			set("maxmemory", "0")
			labtest.Must(t, in.Redis.FlushAll(ctx).Err())
			lease := l.Take(t, lock.Options{Lease: time.Minute})
			defer lease.Release(ctx)
			set("maxmemory-policy", policy)
			set("maxmemory", "8mb")
			held, err := fill()
			if full := err != nil && strings.Contains(err.Error(), "OOM"); held != keeps || full != keeps {
				t.Fatalf("the lock is held: %t, the server says %v", held, err)
			}
			set("maxmemory", "0")
			second, err := l.Acquire(ctx, key, lock.Options{Lease: time.Minute})
			if keeps && !errors.Is(err, seckill.ErrBusy) || !keeps && err != nil {
				t.Errorf("the second buyer is told %v", err)
			}
			if err == nil {
				_ = second.Release(ctx)
			}
		})
	}
}
