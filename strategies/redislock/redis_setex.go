package redislock

import (
	"cmp"
	"context"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisSetEX sets the key and its end in one command. But SETEX has no NX: it
// overwrites the key of another holder.
var RedisSetEX = family.Strategy(catalog.Info{
	Name:   "redis-setex",
	Source: "C, first Redis way: offered as the atomic repair (30 s)",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.NodeLoss),
	Redis:  []string{"PSETEX", "DEL"},
	Repair: "redis-lua",
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setexLock{newKeyLock(d)}, nil
	},
})

// The lease is a setting. In the published article C it is 30 s.
type setexLock struct{ keyLock }

func (l *setexLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // the end of the lease, by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		// PSETEX is SETEX in milliseconds. The flaw: PSETEX answers OK even if
		// the key existed before.
		err := l.redis.Do(ctx, "PSETEX", key,
			max(1, ttl.Milliseconds()), 1).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.deleteUntil(ctx, key, until)
	}), nil
}
