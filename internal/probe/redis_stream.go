package probe

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// age makes the entries of a stream that were read look as if that had been ARGV[1] ms
// ago, which is longer than any lease: others may take them over.
const age = `
local aged = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
	for _, e in ipairs(redis.call('XPENDING', KEYS[1], 'writers', '-', '+', 1000)) do
		if e[3] < ARGV[1] / 2 then
			redis.call('XCLAIM', KEYS[1], 'writers', e[2], 0, e[1], 'IDLE', ARGV[1], 'JUSTID')
			aged = aged + 1
		end
	end
end
return aged`

// idle ages the entries of a SKU's stream. It says for how many it did so.
func (p *redisProbe) idle(ctx context.Context, key string) (did string, err error) {
	sku, ours := strings.CutPrefix(key, "seckill:lock:stock:")
	if !ours || p.one == nil {
		return "", nil
	}
	aged, err := p.one.Eval(ctx, age, []string{"{seckill:stream:" + sku + "}:orders"}, time.Hour.Milliseconds()).Int()
	if aged == 0 {
		return "", err
	}
	return fmt.Sprintf("%d entries of the stream may be taken over", aged), err
}
