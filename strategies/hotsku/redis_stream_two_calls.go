package hotsku

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// RedisStreamTwoCalls is redis-stream with two calls instead of one script:
// the first call takes the units, and the second sends the message. If the
// process dies in between, the units are taken and no order is ever written.
// It is broken on purpose.
var RedisStreamTwoCalls = family.Strategy(catalog.Info{
	Name:   "redis-stream-two-calls",
	Source: "common practice: DECR, and then a message to a queue",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LostReply, catalog.LateCommand,
			catalog.Cancel, catalog.Restock, catalog.SameKey,
			catalog.NodeLoss, catalog.BuyerLeaves),
	Repair: "redis-stream",
	Needs:  []backend.Capability{backend.SQL, backend.Redis},
	Redis:  []string{"XADD", "GET", "HGET", "XLEN"},
	Stock:  seckill.InStream,
	Stored: catalog.Stored{Entries: entriesKey},
	Also: []string{
		"stream_accept.lua", "redis_stream.go", "stream_writer.go",
		"stream_next.lua", "stream_settle.lua", "stream_cancel.lua",
		"undo.lua", "stream_seed.lua", "stream_count.lua"},
	Accepts: true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := newRedisStream(d)
		s.accept = s.acceptInTwoCalls
		return s, nil
	},
})

func (s *redisStream) acceptInTwoCalls(
	ctx context.Context, p seckill.Purchase,
) (state string, err error) {
	answer, err := s.runScript(ctx, streamAccept, p.SKU,
		p.Quantity, p.User, p.RequestID)
	state, run, _ := strings.Cut(stringOf(answer), " ")
	if err != nil || state != "accepted" {
		return stringOf(answer), err
	}
	// If the process dies here, the units are taken and no message was sent.
	err = s.redis.XAdd(ctx, &redis.XAddArgs{
		Stream: entriesKey(p.SKU),
		Values: []any{"kind", "buy", "user", p.User, "request", p.RequestID,
			"quantity", p.Quantity, "strategy", s.store.Strategy(),
			"run", run}}).Err()
	return state, backend.RedisError(err)
}
