package redislock

import (
	"cmp"
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisSetEX sets the key and its end in one command. But SETEX has no NX: it
// overwrites the key of another holder.
var RedisSetEX = catalog.Info{
	Name:   "redis-setex",
	Source: "C, first Redis way: offered as the atomic repair (30 s)",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.NodeLoss),
	Needs:  []backend.Capability{backend.Redis},
	Redis:  []string{"PSETEX", "DEL"},
	Repair: "redis-lua",
	Stock:  seckill.InRow,
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setexLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type setexLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // unless Options name one; 30 s in article C
	now   func() time.Time
}

func (l *setexLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		// PSETEX is SETEX in milliseconds. It answers OK even if the key
		// existed before.
		err := l.redis.Do(ctx, "PSETEX", key,
			max(1, ttl.Milliseconds()), 1).Err()
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
