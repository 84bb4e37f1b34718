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

// RedisMultiLock does in a Redis transaction what SET NX PX does in one
// command. It needs three round trips instead of one, on a connection of its
// own. Its DEL does not check who holds the lock.
var RedisMultiLock = family.Strategy(catalog.Info{
	Name:       "redis-multi-lock",
	Source:     "E: SETNX compared with Redis transactions",
	Guarantees: catalog.Leased.Breaks(catalog.Owner, catalog.NodeLoss),
	Redis: []string{
		"WATCH", "EXISTS", "MULTI", "SET", "EXEC", "UNWATCH", "DEL"},
	Also: []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &multiLock{newKeyLock(d)}, nil
	},
})

type multiLock struct{ keyLock }

func (l *multiLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.tryAcquire(ctx, key, ttl)
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // anyone's key
	}), nil
}

var errTaken = errors.New("the key exists")

func (l *multiLock) tryAcquire(
	ctx context.Context, key string, ttl time.Duration,
) (bool, error) {
	err := l.redis.Watch(ctx, func(tx *redis.Tx) error {
		// Unlike GET, EXISTS accepts a key of any type.
		n, err := tx.Exists(ctx, key).Result()
		if err != nil {
			return err
		}
		if n > 0 {
			return errTaken // after an error, go-redis sends UNWATCH
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, key, 1, ttl)
			return nil
		})
		return err
	}, key)
	if errors.Is(err, errTaken) || errors.Is(err, redis.TxFailedErr) {
		return false, nil
	}
	return err == nil, err
}
