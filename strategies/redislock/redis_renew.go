package redislock

import (
	"cmp"
	"context"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisRenew extends the lease while the holder works. The renewals and the
// release do not check who holds the lock.
var RedisRenew = family.Strategy(catalog.Info{
	Name: "redis-renew",
	Source: "A, sixth idea, which renews after two thirds of the lease; " +
		"E: periodic renewal by SETEX or EXPIRE",
	Guarantees: catalog.Leased.
		Breaks(catalog.Owner, catalog.Renewal, catalog.NodeLoss),
	Redis:  []string{"SET", "PEXPIRE", "DEL"},
	Also:   []string{"answers.go"},
	Renews: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &renewLock{newKeyLock(d)}, nil
	},
})

// Polling interval and lease are settings. In the published article A they are
// one second, and 15 s or 30 s.
type renewLock struct{ keyLock }

func (l *renewLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, 1, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // anyone's key
	})
	if o.Lease == 0 {
		h.Renew(ttl/3, l.maxHold, func(ctx context.Context) (bool, error) {
			err := l.redis.PExpire(ctx, key, ttl).Err()
			return true, err // the flaw: the key may be another buyer's
		})
	}
	return h, nil
}
