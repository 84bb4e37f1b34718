package redislock

import (
	"context"
	"embed"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redis_setnx.go answers.go
//go:embed redis_setnx.en.md redis_setnx.zh.md
var setnxFiles embed.FS

// RedisSetNX uses one key for all: of any number of buyers exactly one puts it
// there, and he is in. What is left: nobody takes the key away when its holder
// cannot.
var RedisSetNX = catalog.Info{
	Name:   "redis-setnx",
	Title:  "SETNX, DEL",
	Family: "redislock",
	Source: "A, sixth idea: atomicity; E, scheme 1",
	Idea: "SETNX sets the key only if it is not there, in one command: " +
		"who did has the lock. The others pause and try again. DEL " +
		"frees.",
	Promises: "One holder at a time across any number of processes, " +
		"while Redis keeps the key and every holder lives to free it. " +
		"No lease ends under a slow holder: there is none.",
	Breaks: "A holder who dies blocks the others for ever, because " +
		"nothing else removes the key. Closed sockets and a power cut " +
		"are the same to Redis: the key belongs to no connection. A " +
		"hung holder blocks them as long as he hangs. So does a SETNX " +
		"whose reply was lost: the lock is taken, and its holder does " +
		"not know. When an operator removes the key of somebody who " +
		"was only slow, that one's DEL frees his successor's lock. A " +
		"Redis that restarts without its data, or fails over before " +
		"it has replicated the key, forgets the lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts; A: 1 s"},
	},
	Files: setnxFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setnxLock{d.Redis, d.Settings.LockPoll}, nil
	},
	Key: stockKey,
}

type setnxLock struct {
	redis redis.UniversalClient
	poll  time.Duration
}

func (l *setnxLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		// A key of another type counts as taken: SETNX leaves it alone.
		return l.redis.SetNX(ctx, key, 1, 0).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return freed(l.redis.Del(ctx, key).Result()) // whoever's it is
	}), nil
}

// Clear removes a lock that nobody will free.
func (l *setnxLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
