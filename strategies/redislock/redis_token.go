package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisToken writes a random token as the value. Before a holder deletes the
// key, it checks that the value is still its own token. Between the GET and
// the DEL another buyer may get the lock.
var RedisToken = family.Strategy(catalog.Info{
	Name:       "redis-token",
	Source:     "A, sixth idea; D, 1.1: the value is compared before DEL",
	Guarantees: catalog.Leased.Breaks(catalog.Owner, catalog.NodeLoss),
	Redis:      []string{"SET", "GET", "DEL"},
	Also:       []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &tokenLock{newKeyLock(d)}, nil
	},
})

// Polling interval and lease are settings: in article D, 10 ms and 60 s.
type tokenLock struct{ keyLock }

func (l *tokenLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, token, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		value, err := l.redis.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) || err == nil && value != token {
			return lock.ErrNotHeld
		}
		if err != nil {
			return checkReleased(0, err)
		}
		// The flaw: the lock was ours at the GET, but may not be now.
		return checkReleased(l.redis.Del(ctx, key).Result())
	}), nil
}
