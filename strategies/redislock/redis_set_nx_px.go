package redislock

import (
	"cmp"
	"context"
	"embed"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redis_set_nx_px.go answers.go
//go:embed redis_set_nx_px.en.md redis_set_nx_px.zh.md
var setNXPXFiles embed.FS

// RedisSetNXPX sets a key only if it is not there, together with its end, in
// one command. The key does not say whose lock it is.
var RedisSetNXPX = catalog.Info{
	Name:   "redis-set-nx-px",
	Title:  "SET NX PX",
	Family: "redislock",
	Source: "A, sixth idea; E, scheme 3",
	Idea: "SET key 1 NX PX lease takes the lock and gives it an end, in one " +
		"command. DEL frees.",
	Promises: "One holder at a time, with any number of processes, while " +
		"every holder finishes within its lease and Redis keeps the key.",
	Breaks: "A holder slower than its lease works on beside its successor, " +
		"and its DEL frees the successor's lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.LateCommand,
			catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.InRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before being told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives; E: several times the task"},
		{Flag: "--lock-poll",
			Doc: "how long to pause between two attempts; A: 1 s"},
	},
	Files: setNXPXFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setNXPXLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}, nil
	},
	Key: stockKey,
}

type setNXPXLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when Options name none
}

func (l *setNXPXLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, 1, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return freed(l.redis.Del(ctx, key).Result()) // of any owner
	}), nil
}
