package redislock

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisGETSET takes over an expired lock in one command. GETSET writes the new
// end of the lease and returns the old end. So only one of several buyers gets
// back the end that it had read. But the other buyers have overwritten the
// end, too. Besides, each program compares times by its own clock.
var RedisGETSET = family.Strategy(catalog.Info{
	Name:   "redis-getset",
	Source: "C, second Redis way",
	Guarantees: catalog.Leased.
		Breaks(catalog.Clocks, catalog.Owner, catalog.NodeLoss),
	Redis: []string{"SET", "GET", "GETSET", "DEL"},
	Also:  []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getsetLock{endlessLock{newKeyLock(d)}}, nil
	},
})

type getsetLock struct{ endlessLock }

func (l *getsetLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // the end of the lease, by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, until.UnixMilli(), 0).Result()
		if err != nil || ok {
			return ok, err
		}
		seen, err := l.redis.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) || isOtherType(err) {
			return false, nil
		}
		if err != nil || !endedBefore(seen, l.now()) {
			return false, err
		}
		// Suppose several buyers have read the same expired end. Only the
		// first GETSET returns this end, and its buyer has the lock. Each
		// later GETSET returns another end. But each GETSET also writes a new
		// end, a few milliseconds later than the holder's.
		until = l.now().Add(ttl)
		old, err := l.redis.Do(ctx,
			"GETSET", key, until.UnixMilli()).Text()
		if errors.Is(err, redis.Nil) || isOtherType(err) {
			return false, nil
		}
		return err == nil && old == seen, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.deleteUntil(ctx, key, until)
	}), nil
}
