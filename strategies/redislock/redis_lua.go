package redislock

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redis_lua.go compare_and_delete.lua answers.go
//go:embed redis_lua.en.md redis_lua.zh.md
var luaFiles embed.FS

//go:embed compare_and_delete.lua
var compareAndDeleteLua string

var compareAndDelete = redis.NewScript(compareAndDeleteLua)

// RedisLua closes the window of the release: Redis runs a script alone, so
// comparing and deleting are one step. With it the lock itself is whole: one
// command takes it, one frees it, and an attempt whose reply was lost is taken
// back by its token. What is left is not the lock's: a holder who outlives his
// lease, and a Redis that forgets.
var RedisLua = catalog.Info{
	Name:   "redis-lua",
	Title:  "A token, compared and deleted in Lua",
	Family: "redislock",
	Source: "A; E, scheme 4",
	Idea: "SET key token NX PX lease. A Lua script deletes the key if " +
		"its value is still the token, in one step.",
	Promises: "One holder at a time across any number of processes, " +
		"while Redis keeps the key and every holder is done before " +
		"his lease is. Nobody frees another's lock. A dead or hung " +
		"holder blocks the others for one lease at most: closed " +
		"sockets, power cut and a paused process are all the same to " +
		"a key that expires. The holder is told on his own clock when " +
		"his lease is over.",
	Breaks: "A holder who is paused past his lease works on beside his " +
		"successor: a warning does not reach who sleeps, and a COMMIT " +
		"that is under way cannot be taken back. The token guards the " +
		"release, not the stock; that would take a fence. A Redis " +
		"that restarts without its data, or fails over before it has " +
		"replicated the key, forgets the lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives; E: several times the task"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts; " +
				"E: in proportion to the task"},
	},
	Files: luaFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &luaLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}, nil
	},
	Key: stockKey,
}

type luaLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when the buyer names none
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
			_ = l.free(ctx, key, token)
		}
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return l.free(ctx, key, token)
	})
	h.Until(asked.Add(ttl))
	return h, nil
}

func (l *luaLock) free(ctx context.Context, key, token string) error {
	return freed(compareAndDelete.Run(ctx, l.redis,
		[]string{key}, token).Int64())
}
