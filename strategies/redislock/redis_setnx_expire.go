package redislock

import (
	"cmp"
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisSetNXExpire gives the key an end, so that a dead holder's key goes away,
// and looks at its own clock before it frees. Between SETNX and EXPIRE the key
// has no end, and between the look and the DEL the lock may change hands.
var RedisSetNXExpire = catalog.Info{
	Name: "redis-setnx-expire",
	Source: "C, first Redis way (30 s); D, 1.1; E, scheme 2, where the " +
		"second command is SETEX",
	Guarantees: catalog.Sound.
		Holds(catalog.Clocks, catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.NodeLoss,
			catalog.BuyerLeaves),
	Needs:  []backend.Capability{backend.Redis},
	Redis:  []string{"SET", "PEXPIRE", "DEL"},
	Repair: "redis-lua",
	Stock:  seckill.InRow,
	Also:   []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setnxExpireLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type setnxExpireLock struct {
	redis redis.UniversalClient
	poll  time.Duration // D: 10 ms
	ttl   time.Duration // when Options name none; C: 30 s, D: 60 s
	now   func() time.Time
}

func (l *setnxExpireLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, 1, 0).Result()
		if err != nil || !ok {
			return false, err
		}
		// A buyer who dies here leaves a key without an end. (PEXPIRE is
		// EXPIRE in milliseconds.)
		err = l.redis.PExpire(ctx, key, ttl).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		if !l.now().Before(until) {
			return lock.ErrNotHeld // timed out, says our clock
		}
		return checkReleased(l.redis.Del(ctx, key).Result()) // of any owner
	}), nil
}

// Clear removes a lock that its holder will not free.
func (l *setnxExpireLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
