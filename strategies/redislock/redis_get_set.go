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

//go:embed redis_get_set.go answers.go
//go:embed redis_get_set.en.md redis_get_set.zh.md
var getSetFiles embed.FS

// RedisGetSet is where it starts: look whether the lock is there; if not, put
// it there. What is wrong: looking and putting are two commands, and the
// branch that waits forgot a "not".
var RedisGetSet = catalog.Info{
	Name:   "redis-get-set",
	Title:  "GET, and if empty SET",
	Family: "redislock",
	Source: "A, fifth idea: the first listing",
	Idea: "GET the key. Nothing there: SET it, and the lock is taken. " +
		"Otherwise pause and GET again, until it is there (sic). DEL " +
		"frees.",
	Promises: "Nothing once two buyers overlap.",
	Breaks: "Two buyers look before either has set: both find nothing, " +
		"both set, both are in. Whoever finds the lock taken pauses, " +
		"looks again and goes in because it IS there, beside its " +
		"holder; when it is free he waits on until somebody takes it. " +
		"DEL frees whoever's lock it is. A dead holder's key, by a " +
		"crash or a power cut alike, would block the others for ever, " +
		"did not the second mistake let them in. Nothing is renewed, " +
		"so a hung holder makes no difference.",
	Guarantees: catalog.Unsound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.Owner, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Redis},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-poll",
			Doc: "how long he pauses between two looks; A: 1 s"},
	},
	Files: getSetFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &getSetLock{d.Redis, d.Settings.LockPoll}, nil
	},
	Key: stockKey,
}

type getSetLock struct {
	redis redis.UniversalClient
	poll  time.Duration
}

func (l *getSetLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	waited := false
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		value, err := l.redis.Get(ctx, key).Result()
		if otherType(err) {
			return false, nil
		}
		if err != nil && err != redis.Nil {
			return false, err
		}
		there := value != ""
		if waited {
			return there, nil // as A has it: it is there, so come in
		}
		waited = true
		if there {
			return false, nil
		}
		// Nothing was there when we looked. By now it may be.
		err = l.redis.Set(ctx, key, 1, 0).Err()
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return freed(l.redis.Del(ctx, key).Result()) // whoever's it is
	}), nil
}

// Clear removes a lock that nobody will free.
func (l *getSetLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
