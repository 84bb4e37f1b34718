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

// RedisSetNXTimestamp writes the end of the lease into the value. A buyer who
// finds that the end has passed deletes the key. Between the GET and the DEL
// another buyer may have done the same and taken the lock.
var RedisSetNXTimestamp = family.Strategy(catalog.Info{
	Name: "redis-setnx-timestamp",
	Source: "B: the lock in Redis. B shows no release; this one is that " +
		"of redis-setnx-expire",
	Guarantees: catalog.Leased.
		Breaks(catalog.DeadHolder, catalog.BuyerLeaves, catalog.Clocks,
			catalog.Owner, catalog.NodeLoss),
	Redis: []string{"GET", "SET", "PEXPIRE", "DEL"},
	Also:  []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &timestampLock{endlessLock{newKeyLock(d)}}, nil
	},
})

type timestampLock struct{ endlessLock }

func (l *timestampLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // the end of the lease, by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		value, err := l.redis.Get(ctx, key).Result()
		if isOtherType(err) {
			return false, nil
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if endedBefore(value, l.now()) {
			// The flaw: by now the key may be the new lock of a faster buyer.
			if err := l.redis.Del(ctx, key).Err(); err != nil {
				return false, err
			}
		}
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, until.UnixMilli(), 0).Result()
		if err != nil || !ok {
			return false, err
		}
		err = l.redis.PExpire(ctx, key, ttl).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.deleteUntil(ctx, key, until)
	}), nil
}
