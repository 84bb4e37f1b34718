package redislock

import (
	"context"
	"crypto/rand"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisRandomKey takes the lock in one command: SETNX sets a key only if the
// key does not exist. But the strategy uses the random number as the name of
// the key and not as its value. So each buyer locks a different key.
var RedisRandomKey = family.Strategy(catalog.Info{
	Name: "redis-random-key",
	Source: "D, 1.2.1: the native code, which overwrites lockKey with a " +
		"fresh UUID where lockValue was meant",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.NodeLoss),
	Redis:  []string{"SET", "DEL"},
	Repair: "redis-lua",
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &randomKeyLock{newKeyLock(d)}, nil
	},
})

// A randomKeyLock polls at the interval of the settings. The published article
// D polls every 10 ms.
type randomKeyLock struct{ keyLock }

func (l *randomKeyLock) Acquire(
	ctx context.Context, _ string, o lock.Options,
) (lock.Lease, error) {
	key := rand.Text() // the flaw: each buyer locks a different key
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, 1, 0).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // only our key
	}), nil
}
