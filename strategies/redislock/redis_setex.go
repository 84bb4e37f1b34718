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

//go:embed redis_setex.go answers.go
//go:embed redis_setex.en.md redis_setex.zh.md
var setexFiles embed.FS

// RedisSetEX closes the window between the two commands by making them one:
// SETEX sets a key together with its end. What it opens: SETEX has no NX. It
// sets the key whether it is there or not, and never says no.
var RedisSetEX = catalog.Info{
	Name:   "redis-setex",
	Title:  "SETEX alone",
	Family: "redislock",
	Source: "C, first Redis way: offered as the atomic repair (30 s)",
	Idea: "SETEX sets the key and its end in one command. Frees by DEL, " +
		"unless the holder's own clock says that the lock has timed " +
		"out.",
	Promises: "No key without an end: whatever a crash, a power cut or a " +
		"hung holder leaves behind is gone after one lease. That is " +
		"all: it excludes nobody.",
	Breaks: "SETEX overwrites. Every buyer is told that he has the lock, " +
		"the second while the first is still in, and the stock is as " +
		"unprotected as without a lock. It overwrites foreign locks, " +
		"too, whatever their type, and whoever leaves first deletes " +
		"what the others believe to hold. Never busy, never an error, " +
		"no wait: only the ledger shows it.",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives; C: 30 s"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts"},
	},
	Files: setexFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setexLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type setexLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when the buyer names none
	now   func() time.Time
}

func (l *setexLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by the clock of this process
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		// PSETEX, which is SETEX in milliseconds, answers OK whatever was
		// there before.
		err := l.redis.Do(ctx, "PSETEX", key,
			max(1, ttl.Milliseconds()), 1).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		if !l.now().Before(until) {
			return lock.ErrNotHeld // timed out, says our clock
		}
		return freed(l.redis.Del(ctx, key).Result()) // whoever's it is
	}), nil
}
