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

//go:embed redis_token.go answers.go
//go:embed redis_token.en.md redis_token.zh.md
var tokenFiles embed.FS

// RedisToken writes down whose the lock is: a random token as the value, and
// whoever frees looks first whether it is still his. What is left: between his
// look and his DEL the lock may change hands.
var RedisToken = catalog.Info{
	Name:   "redis-token",
	Title:  "A token, compared in the program",
	Family: "redislock",
	Source: "A, sixth idea; D, 1.1: the value is compared before DEL",
	Idea: "SET key token NX PX lease. To free it: GET, compare with the " +
		"own token, and DEL if it is the same.",
	Promises: "One holder at a time across any number of processes, " +
		"while Redis keeps the key and every holder is done before " +
		"his lease is. A holder who finds that he was too slow leaves " +
		"his successor's lock alone. A dead or hung holder blocks the " +
		"others for one lease at most, whichever way he died.",
	Breaks: "GET says that the lock is his; the lease ends; his " +
		"successor takes it; his DEL frees it. The window is short and " +
		"the crowd is large. A holder slower than his lease still " +
		"works beside his successor: the token guards the lock, not " +
		"the stock. A Redis that loses its data forgets the lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.LateCommand,
			catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives; D: 60 s"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts; D: 10 ms"},
	},
	Files: tokenFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &tokenLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease}, nil
	},
	Key: stockKey,
}

type tokenLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when the buyer names none
}

func (l *tokenLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl, token := cmp.Or(o.Lease, l.ttl), rand.Text()
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, token, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		whose, err := l.redis.Get(ctx, key).Result()
		if err == redis.Nil || err == nil && whose != token {
			return lock.ErrNotHeld
		}
		if err != nil {
			return freed(0, err)
		}
		// It was his a moment ago.
		return freed(l.redis.Del(ctx, key).Result())
	}), nil
}
