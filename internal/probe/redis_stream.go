package probe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// idleFor is longer than any lease.
const idleFor = time.Hour

// idle makes the entries of a SKU's stream that were read look as if that had
// been long ago: others may take them over. It says for how many it did so.
func (p *redisProbe) idle(ctx context.Context, key string) (did string, err error) {
	sku, ours := strings.CutPrefix(key, "seckill:lock:stock:")
	if !ours || p.one == nil {
		return "", nil
	}
	stream := "{seckill:stream:" + sku + "}:orders"
	if n, err := p.one.Exists(ctx, stream).Result(); n == 0 || err != nil {
		return "", err
	}
	const group, most = "writers", 1000
	read, err := p.one.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: stream, Group: group, Start: "-", End: "+", Count: most}).Result()
	if err != nil {
		return "", err
	}
	aged := 0
	for _, e := range read {
		if e.Idle >= idleFor/2 {
			continue
		}
		err := p.one.Do(ctx, "XCLAIM", stream, group, e.Consumer, 0, e.ID, "IDLE", idleFor.Milliseconds(), "JUSTID").Err()
		if err != nil {
			return "", err
		}
		aged++
	}
	if aged == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d entries of the stream may be taken over", aged), nil
}
