package redislock

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisSetNXTimestamp writes the end of the lock into the value. A buyer who
// finds that the end has passed deletes the key. Between the GET and the DEL
// another buyer may have done the same and taken the lock.
var RedisSetNXTimestamp = catalog.Info{
	Name: "redis-setnx-timestamp",
	Source: "B: the lock in Redis. B shows no release; this one is that " +
		"of redis-setnx-expire",
	Guarantees: catalog.Sound.
		Holds(catalog.LostReply, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Clocks,
			catalog.Owner, catalog.LateCommand, catalog.NodeLoss,
			catalog.BuyerLeaves),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"GET", "SET", "PEXPIRE", "DEL"},
	Stock: seckill.InRow,
	Also:  []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &timestampLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type timestampLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // unless Options name one
	now   func() time.Time
}

func (l *timestampLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		value, err := l.redis.Get(ctx, key).Result()
		if isOtherType(err) {
			return false, nil
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if endedBefore(value, l.now()) {
			// By now the key may be the new lock of a faster buyer.
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
		if !l.now().Before(until) {
			return lock.ErrNotHeld // expired by our own clock
		}
		return checkReleased(l.redis.Del(ctx, key).Result()) // whoever owns it
	}), nil
}

// endedBefore reports whether the value is a time, in milliseconds, before
// now.
func endedBefore(value string, now time.Time) bool {
	until, err := strconv.ParseInt(value, 10, 64)
	return err == nil && until < now.UnixMilli()
}

// Clear removes the lock of a holder that will not release it.
func (l *timestampLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
