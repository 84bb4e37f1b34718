package redislock

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisGETSET takes over an expired lock in one command. GETSET writes the new
// end and returns the old one, so only one of several buyers gets back the end
// that it had read. But the losers have written, too, and each program
// compares times by its own clock.
var RedisGETSET = catalog.Info{
	Name:   "redis-getset",
	Source: "C, second Redis way",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"SET", "GET", "GETSET", "DEL"},
	Stock: seckill.InRow,
	Also:  []string{"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getsetLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type getsetLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // unless Options name one
	now   func() time.Time
}

func (l *getsetLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by this process's clock
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, until.UnixMilli(), 0).Result()
		if err != nil || ok {
			return ok, err
		}
		seen, err := l.redis.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) || isOtherType(err) {
			return false, nil
		}
		if err != nil || !takeoverDue(seen, l.now()) {
			return false, err
		}
		// One of the buyers that read the same end gets it back. The others
		// have moved the new end by a few milliseconds.
		until = l.now().Add(ttl)
		old, err := l.redis.Do(ctx,
			"GETSET", key, until.UnixMilli()).Text()
		if errors.Is(err, redis.Nil) || isOtherType(err) {
			return false, nil
		}
		return err == nil && old == seen, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		if !l.now().Before(until) {
			return lock.ErrNotHeld // expired by our own clock
		}
		return checkReleased(l.redis.Del(ctx, key).Result()) // whoever owns it
	}), nil
}

// takeoverDue reports whether the value is a time, in milliseconds, before
// now.
func takeoverDue(value string, now time.Time) bool {
	until, err := strconv.ParseInt(value, 10, 64)
	return err == nil && until < now.UnixMilli()
}

// Clear removes the lock of a holder that will not release it.
func (l *getsetLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
