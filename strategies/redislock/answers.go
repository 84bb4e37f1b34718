package redislock

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// stockKey names a SKU's lock: one key for all locks, ours and foreign ones.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
}

// freed is what the answer of a release means: how many keys are gone by it.
// A key that is not ours any more, or of another type by now, is not held.
func checkReleased(keys int64, err error) error {
	switch {
	case err == nil && keys > 0:
		return nil
	case err == nil, isOtherType(err):
		return lock.ErrNotHeld
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// freedByToken is freed for a release that looks whose lock it is: it is tried
// again when the connection breaks, or the lock would stay for its lease.
func releaseByToken(
	ctx context.Context, in redis.Scripter,
	release *redis.Script, keys []string, args ...any,
) error {
	return lock.FreeByToken(ctx, func() error {
		return checkReleased(release.Run(ctx, in, keys, args...).Int64())
	})
}

// otherType: the key is a list, a hash … and so another client's lock.
func isOtherType(err error) bool {
	return err != nil && strings.Contains(err.Error(), "WRONGTYPE")
}

// undoing is for taking back what an attempt may have done although its reply
// was lost: it goes on when the buyer, perhaps the very reason of that, has
// gone. If Redis cannot be reached now either, the key ends with its lease.
func undoing(ctx context.Context) (context.Context, context.CancelFunc) {
	return tap.WithTimeout(context.WithoutCancel(ctx), time.Second)
}
