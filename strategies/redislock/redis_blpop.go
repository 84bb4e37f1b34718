package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

var (
	blpopUnlock      = backend.Script(files, "blpop_unlock.lua")
	compareAndExtend = backend.Script(files, "compare_and_extend.lua")
)

// RedisBLPOP wakes a waiter through a list: the releaser pushes a signal, and
// one waiter pops it. Unlike a published message, a signal stays in the list
// until a waiter reads it, and wakes only one waiter. If one renewal fails,
// the lock is lost, because the next renewal would be too late.
var RedisBLPOP = family.Strategy(catalog.Info{
	Name:   "redis-blpop",
	Source: "A, seventh idea: the Python library redis-lock",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.Renewal).
		Breaks(catalog.NodeLoss),
	Redis: []string{"SET", "BLPOP"},
	Also: []string{"blpop_unlock.lua", "compare_and_extend.lua",
		"answers.go"},
	Renews: true, // optional in the published article A
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &blpopLock{keyLock: newKeyLock(d)}, nil
	},
})

type blpopLock struct {
	keyLock // the lease is a setting; 15 s in article A (README)

	// The gate lets one buyer per process and key call BLPOP, because each
	// BLPOP occupies a connection.
	gate lock.Gate[struct{}]
}

// maxBLPOP bounds one BLPOP. After each BLPOP the waiter tries to take the
// lock, because a holder that died has sent no signal. The waiter also checks
// whether its buyer has left, because nothing can interrupt a BLPOP.
const maxBLPOP = time.Second

func (l *blpopLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	release := func(ctx context.Context) error {
		return releaseByToken(ctx, l.redis, blpopUnlock,
			[]string{key, signalKey(key)}, token, maxBLPOP.Milliseconds())
	}
	end := time.Now().Add(o.Wait)
	permit, err := l.gate.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	defer permit.Release()
	for {
		asked := time.Now()
		ok, err := l.redis.SetNX(ctx, key, token, ttl).Result()
		switch {
		case err != nil:
			lock.UndoUnclear(ctx, release)
			return nil, lock.AcquireError(ctx, err)
		case ok:
			h := lock.NewHold(ctx, 0, release)
			h.ExpireAt(asked.Add(ttl))
			if o.Lease == 0 {
				l.renew(h, key, token, ttl)
			}
			return h, nil
		}
		round := maxBLPOP
		if o.Wait >= 0 {
			round = min(round, time.Until(end))
		}
		if round <= 0 {
			return nil, seckill.ErrBusy
		}
		// The client's own BLPop counts in whole seconds, so use Do. The time
		// must not be zero, which would block without end.
		err = l.redis.Do(ctx, "BLPOP", signalKey(key),
			max(round.Seconds(), 0.001)).Err()
		if err != nil && !errors.Is(err, redis.Nil) && !isOtherType(err) {
			return nil, lock.AcquireError(ctx, err)
		}
	}
}

// signalKey returns the name of the list. The braces keep the list on the same
// node of a Redis Cluster as the lock.
func signalKey(key string) string { return "{" + key + "}:signal" }

func (l *blpopLock) renew(
	h *lock.Hold, key, token string, ttl time.Duration,
) {
	h.Renew(ttl*2/3, l.maxHold, func(ctx context.Context) (bool, error) {
		asked := time.Now()
		n, err := compareAndExtend.Run(ctx, l.redis,
			[]string{key}, token, ttl.Milliseconds()).Int64()
		if n == 1 {
			h.ExpireAt(asked.Add(ttl))
		}
		return n == 1, err
	})
}
