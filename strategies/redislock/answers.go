package redislock

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// stockKey names a SKU's lock. Our locks and those of other programs use the
// same key.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
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
