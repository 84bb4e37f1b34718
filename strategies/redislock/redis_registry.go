package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

var registryScript = backend.Script(files, "registry.lua")

// RedisRegistry gives the token to the process instead of the buyer, as
// Spring's RedisLockRegistry does. For Redis all buyers of a process are the
// same owner, so they first take a lock inside the process. The value of the
// key is the token and a number that differs for each buyer. So a delayed
// release does not delete the lock of the process's next buyer.
var RedisRegistry = family.Strategy(catalog.Info{
	Name:       "redis-registry",
	Source:     "D, 1.2.1 and 1.2.2: the Lua of Spring's RedisLockRegistry",
	Guarantees: catalog.Leased.Holds(catalog.Owner).Breaks(catalog.NodeLoss),
	Also: []string{"registry.lua", "compare_and_delete.lua", "redis_lua.go",
		"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &registryLock{keyLock: newKeyLock(d), client: rand.Text()}, nil
	},
})

type registryLock struct {
	keyLock        // a lease of 10 minutes in the published article D
	client  string // the token of this process
	turns   atomic.Int64
	local   lock.Gate[struct{}]
}

// Acquire takes the lock inside the process and then the lock in Redis. The
// buyer's wait bounds the time for both locks together.
func (l *registryLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if lease, err := lock.Again(ctx, l, key); lease != nil || err != nil {
		return lease, err
	}
	end := time.Now().Add(o.Wait)
	permit, err := l.local.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	wait := o.Wait
	if wait > 0 {
		wait = max(0, time.Until(end))
	}
	owner := fmt.Sprint(l.client, "-", l.turns.Add(1))
	release := func(ctx context.Context) error {
		return releaseByToken(ctx, l.redis, compareAndDelete,
			[]string{key}, owner)
	}
	ttl := cmp.Or(o.Lease, l.ttl)
	var asked time.Time
	err = lock.Poll(ctx, wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		n, err := registryScript.Run(ctx, l.redis, []string{key},
			owner, max(1, ttl.Milliseconds())).Int64()
		if err != nil { // the reply is lost, but we may have the lock
			lock.UndoUnclear(ctx, release)
		}
		return n == 1, err
	})
	if err != nil {
		permit.Release()
		return nil, err
	}
	h := lock.NewReentrant(ctx, l, key, 0, func(ctx context.Context) error {
		defer permit.Release() // the lock in Redis is released first
		return release(ctx)
	})
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}
