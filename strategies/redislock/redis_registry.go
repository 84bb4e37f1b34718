package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

//go:embed registry.lua
var registryLua string

var registryScript = redis.NewScript(registryLua)

// RedisRegistry gives the token to the process instead of the buyer, as
// Spring's RedisLockRegistry does: asking again extends the lease. For Redis
// all buyers of a process are one, so a lock in the process stands in front.
// The turn beside the token keeps a delayed release from freeing a neighbour's
// lock.
var RedisRegistry = catalog.Info{
	Name:   "redis-registry",
	Source: "D, 1.2.1 and 1.2.2: the Lua of Spring's RedisLockRegistry",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: seckill.InRow,
	Also: []string{"registry.lua", "compare_and_delete.lua", "redis_lua.go",
		"answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &registryLock{redis: d.Redis, poll: d.Settings.LockPoll,
			ttl: d.Settings.LockLease, client: rand.Text()}, nil
	},
	Key: stockKey,
}

type registryLock struct {
	redis  redis.UniversalClient
	poll   time.Duration
	ttl    time.Duration // when Options name none; D: 10 min
	client string
	turns  atomic.Int64
	local  lock.Gate[struct{}]
}

// Acquire takes the local lock, then the one in Redis. The wait is for both.
func (l *registryLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	if h, ok := ctx.Value(registryHeld{l, key}).(*registryHold); ok {
		if lease, err := h.again(ctx, ttl); lease != nil || err != nil {
			return lease, err
		}
	}
	end := time.Now().Add(o.Wait)
	room, err := l.local.Acquire(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	wait := o.Wait
	if wait > 0 {
		wait = max(0, time.Until(end))
	}
	h := &registryHold{lock: l, key: key, room: room, depth: 1,
		turn: l.turns.Add(1)}
	var asked time.Time
	err = lock.Poll(ctx, wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		ok, err := h.take(ctx, ttl)
		if err != nil { // it may have been taken all the same
			ctx, cancel := undoing(ctx)
			defer cancel()
			_ = h.free(ctx)
		}
		return ok, err
	})
	if err != nil {
		room.Release()
		return nil, err
	}
	return h.lease(ctx, asked.Add(ttl)), nil
}

// registryHeld is where a lease's context carries the hold of a key.
type registryHeld struct {
	lock *registryLock
	key  string
}

// A registryHold is the lock, held once or more often.
type registryHold struct {
	lock *registryLock
	key  string
	room *lock.Permit[struct{}]
	turn int64 // drawn in the room, so that a later holder's is higher

	mu    sync.Mutex
	depth int
}

func (h *registryHold) take(
	ctx context.Context, ttl time.Duration,
) (bool, error) {
	n, err := registryScript.Run(ctx, h.lock.redis, []string{h.key},
		h.lock.client, h.turn, max(1, ttl.Milliseconds())).Int64()
	return n == 1, err
}

func (h *registryHold) free(ctx context.Context) error {
	return releaseByToken(ctx, h.lock.redis, compareAndDelete,
		[]string{h.key}, fmt.Sprint(h.lock.client, ":", h.turn))
}

// again is the reentry: no lease if the hold is over, or lost.
func (h *registryHold) again(
	ctx context.Context, ttl time.Duration,
) (lock.Lease, error) {
	h.mu.Lock()
	over := h.depth == 0
	if !over {
		h.depth++
	}
	h.mu.Unlock()
	if over {
		return nil, nil
	}
	asked := time.Now()
	ok, err := h.take(ctx, ttl)
	if err == nil && ok {
		return h.lease(ctx, asked.Add(ttl)), nil
	}
	// If the other leases were released meanwhile, this was the last.
	undo, cancel := undoing(ctx)
	defer cancel()
	_ = h.leave(undo)
	if err != nil {
		return nil, lock.AcquireError(ctx, err)
	}
	return nil, lock.ErrLost
}

func (h *registryHold) lease(
	ctx context.Context, until time.Time,
) lock.Lease {
	lease := lock.NewHold(context.WithValue(ctx,
		registryHeld{h.lock, h.key}, h), 0, h.leave)
	lease.ExpireAt(until)
	return lease
}

// leave frees the lock with the last lease on it: in Redis first.
func (h *registryHold) leave(ctx context.Context) error {
	h.mu.Lock()
	h.depth--
	last := h.depth == 0
	h.mu.Unlock()
	if !last {
		return nil
	}
	defer h.room.Release()
	return h.free(ctx)
}
