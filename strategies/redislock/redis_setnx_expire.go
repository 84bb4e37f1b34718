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

//go:embed redis_setnx_expire.go answers.go
//go:embed redis_setnx_expire.en.md redis_setnx_expire.zh.md
var setnxExpireFiles embed.FS

// RedisSetNXExpire gives the key an end, so that a dead holder's goes away.
// And because the lock may be gone by now when its holder comes to free it, he
// looks at his own clock first. What is left: between SETNX and EXPIRE the key
// has no end; and his clock is not Redis's, nor is his look at it his DEL.
var RedisSetNXExpire = catalog.Info{
	Name:   "redis-setnx-expire",
	Title:  "SETNX, then EXPIRE",
	Family: "redislock",
	Source: "C, first Redis way (30 s); D, 1.1; E, scheme 2, where the " +
		"second command is SETEX",
	Idea: "SETNX takes the lock, EXPIRE gives it an end. Frees by DEL, " +
		"unless the holder's own clock says that the lock has timed " +
		"out, so that he does not free another's.",
	Promises: "One holder at a time across any number of processes, " +
		"while Redis keeps the key and every holder is done before " +
		"his lease is. A holder who dies after the EXPIRE blocks the " +
		"others for one lease at most: closed sockets, power cut and " +
		"a process that hangs are the same to a key that expires.",
	Breaks: "Whoever dies, or loses his connection, between SETNX and " +
		"EXPIRE leaves a key without an end: the others are blocked " +
		"for ever. A holder who is slower than his lease works on " +
		"beside his successor. And he can free his successor's lock: " +
		"his clock says there is time, he is held up, the lease ends, " +
		"the successor comes, and then his DEL arrives; or his clock " +
		"is slow. Nothing is renewed. A Redis that loses its data " +
		"forgets the lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.Clocks, catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the key lives; C: 30 s, D: 60 s"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts; D: 10 ms"},
	},
	Files: setnxExpireFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &setnxExpireLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type setnxExpireLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when the buyer names none
	now   func() time.Time
}

func (l *setnxExpireLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by the clock of this process
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, 1, 0).Result()
		if err != nil || !ok {
			return false, err
		}
		// Whoever dies here leaves a key without an end. (PEXPIRE is
		// EXPIRE in milliseconds.)
		err = l.redis.PExpire(ctx, key, ttl).Err()
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

// Clear removes a lock that nobody will free.
func (l *setnxExpireLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
