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

//go:embed compare_and_delete.lua
var compareAndDeleteLua string

var compareAndDelete = redis.NewScript(compareAndDeleteLua)

// RedisLua compares and deletes in one step, since Redis runs a script alone.
// The lock itself is complete: one command takes it, one frees it, and an
// attempt whose reply is lost is taken back by its token. The token guards the
// release, not the stock: a holder paused past its lease works on beside its
// successor.
var RedisLua = catalog.Info{
	Name:   "redis-lua",
	Source: "A; E, scheme 4",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Redis: []string{"SET"},
	Stock: seckill.InRow,
	Also:  []string{"compare_and_delete.lua", "answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &luaLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}, nil
	},
	Key: stockKey,
}

type luaLock struct {
	redis redis.UniversalClient
	poll  time.Duration // E: in proportion to the task
	ttl   time.Duration // when Options name none; E: several times the task
}

func (l *luaLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	var asked time.Time
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		asked = time.Now()
		ok, err := l.redis.SetNX(ctx, key, token, ttl).Result()
		if err != nil { // it may have been set all the same
			ctx, cancel := undoing(ctx)
			defer cancel()
			_ = l.releaseLock(ctx, key, token)
		}
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.releaseLock(ctx, key, token)
	})
	h.ExpireAt(asked.Add(ttl))
	return h, nil
}

func (l *luaLock) releaseLock(ctx context.Context, key, token string) error {
	return releaseByToken(ctx, l.redis, compareAndDelete,
		[]string{key}, token)
}
