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

var compareAndDelete = backend.Script(files, "compare_and_delete.lua")

// RedisLua compares the token and deletes the key in one step, because Redis
// runs no other command during a script. As a lock it is complete: one command
// takes it, one releases it, and the token undoes an attempt whose reply was
// lost. But the token guards only the release and not the stock. A holder that
// is paused past its lease goes on selling while the next holder has the lock.
var RedisLua = family.Strategy(catalog.Info{
	Name:       "redis-lua",
	Source:     "A, sixth idea; E, scheme 4: compare and delete in Lua",
	Guarantees: catalog.Leased.Holds(catalog.Owner).Breaks(catalog.NodeLoss),
	Redis:      []string{"SET"},
	Also:       []string{"compare_and_delete.lua", "answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &luaLock{newKeyLock(d)}, nil
	},
})

// Polling interval and lease are settings. In the published article E, both
// are derived from the time for which a holder needs the lock.
type luaLock struct{ keyLock }

func (l *luaLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	release := func(ctx context.Context) error {
		return l.releaseLock(ctx, key, token)
	}
	var asked time.Time
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		ok, err := l.redis.SetNX(ctx, key, token, ttl).Result()
		if err != nil { // the reply is lost, but we may have the lock
			lock.UndoUnclear(ctx, release)
		}
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, release)
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}

func (l *luaLock) releaseLock(ctx context.Context, key, token string) error {
	return releaseByToken(ctx, l.redis, compareAndDelete,
		[]string{key}, token)
}
