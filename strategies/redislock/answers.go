package redislock

import (
	"context"
	"fmt"
	"strings"
	"time"

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
func freed(keys int64, err error) error {
	switch {
	case err == nil && keys > 0:
		return nil
	case err == nil, otherType(err):
		return lock.ErrNotHeld
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// otherType: the key is a list, a hash … and so another client's lock.
func otherType(err error) bool {
	return err != nil && strings.Contains(err.Error(), "WRONGTYPE")
}

// undoing is for taking back what an attempt may have done although its reply
// was lost: it goes on when the buyer, perhaps the very reason of that, has
// gone. If Redis cannot be reached now either, the key ends with its lease.
func undoing(ctx context.Context) (context.Context, context.CancelFunc) {
	return tap.WithTimeout(context.WithoutCancel(ctx), time.Second)
}
