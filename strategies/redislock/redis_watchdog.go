package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

var (
	watchdogTake    = backend.Script(files, "watchdog_lock.lua")
	watchdogRenew   = backend.Script(files, "watchdog_renew.lua")
	watchdogRelease = backend.Script(files, "watchdog_unlock.lua")
)

// RedisWatchdog works like Redisson's RLock: it renews only its own lock, and
// a published message wakes the waiters, who need not poll. A holder that is
// paused past its lease goes on selling while the next holder has the lock,
// until it learns of the loss.
//
// Key, channel and message are the same as Redisson's, so Redisson's clients
// and ours exclude and wake each other. Redisson also counts in the key how
// often the owner has acquired the lock. Here the process counts (lock.Again),
// and the count in the key is always 1.
var RedisWatchdog = family.Strategy(catalog.Info{
	Name:   "redis-watchdog",
	Source: "A, ninth idea and its section on Redisson; D, 1.2.3 and 1.3",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.Renewal).
		Breaks(catalog.NodeLoss),
	Redis: []string{"SUBSCRIBE"},
	Also: []string{
		"answers.go", "watchdog_lock.lua", "watchdog_renew.lua",
		"watchdog_unlock.lua"},
	Renews: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &watchdogLock{keyLock: newKeyLock(d)}
		l.gate.Close = func(s *tap.Subscription) {
			if s != nil {
				s.Close()
			}
		}
		return l, nil
	},
})

type watchdogLock struct {
	keyLock // the lease is a setting; 30 s in article A (README)

	// The gate lets one waiter of this process at a time subscribe and try to
	// take the lock. The next waiter uses the same subscription.
	gate lock.Gate[*tap.Subscription]
}

// watchdog_lock.lua answers watchdogTaken if the caller has the lock now, and
// watchdogForeign if the key is no lock of ours. Any other answer is the time
// in ms that is left of another holder's lease.
const (
	watchdogTaken   = -4
	watchdogForeign = -3
)

func (l *watchdogLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if lease, err := lock.Again(ctx, l, key); lease != nil || err != nil {
		return lease, err
	}
	ttl, owner := cmp.Or(o.Lease, l.ttl), rand.Text()
	release := func(ctx context.Context) error {
		return releaseByToken(ctx, l.redis, watchdogRelease,
			[]string{key, watchdogChannel(key)}, owner)
	}
	waiting := ctx
	if o.Wait > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(
			ctx, o.Wait, seckill.ErrBusy)
		defer cancel()
	}
	permit, err := l.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	defer permit.Release()
	for {
		asked := time.Now()
		answer, err := watchdogTake.Run(ctx, l.redis, []string{key},
			owner, max(1, ttl.Milliseconds())).Int64()
		switch {
		case err != nil:
			lock.UndoUnclear(ctx, release)
			return nil, lock.AcquireError(ctx, err)
		case answer == watchdogTaken:
			h := lock.NewReentrant(ctx, l, key, 0, release)
			h.ExpireAt(asked.Add(ttl))
			if o.Lease == 0 {
				l.renew(h, key, owner)
			}
			return h, nil
		case o.Wait == 0 || waiting.Err() != nil:
			return nil, timeUpError(ctx)
		}
		err = l.waitForRelease(ctx, waiting, permit, key, answer)
		if err != nil {
			return nil, err
		}
	}
}

func (l *watchdogLock) renew(h *lock.Hold, key, owner string) {
	h.Renew(l.ttl/3, l.maxHold, func(ctx context.Context) (bool, error) {
		asked := time.Now()
		n, err := watchdogRenew.Run(ctx, l.redis, []string{key},
			owner, l.ttl.Milliseconds()).Int64()
		if n == 1 {
			h.ExpireAt(asked.Add(l.ttl))
		}
		return n == 1, err
	})
}

// waitForRelease returns when the waiter should try again. The argument left
// is the answer of watchdog_lock.lua: the milliseconds that are left of the
// holder's lease, or a negative number. The first call only subscribes, and
// returns at once, because the lock may have been released before the
// subscription.
func (l *watchdogLock) waitForRelease(
	ctx, waiting context.Context, permit *lock.Permit[*tap.Subscription],
	key string, left int64,
) error {
	if left == watchdogForeign {
		if tap.Sleep(waiting, l.poll) != nil {
			return timeUpError(ctx)
		}
		return nil
	}
	if permit.Shared == nil {
		sub, err := tap.Subscribe(ctx, l.redis, watchdogChannel(key))
		if err != nil {
			return lock.AcquireError(ctx, err)
		}
		permit.Shared = sub
		return nil
	}
	limit := tap.NoLimit
	if left >= 0 { // a dead holder sends no message
		limit = time.Duration(left+1) * time.Millisecond
	}
	message, err := permit.Shared.Receive(waiting, limit)
	switch {
	case errors.Is(err, tap.ErrTimeUp):
		return nil
	case err != nil && waiting.Err() == nil:
		return lock.AcquireError(ctx, err)
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && message == nil: // the connection is lost, so close it
		permit.Shared.Close()
		permit.Shared = nil
	}
	return nil // a message has arrived, or the wait is over
}

func timeUpError(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return seckill.ErrBusy
}

// watchdogChannel returns the name of the channel on which Redisson publishes.
func watchdogChannel(key string) string {
	return "redisson_lock__channel:{" + key + "}"
}
