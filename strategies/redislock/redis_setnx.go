package redislock

import (
	"context"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisSetNX has one key for all buyers, and only one of them can set it.
// Nothing removes the key of a dead holder.
var RedisSetNX = family.Strategy(catalog.Info{
	Name:   "redis-setnx",
	Source: "A, sixth idea: atomicity; E, scheme 1",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.LateCommand, catalog.NodeLoss),
	Redis:  []string{"SET", "DEL"},
	Repair: "redis-lua",
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setnxLock{endlessLock{newKeyLock(d)}}, nil
	},
})

// A setnxLock polls every LockPoll; the published article A, each second.
type setnxLock struct{ endlessLock }

func (l *setnxLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		// SETNX also fails if the key exists with another type.
		return l.redis.SetNX(ctx, key, 1, 0).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // anyone's key
	}), nil
}
