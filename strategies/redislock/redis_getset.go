package redislock

import (
	"cmp"
	"context"
	"embed"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed redis_getset.go answers.go
//go:embed redis_getset.en.md redis_getset.zh.md
var getsetLockFiles embed.FS

// RedisGETSET takes a dead lock over in one command: GETSET writes the new end
// and returns the old one, and only one of many cleaners gets back the dead
// end that he had seen. No key needs an EXPIRE any more. What is left: the
// losers have written, too; the time is each program's own; and a lock that
// has no owner is freed by whoever believes it his.
var RedisGETSET = catalog.Info{
	Name:   "redis-getset",
	Title:  "SETNX with the end as value, taken over by GETSET",
	Family: "redislock",
	Source: "C, second Redis way",
	Idea: "SETNX with the time at which the lease will be over. Who " +
		"finds that time past writes his own by GETSET; if what he " +
		"gets back is what he had seen, the lock is his. Frees by " +
		"DEL, unless his own clock says that the lock has timed out.",
	Promises: "One holder at a time across any number of processes, " +
		"while every holder is done before his lease is, all clocks " +
		"agree, and Redis keeps the key. A dead holder blocks the " +
		"others for about one lease, wherever he died: closed " +
		"sockets, power cut and a process that hangs are all the " +
		"same, since nothing but the time in the key counts.",
	Breaks: "Whoever's clock is ahead takes over locks that are alive; " +
		"whoever's is behind waits too long. A loser of the take-over " +
		"has written his own end into the winner's lock, and a loser " +
		"whose GETSET comes after the winner's DEL leaves a key that " +
		"nobody owns: the others wait a lease for no one. A holder " +
		"slower than his lease works on beside his successor; held up " +
		"between the look at his clock and his DEL, he frees his " +
		"successor's lock. The key never expires by itself. A foreign " +
		"key whose value is a number, such as 1, is taken for a time " +
		"long past; any other text is a lock held. A Redis that " +
		"loses its data forgets the lock.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "how long the lock is good"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two attempts"},
	},
	Files: getsetLockFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getsetLock{d.Redis, d.Settings.LockPoll,
			d.Settings.LockLease, d.Now}, nil
	},
	Key: stockKey,
}

type getsetLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration // when the buyer names none
	now   func() time.Time
}

func (l *getsetLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, l.ttl)
	var until time.Time // by the clock of this process
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		until = l.now().Add(ttl)
		ok, err := l.redis.SetNX(ctx, key, until.UnixMilli(), 0).Result()
		if err != nil || ok {
			return ok, err
		}
		seen, err := l.redis.Get(ctx, key).Result()
		if err == redis.Nil || otherType(err) {
			return false, nil
		}
		if err != nil || !takeoverDue(seen, l.now()) {
			return false, err
		}
		// Of many who saw the same dead end, one gets it back. The others
		// have moved his end by what lies between their two commands.
		until = l.now().Add(ttl)
		old, err := l.redis.Do(ctx,
			"GETSET", key, until.UnixMilli()).Text()
		if err == redis.Nil || otherType(err) {
			return false, nil
		}
		return err == nil && old == seen, err
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

// takeoverDue: the value is a time, in milliseconds, that is over.
func takeoverDue(value string, now time.Time) bool {
	until, err := strconv.ParseInt(value, 10, 64)
	return err == nil && until < now.UnixMilli()
}

// Clear removes a lock that nobody will free.
func (l *getsetLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
