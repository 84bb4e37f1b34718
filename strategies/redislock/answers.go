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

// stockKey names a SKU's lock. Our locks and those of other programs use the
// same key.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
}

// A keyLock has what the locks on one Redis server share.
type keyLock struct {
	redis   redis.UniversalClient
	poll    time.Duration    // the pause between two attempts
	ttl     time.Duration    // the lease, unless Options name another
	maxHold time.Duration    // then the lease is not renewed any more; 0: never
	now     func() time.Time // the clock of this process
}

func newKeyLock(d catalog.Deps) keyLock {
	return keyLock{d.Redis, d.Settings.LockPoll, d.Settings.LockLease,
		d.Settings.MaxHold, d.Now}
}

// deleteUntil deletes the key, whoever owns it, unless the lock has expired by
// the clock of this process.
func (l *keyLock) deleteUntil(
	ctx context.Context, key string, until time.Time,
) error {
	if !l.now().Before(until) {
		return lock.ErrNotHeld
	}
	return checkReleased(l.redis.Del(ctx, key).Result())
}

// endedBefore reports whether the value is a time, in milliseconds, before
// now.
func endedBefore(value string, now time.Time) bool {
	until, err := strconv.ParseInt(value, 10, 64)
	return err == nil && until < now.UnixMilli()
}

// An endlessLock has a key that may stay for ever.
type endlessLock struct{ keyLock }

// Clear removes the lock of a holder that will not release it.
func (l *endlessLock) Clear(ctx context.Context, key string) error {
	return l.redis.Del(ctx, key).Err()
}

// checkReleased turns the answer of a release, the number of deleted keys,
// into its error. The lock was not held any more if no key was deleted or if
// the key has another type by now.
func checkReleased(keys int64, err error) error {
	switch {
	case err == nil && keys > 0:
		return nil
	case err == nil, isOtherType(err):
		return lock.ErrNotHeld
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// releaseByToken runs a script that releases a lock if it is still the
// caller's. It repeats the script when the connection breaks. Otherwise the
// lock would stay until its lease ends.
func releaseByToken(
	ctx context.Context, in redis.Scripter,
	release *redis.Script, keys []string, args ...any,
) error {
	return lock.ReleaseByToken(ctx, func() error {
		return checkReleased(release.Run(ctx, in, keys, args...).Int64())
	})
}

// isOtherType reports whether the key is a list, a hash or another type, and
// so the lock of another program.
func isOtherType(err error) bool {
	return err != nil && strings.Contains(err.Error(), "WRONGTYPE")
}
