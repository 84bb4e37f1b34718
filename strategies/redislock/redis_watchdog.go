package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed watchdog_lock.lua
var watchdogLockLua string

//go:embed watchdog_renew.lua
var watchdogRenewLua string

//go:embed watchdog_unlock.lua
var watchdogUnlockLua string

var (
	watchdogTake  = redis.NewScript(watchdogLockLua)
	watchdogRenew = redis.NewScript(watchdogRenewLua)
	watchdogFree  = redis.NewScript(watchdogUnlockLua)
)

// RedisWatchdog does what Redisson's RLock does: the renewer looks whose lock
// it renews, waiters are told instead of asking, and an owner may take its
// lock again. A process paused past its lease works on beside its successor
// until it hears of its loss.
//
// Layout, channel and message are Redisson's, so its clients and ours exclude
// and wake each other.
var RedisWatchdog = catalog.Info{
	Name:   "redis-watchdog",
	Source: "A, ninth idea and its section on Redisson; D, 1.2.3 and 1.3",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.Renewal, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"SUBSCRIBE"},
	Stock: seckill.InRow,
	Also: []string{
		"answers.go", "watchdog_lock.lua", "watchdog_renew.lua",
		"watchdog_unlock.lua"},
	Renews: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &watchdogLock{redis: d.Redis, poll: d.Settings.LockPoll,
			ttl: d.Settings.LockLease, maxHold: d.Settings.MaxHold}
		l.gate.Close = func(s *tap.Subscription) {
			if s != nil {
				s.Close()
			}
		}
		return l, nil
	},
	Key: stockKey,
}

type watchdogLock struct {
	redis   redis.UniversalClient
	poll    time.Duration
	ttl     time.Duration // of a lock that is renewed; A: 30 s
	maxHold time.Duration

	// One waiter of this process at a time listens and asks. The subscription
	// is handed on from one to the next.
	gate lock.Gate[*tap.Subscription]
}

// Answers of watchdog_lock.lua that are no time to live.
const (
	watchdogTaken   = -4
	watchdogForeign = -3
)

func (l *watchdogLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	if h, ok := ctx.Value(watchdogHeld{l, key}).(*watchdogHold); ok {
		if lease, err := h.again(ctx, ttl, o.Lease == 0); err == nil ||
			!errors.Is(err, lock.ErrNotHeld) {
			return lease, err
		}
	}
	waiting := ctx
	if o.Wait > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(
			ctx, o.Wait, seckill.ErrBusy)
		defer cancel()
	}
	room, err := l.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	defer room.Release()

	h := &watchdogHold{lock: l, key: key, owner: rand.Text(), depth: 1}
	for {
		asked := time.Now()
		answer, err := h.take(ctx, ttl, 1)
		switch {
		case err != nil:
			h.undo(ctx)
			return nil, lock.AcquireError(ctx, err)
		case answer == watchdogTaken:
			return h.lease(ctx, asked, ttl, o.Lease == 0), nil
		case o.Wait == 0 || waiting.Err() != nil:
			return nil, busyOr(ctx)
		}
		if err := l.wait(ctx, waiting, room, key, answer); err != nil {
			return nil, err
		}
	}
}

// wait returns when it is worth trying again. A waiter that does not listen yet
// subscribes and tries once more before it waits: it has missed what was
// published in between.
func (l *watchdogLock) wait(
	ctx, waiting context.Context, room *lock.Permit[*tap.Subscription],
	key string, left int64,
) error {
	if left == watchdogForeign {
		if tap.Sleep(waiting, l.poll) != nil {
			return busyOr(ctx)
		}
		return nil
	}
	if room.Shared == nil {
		sub, err := tap.Subscribe(ctx, l.redis, watchdogChannel(key))
		if err != nil {
			return lock.AcquireError(ctx, err)
		}
		room.Shared = sub
		return nil
	}
	limit := tap.Forever
	if left >= 0 { // a dead holder publishes nothing
		limit = time.Duration(left+1) * time.Millisecond
	}
	news, err := room.Shared.Receive(waiting, limit)
	switch {
	case errors.Is(err, tap.ErrTimeUp):
		return nil
	case err != nil && waiting.Err() == nil:
		return lock.AcquireError(ctx, err)
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && news == nil: // the connection is gone
		room.Shared.Close()
		room.Shared = nil
	}
	return nil // told, or one last try at the end of the wait
}

// busyOr is the answer when the wait is over.
func busyOr(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return seckill.ErrBusy
}

// watchdogChannel is where Redisson publishes.
func watchdogChannel(key string) string {
	return "redisson_lock__channel:{" + key + "}"
}

// watchdogHeld is where a lease's context carries the hold of a key.
type watchdogHeld struct {
	lock *watchdogLock
	key  string
}

// A watchdogHold is the lock of one owner, which may have it more than once.
// The depth in Redis is set, not counted there: a command whose reply was lost
// can be sent again.
type watchdogHold struct {
	lock       *watchdogLock
	key, owner string

	mu    sync.Mutex
	depth int
}

func (h *watchdogHold) take(
	ctx context.Context, ttl time.Duration, depth int,
) (int64, error) {
	return watchdogTake.Run(ctx, h.lock.redis, []string{h.key},
		h.owner, max(1, ttl.Milliseconds()), depth).Int64()
}

func (h *watchdogHold) free(ctx context.Context, depth int) error {
	return releaseByToken(ctx, h.lock.redis, watchdogFree,
		[]string{h.key, watchdogChannel(h.key)}, h.owner, depth)
}

// undo frees what an attempt may have taken.
func (h *watchdogHold) undo(ctx context.Context) {
	ctx, cancel := undoing(ctx)
	defer cancel()
	_ = h.free(ctx, 0)
}

func (h *watchdogHold) lease(
	ctx context.Context, asked time.Time, ttl time.Duration, renewed bool,
) lock.Lease {
	lease := lock.NewHold(context.WithValue(ctx,
		watchdogHeld{h.lock, h.key}, h), 0, h.leave)
	lease.ExpireAt(asked.Add(ttl))
	if renewed {
		lease.Renew(ttl/3, h.lock.maxHold,
			func(ctx context.Context) (bool, error) {
				asked := time.Now()
				n, err := watchdogRenew.Run(ctx, h.lock.redis,
					[]string{h.key}, h.owner, ttl.Milliseconds()).Int64()
				if n == 1 {
					lease.ExpireAt(asked.Add(ttl))
				}
				return n == 1, err
			})
	}
	return lease
}

// again is the reentry. ErrNotHeld: the hold is over.
func (h *watchdogHold) again(
	ctx context.Context, ttl time.Duration, renewed bool,
) (lock.Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.depth == 0 {
		return nil, lock.ErrNotHeld
	}
	asked := time.Now()
	answer, err := h.take(ctx, ttl, h.depth+1)
	switch {
	case err != nil:
		return nil, lock.AcquireError(ctx, err)
	case answer != watchdogTaken:
		return nil, lock.ErrLost
	}
	h.depth++
	return h.lease(ctx, asked, ttl, renewed), nil
}

func (h *watchdogHold) leave(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.depth--
	return h.free(ctx, h.depth)
}
