package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// stockKey returns the name of a SKU's lock. Our strategies and other programs
// use the same key, so they exclude each other.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
}

type keyLock struct {
	redis   redis.UniversalClient
	poll    time.Duration    // the pause between two attempts
	ttl     time.Duration    // the lease if Options.Lease is 0
	maxHold time.Duration    // how long a lock is renewed; 0 means no limit
	now     func() time.Time // the clock of this process
}

func newKeyLock(d catalog.Deps) keyLock {
	return keyLock{d.Redis, d.Settings.LockPoll, d.Settings.LockLease,
		d.Settings.MaxHold, d.Now}
}

// deleteUntil deletes the key, even if another buyer owns it. But if the lease
// has ended by the clock of this process, deleteUntil deletes nothing and
// returns ErrNotHeld.
func (l *keyLock) deleteUntil(
	ctx context.Context, key string, leaseEnd time.Time,
) error {
	if !l.now().Before(leaseEnd) {
		return lock.ErrNotHeld
	}
	return checkReleased(l.redis.Del(ctx, key).Result())
}

func endedBefore(value string, currentTime time.Time) bool {
	end, err := strconv.ParseInt(value, 10, 64)
	return err == nil && end < currentTime.UnixMilli()
}

// An endlessLock has no lease, so its key may stay for ever.
type endlessLock struct{ keyLock }

// Clear removes the lock of a dead holder.
func (l *endlessLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}

// checkReleased returns the error of a release that deleted the given number
// of keys. It returns ErrNotHeld if no key was deleted, or if another program
// has replaced the key by one of another type.
func checkReleased(keys int64, err error) error {
	switch {
	case err == nil && keys > 0:
		return nil
	case err == nil, isOtherType(err):
		return lock.ErrNotHeld
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// releaseByToken runs a script that releases a lock if it still has the
// caller's token. It repeats the script when the connection breaks, because
// the lock would otherwise stay until its lease ends.
func releaseByToken(
	ctx context.Context, in redis.Scripter,
	release *redis.Script, keys []string, args ...any,
) error {
	return lock.ReleaseByToken(ctx, func() error {
		return checkReleased(release.Run(ctx, in, keys, args...).Int64())
	})
}

// isOtherType reports whether err says that the key is a list, a hash or
// another type. Such a key is the lock of another program.
func isOtherType(err error) bool {
	return err != nil && strings.Contains(err.Error(), "WRONGTYPE")
}
