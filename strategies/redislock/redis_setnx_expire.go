package redislock

import (
	"cmp"
	"context"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisSetNXExpire gives the key an expiry, so that the key of a dead holder
// expires. Before a holder deletes the key, it reads its own clock. Two gaps
// remain. Between SETNX and EXPIRE the key has no expiry. And between the
// reading of the clock and the DEL another buyer may get the lock.
var RedisSetNXExpire = family.Strategy(catalog.Info{
	Name: "redis-setnx-expire",
	Source: "C, first Redis way (30 s); D, 1.1; E, scheme 2, where the " +
		"second command is SETEX",
	Guarantees: catalog.Sound.
		Holds(catalog.Clocks, catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.NodeLoss,
			catalog.BuyerLeaves),
	Redis:  []string{"SET", "PEXPIRE", "DEL"},
	Repair: "redis-lua",
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setnxExpireLock{endlessLock{newKeyLock(d)}}, nil
	},
})

// Lease and polling interval are settings. In the published article C the
// lease is 30 s. In article D it is 60 s, and the polling interval is 10 ms.
type setnxExpireLock struct{ endlessLock }

func (l *setnxExpireLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // the end of the lease, by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, 1, 0).Result()
		if err != nil || !ok {
			return false, err
		}
		// A buyer who dies here leaves a key that never expires. PEXPIRE is
		// EXPIRE in milliseconds.
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
