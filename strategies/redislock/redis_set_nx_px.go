package redislock

import (
	"cmp"
	"context"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisSetNXPX sets a key only if the key does not exist. The same command
// sets the expiry of the key. The value does not name the holder.
var RedisSetNXPX = family.Strategy(catalog.Info{
	Name:       "redis-set-nx-px",
	Source:     "A, sixth idea; E, scheme 3",
	Guarantees: catalog.Leased.Breaks(catalog.Owner, catalog.NodeLoss),
	Redis:      []string{"SET", "DEL"},
	Also:       []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setNXPXLock{newKeyLock(d)}, nil
	},
})

// Polling interval and lease are settings. The published article A polls every
// second. In article E the lease is much longer than a purchase.
type setNXPXLock struct{ keyLock }

func (l *setNXPXLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, 1, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // anyone's key
	}), nil
}
