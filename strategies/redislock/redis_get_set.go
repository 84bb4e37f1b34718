package redislock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisGetSet looks whether the lock is there and then puts it there. Looking
// and putting are two commands, and the branch that waits has its condition the
// wrong way round.
var RedisGetSet = catalog.Info{
	Name:   "redis-get-set",
	Source: "A, fifth idea: the first listing",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.Owner, catalog.NodeLoss),
	Needs:  []backend.Capability{backend.Redis},
	Redis:  []string{"GET", "SET", "DEL"},
	Repair: "redis-lua",
	Stock:  seckill.InRow,
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getSetLock{d.Redis, d.Settings.LockPoll}, nil
	},
	Key: stockKey,
}

type getSetLock struct {
	redis redis.UniversalClient
	poll  time.Duration // A: 1 s
}

func (l *getSetLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	waited := false
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		value, err := l.redis.Get(ctx, key).Result()
		if isOtherType(err) {
			return false, nil
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		there := value != ""
		if waited {
			return there, nil // as A has it: it is there, so come in
		}
		waited = true
		if there {
			return false, nil
		}
		// Nothing was there when we looked. By now it may be.
		err = l.redis.Set(ctx, key, 1, 0).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // of any owner
	}), nil
}

// Clear removes a lock that its holder will not free.
func (l *getSetLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
