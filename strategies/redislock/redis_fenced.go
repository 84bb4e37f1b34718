package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

var takeAndCount = backend.Script(files, "fenced_lock.lua")

// RedisFenced is redis-lua with numbered grants and a stock row that refuses
// the write of an earlier grant (internal/lock/fenced.go).
//
// INCR alone gives no fencing token. A Redis that restarts without its data
// counts from a lower number, and so does a replica that lagged and is
// promoted. The row would then refuse all buyers until the count has caught
// up. Therefore a grant's number is greater than the last number that Redis
// knows, and greater than the fence of the stock row, which the buyer reads
// before it asks for the lock. If two grants still get the same number, only
// the first of them can raise the row's fence.
var RedisFenced = family.Strategy(catalog.Info{
	Name:       "redis-fenced",
	Source:     "Martin Kleppmann, How to do distributed locking (2016)",
	Guarantees: catalog.Robust.Holds(catalog.Owner).Breaks(catalog.NodeLoss),
	Also: []string{
		"fenced_lock.lua", "compare_and_delete.lua", "answers.go",
		"redis_lua.go"},
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &fencedLock{luaLock{newKeyLock(d)}}, nil
	},
})

type fencedLock struct{ luaLock }

func (l *fencedLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	release := func(ctx context.Context) error {
		return l.releaseLock(ctx, key, token)
	}
	var asked time.Time
	var fence uint64
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		n, err := takeAndCount.Run(ctx, l.redis,
			[]string{key, grantsKey(key)},
			token, max(1, ttl.Milliseconds()), o.Above).Uint64()
		if err != nil { // the reply is lost, but we may have the lock
			lock.UndoUnclear(ctx, release)
		}
		fence = n
		return n > 0, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, fence, release)
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}

// grantsKey returns the name of the key that has the number of a lock's last
// grant. The braces keep both keys on the same node of a Redis Cluster.
func grantsKey(key string) string { return "{" + key + "}:grants" }
