package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

//go:embed blpop_unlock.lua
var blpopUnlockLua string

//go:embed compare_and_extend.lua
var compareAndExtendLua string

var (
	blpopUnlock      = redis.NewScript(blpopUnlockLua)
	compareAndExtend = redis.NewScript(compareAndExtendLua)
)

// RedisBLPOP wakes a waiter through a list: the releaser pushes a signal, and
// one of them pops it. Unlike a published message, a signal waits for a reader
// and wakes one only. A single failed renewal loses the lock.
var RedisBLPOP = catalog.Info{
	Name:   "redis-blpop",
	Source: "A, seventh idea: the Python library redis-lock",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.Renewal, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"SET", "BLPOP"},
	Stock: seckill.InRow,
	Also: []string{"blpop_unlock.lua", "compare_and_extend.lua",
		"answers.go"},
	Renews: true, // in A an optional parameter
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &blpopLock{redis: d.Redis, ttl: d.Settings.LockLease,
			maxHold: d.Settings.MaxHold}, nil
	},
	Key: stockKey,
}

type blpopLock struct {
	redis   redis.UniversalClient
	ttl     time.Duration // of a lock that is renewed; A: 15 s
	maxHold time.Duration

	// A BLPOP sits on a connection: one a process and key is enough.
	gate lock.Gate[struct{}]
}

// A BLPOP lasts so long at most: then the waiter looks whether the holder died
// without a signal, and whether its own buyer has left, which cannot be told to
// a connection that is blocked.
const maxBLPOP = time.Second

func (l *blpopLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	end := time.Now().Add(o.Wait)
	room, err := l.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	defer room.Release()
	for {
		asked := time.Now()
		ok, err := l.redis.SetNX(ctx, key, token, ttl).Result()
		switch {
		case err != nil: // it may have been set all the same
			l.undo(ctx, key, token)
			return nil, lock.AcquireError(ctx, err)
		case ok:
			return l.newLease(ctx, key, token, asked, ttl, o.Lease == 0), nil
		}
		round := maxBLPOP
		if o.Wait >= 0 {
			round = min(round, time.Until(end))
		}
		if round <= 0 {
			return nil, seckill.ErrBusy
		}
		// Do, because the client's own BLPop counts in whole seconds. Zero
		// would block for ever.
		err = l.redis.Do(ctx, "BLPOP", signalKey(key),
			max(round.Seconds(), 0.001)).Err()
		if err != nil && !errors.Is(err, redis.Nil) && !isOtherType(err) {
			return nil, lock.AcquireError(ctx, err)
		}
	}
}

// blpopSignal is the list; the braces keep it in its lock's Cluster slot.
func signalKey(key string) string { return "{" + key + "}:signal" }

func (l *blpopLock) newLease(
	ctx context.Context, key, token string,
	asked time.Time, ttl time.Duration, renewed bool,
) lock.Lease {
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.releaseLock(ctx, key, token)
	})
	h.ExpireAt(asked.Add(ttl))
	if renewed {
		h.Renew(ttl*2/3, l.maxHold,
			func(ctx context.Context) (bool, error) {
				asked := time.Now()
				n, err := compareAndExtend.Run(ctx, l.redis,
					[]string{key}, token, ttl.Milliseconds()).Int64()
				if n == 1 {
					h.ExpireAt(asked.Add(ttl))
				}
				return n == 1, err
			})
	}
	return h
}

func (l *blpopLock) releaseLock(ctx context.Context, key, token string) error {
	return releaseByToken(ctx, l.redis, blpopUnlock,
		[]string{key, signalKey(key)},
		token, maxBLPOP.Milliseconds())
}

func (l *blpopLock) undo(ctx context.Context, key, token string) {
	ctx, cancel := undoing(ctx)
	defer cancel()
	_ = l.releaseLock(ctx, key, token)
}
