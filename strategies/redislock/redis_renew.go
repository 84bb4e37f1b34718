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

//go:embed redis_renew.go answers.go
//go:embed redis_renew.en.md redis_renew.zh.md
var renewFiles embed.FS

// RedisRenew extends the lease while the holder works. Neither the renewer nor
// the release looks whose lock it is.
var RedisRenew = catalog.Info{
	Name:   "redis-renew",
	Title:  "SET NX PX, renewed by EXPIRE",
	Family: "redislock",
	Source: "A, sixth idea, there at two thirds of the lease; E: periodic " +
		"renewal by SETEX or EXPIRE",
	Idea: "As redis-set-nx-px, but at each third of the lease EXPIRE sets " +
		"the key's end anew, until the lock is freed.",
	Promises: "One holder at a time, with any number of processes, while the " +
		"renewer is on time and Redis keeps the key.",
	Breaks: "A process paused past its lease works on beside its successor, " +
		"renews the successor's lock, and frees it.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.LateCommand,
			catalog.Renewal, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.InRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before being told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives unrenewed; A: 15 s or 30 s"},
		{Flag: "--lock-poll",
			Doc: "how long to pause between two attempts; A: 1 s"},
		{Flag: "--lock-no-renewal",
			Doc: "for comparison: no renewal"},
		{Flag: "--lock-max-hold",
			Doc: "renewal ends after so long, for a holder that hangs"},
	},
	Files:  renewFiles,
	Renews: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &renewLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Settings.MaxHold}, nil
	},
	Key: stockKey,
}

type renewLock struct {
	redis   redis.UniversalClient
	poll    time.Duration
	ttl     time.Duration // unrenewed
	maxHold time.Duration
}

func (l *renewLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return l.redis.SetNX(ctx, key, 1, ttl).Result()
	})
	if err != nil {
		return nil, err
	}
	h := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return freed(l.redis.Del(ctx, key).Result()) // of any owner
	})
	if o.Lease == 0 {
		h.Renew(ttl/3, l.maxHold, func(ctx context.Context) (bool, error) {
			err := l.redis.PExpire(ctx, key, ttl).Err()
			return true, err // ours, it believes: it does not look
		})
	}
	return h, nil
}
