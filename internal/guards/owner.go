package guards

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A lock in Redis is given back after its lease has ended.
var owner = []catalog.Info{
	locking("owner", func(l redisLock) lock.Locker { return &deleting{owned{l}} }),
	locking("owner-clock", func(l redisLock) lock.Locker { return &watchingClock{owned{l}} }),
	locking("owner-token", func(l redisLock) lock.Locker { return &comparing{owned{l}} }),
	locking("owner-watch", func(l redisLock) lock.Locker { return &watching{owned{l}} }),
	locking("owner-script", func(l redisLock) lock.Locker { return &deletingOwn{owned{l}} }),
}

type owned struct{ redisLock }

// until takes the lock for one lease.
func (l *owned) until(
	ctx context.Context, key string, o lock.Options,
	release func(ctx context.Context, key, token string, until time.Time) error,
) (lock.Lease, error) {
	var end time.Time
	take := func(ctx context.Context, key, token string) (bool, error) {
		end = l.now().Add(l.ttl)
		return l.redis.SetNX(ctx, key, token, l.ttl).Result()
	}
	return l.hold(ctx, key, o, take, func(ctx context.Context, key, token string) error {
		return release(ctx, key, token, end)
	})
}

// deleting frees the lock, whoever has it.
type deleting struct{ owned }

func (l *deleting) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.until(ctx, key, o, l.release)
}

func (l *deleting) release(
	ctx context.Context, key, token string, until time.Time,
) error {
	return freed(l.redis.Del(ctx, key).Result())
}

// watchingClock frees it unless its own clock says that the lease is over.
type watchingClock struct{ owned }

func (l *watchingClock) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.until(ctx, key, o, l.release)
}

func (l *watchingClock) release(
	ctx context.Context, key, token string, until time.Time,
) error {
	if !l.now().Before(until) {
		return lock.ErrNotHeld
	}
	return freed(l.redis.Del(ctx, key).Result())
}

// comparing reads whose it is, and then deletes.
type comparing struct{ owned }

func (l *comparing) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.until(ctx, key, o, l.release)
}

func (l *comparing) release(
	ctx context.Context, key, token string, until time.Time,
) error {
	whose, err := l.redis.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) || err == nil && whose != token {
		return lock.ErrNotHeld
	}
	if err != nil {
		return err
	}
	return freed(l.redis.Del(ctx, key).Result())
}

// watching has Redis refuse the DEL when the key has changed since the WATCH.
type watching struct{ owned }

func (l *watching) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.until(ctx, key, o, l.release)
}

func (l *watching) release(
	ctx context.Context, key, token string, until time.Time,
) error {
	err := l.redis.Watch(ctx, func(tx *redis.Tx) error {
		whose, err := tx.Get(ctx, key).Result()
		if err == nil && whose != token {
			return lock.ErrNotHeld
		}
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			return p.Del(ctx, key).Err()
		})
		return err
	}, key)
	if errors.Is(err, redis.Nil) || errors.Is(err, redis.TxFailedErr) {
		return lock.ErrNotHeld
	}
	return err
}

// deletingOwn compares and deletes in one step, inside Redis.
type deletingOwn struct{ owned }

func (l *deletingOwn) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.until(ctx, key, o, l.release)
}

func (l *deletingOwn) release(
	ctx context.Context, key, token string, until time.Time,
) error {
	// if redis.call('GET', KEYS[1]) == ARGV[1] then
	//     return redis.call('DEL', KEYS[1])
	// end
	// return 0
	return freed(compareAndDelete.Run(ctx, l.redis,
		[]string{key}, token).Int64())
}
