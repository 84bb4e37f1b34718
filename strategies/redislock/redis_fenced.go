package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

//go:embed fenced_lock.lua
var fencedLockLua string

var takeAndCount = redis.NewScript(fencedLockLua)

// RedisFenced is redis-lua with numbered grants, and a stock row that refuses
// the write of an earlier grant (internal/lock/fenced.go).
//
// INCR alone is no fencing token: a Redis that restarts without its data, or a
// replica that lagged and is promoted, counts from a lower number, and the row
// would refuse every buyer until the count has caught up. So a grant's number
// surpasses two others: the last one that Redis knows, and the fence of the
// stock row, which the buyer reads before asking for the lock. If two grants
// still get one number, the row lets only the first of them raise its fence.
var RedisFenced = catalog.Info{
	Name:   "redis-fenced",
	Source: "Martin Kleppmann, How to do distributed locking (2016)",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: seckill.InRow,
	Also: []string{
		"fenced_lock.lua", "compare_and_delete.lua", "answers.go",
		"redis_lua.go"},
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &fencedLock{luaLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}}, nil
	},
	Key: stockKey,
}

type fencedLock struct{ luaLock }

func (l *fencedLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	var asked time.Time
	var fence uint64
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		n, err := takeAndCount.Run(ctx, l.redis,
			[]string{key, grantsKey(key)},
			token, max(1, ttl.Milliseconds()), o.Above).Uint64()
		if err != nil { // it may have been taken all the same
			ctx, cancel := undoing(ctx)
			defer cancel()
			_ = l.releaseLock(ctx, key, token)
		}
		fence = n
		return n > 0, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, fence, func(ctx context.Context) error {
		return l.releaseLock(ctx, key, token)
	})
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}

// grantsOf names the number of a lock's last grant. The braces put it on the
// lock's node of a Redis Cluster.
func grantsKey(key string) string { return "{" + key + "}:grants" }
