package guards

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// A lock in Redis whose holder dies.
var expiry = []catalog.Info{
	locking("expiry", func(l redisLock) lock.Locker { return &endless{l} }),
	locking("expiry-deferred", func(l redisLock) lock.Locker { return &deferred{l} }),
	locking("expiry-two-commands", func(l redisLock) lock.Locker { return &inTwo{l} }),
	locking("expiry-one-command", func(l redisLock) lock.Locker { return &inOne{l} }),
	locking("expiry-script", func(l redisLock) lock.Locker { return &scripted{l} }),
}

// redisLock is what the locks of this package have in common.
type redisLock struct {
	redis redis.UniversalClient
	poll  time.Duration
	ttl   time.Duration
	now   func() time.Time // this process's clock
}

// hold waits until take has the lock; release gives it back.
func (l *redisLock) hold(
	ctx context.Context, key string, o lock.Options,
	take func(ctx context.Context, key, token string) (bool, error),
	release func(ctx context.Context, key, token string) error,
) (lock.Lease, error) {
	token := rand.Text()
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		return take(ctx, key, token)
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		return release(ctx, key, token)
	}), nil
}

// endless sets a key that nothing but its holder removes.
type endless struct{ redisLock }

func (l *endless) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.hold(ctx, key, o, l.take, l.remove)
}

func (l *endless) take(
	ctx context.Context, key, token string,
) (bool, error) {
	return l.redis.SetNX(ctx, key, token, 0).Result()
}

// deferred removes the key even when the holder panics.
type deferred struct{ redisLock }

func (l *deferred) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.hold(ctx, key, o, l.take, l.remove)
}

func (l *deferred) take(
	ctx context.Context, key, token string,
) (mine bool, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			_ = l.redis.Del(ctx, key).Err()
			panic(failed)
		}
	}()
	return l.redis.SetNX(ctx, key, token, 0).Result()
}

// inTwo gives the key its end in a second command.
type inTwo struct{ redisLock }

func (l *inTwo) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.hold(ctx, key, o, l.take, l.remove)
}

func (l *inTwo) take(
	ctx context.Context, key, token string,
) (bool, error) {
	mine, err := l.redis.SetNX(ctx, key, token, 0).Result()
	if err != nil || !mine {
		return false, err
	}
	return true, l.redis.PExpire(ctx, key, l.ttl).Err()
}

// inOne sets the key together with its end.
type inOne struct{ redisLock }

func (l *inOne) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.hold(ctx, key, o, l.take, l.remove)
}

func (l *inOne) take(
	ctx context.Context, key, token string,
) (bool, error) {
	// SET key token NX PX ttl
	return l.redis.SetNX(ctx, key, token, l.ttl).Result()
}

// scripted has Redis run both commands as one.
type scripted struct{ redisLock }

var setThenExpire = redis.NewScript(`
local mine = redis.call('SETNX', KEYS[1], ARGV[1])
if mine == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return mine`)

func (l *scripted) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	return l.hold(ctx, key, o, l.take, l.remove)
}

func (l *scripted) take(
	ctx context.Context, key, token string,
) (bool, error) {
	n, err := setThenExpire.Run(ctx, l.redis,
		[]string{key}, token, l.ttl.Milliseconds()).Int()
	return n == 1, err
}

var compareAndDelete = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0`)

// remove frees the caller's own lock.
func (l *redisLock) remove(ctx context.Context, key, token string) error {
	n, err := compareAndDelete.Run(ctx, l.redis, []string{key}, token).Int64()
	return freed(n, err)
}

func freed(keys int64, err error) error {
	switch {
	case err != nil:
		return seckill.ErrUnavailable
	case keys == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// Clear removes a lock that its holder will not free.
func (l *redisLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}
