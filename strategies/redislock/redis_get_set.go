package redislock

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// RedisGetSet reads whether the key exists and then sets it, in two commands.
// Two buyers may both find no key. There is a second flaw: after a wait, a
// buyer takes a key that exists for its own lock.
var RedisGetSet = family.Strategy(catalog.Info{
	Name:   "redis-get-set",
	Source: "A, fifth idea: the first listing",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.Owner, catalog.NodeLoss),
	Redis:  []string{"GET", "SET", "DEL"},
	Repair: "redis-lua",
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getSetLock{endlessLock{newKeyLock(d)}}, nil
	},
})

// A getSetLock polls every LockPoll; the published article A, each second.
type getSetLock struct{ endlessLock }

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
		exists := value != ""
		if waited {
			// The flaw, as published in article A: after a wait, a key that
			// exists counts as our lock.
			return exists, nil
		}
		waited = true
		if exists {
			return false, nil
		}
		// The flaw: another buyer may have set the key since our GET.
		err = l.redis.Set(ctx, key, 1, 0).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return checkReleased(l.redis.Del(ctx, key).Result()) // anyone's key
	}), nil
}
