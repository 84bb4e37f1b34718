package counter

import (
	"context"
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed redis_counter.go give_back.lua number.go seed.lua count.lua
//go:embed redis_counter.en.md redis_counter.zh.md
var redisCounterFiles embed.FS

//go:embed give_back.lua
var giveBackLua string

var giveBackScript = redis.NewScript(giveBackLua)

// RedisCounter is the stock as a number in Redis, and nothing behind it.
var RedisCounter = catalog.Info{
	Name:   "redis-counter",
	Title:  "A number in Redis: DECR",
	Family: "counter",
	Source: "B: the counter that gave fourteen of ten prizes",
	Idea: "DECRBY the number; if it fell below zero, INCRBY what was " +
		"taken and say sold out. Otherwise the order follows in MySQL.",
	Promises: "While Redis and all buyers are well nothing is oversold " +
		"and no update is lost, across any number of processes: Redis " +
		"runs one command at a time, and a number below zero sells to " +
		"nobody. A number that is missing sells to nobody either. " +
		"Nothing is ever held, so a hung buyer blocks nobody.",
	Breaks: "Number and order are two servers' and no transaction spans " +
		"them. A buyer who dies between DECRBY and his order's COMMIT, " +
		"by a crash or a power cut alike, has taken units that nobody " +
		"gets; so has one whose reply, or whose COMMIT's reply, was " +
		"lost: he cannot know, and giving back what may be sold would " +
		"oversell. A Redis that comes back with an older number, from " +
		"its last snapshot or by a failover to a replica that had not " +
		"heard of the last sales yet, sells those units again: ten " +
		"prizes, fourteen given. And with all well, whoever asks for " +
		"more than is left hides the rest from others until he has " +
		"given back: they are told sold out too early.",
	Guarantees: catalog.Guarantees{
		catalog.S: catalog.Holds, catalog.M: catalog.Holds,
		catalog.C: catalog.Breaks, catalog.N: catalog.Breaks,
		catalog.I: catalog.Holds,
	},
	Needs: []backend.Capability{backend.SQL, backend.Redis},
	Stock: ledger.HomeRedis,
	Files: redisCounterFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisCounter{number{d.Redis, d.Ledger}}, nil
	},
}

type redisCounter struct{ number }

func (s *redisCounter) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	left, run, err := s.take(ctx, p)
	if err != nil {
		return r, err
	}
	if left < 0 {
		refusal := seckill.ErrSoldOut
		if run == 0 {
			refusal = s.missing(ctx, p.SKU)
		}
		return r, s.giveBack(ctx, p.SKU, p.Quantity, run, refusal)
	}
	// Whoever dies here has taken units that nobody gets.
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		r, err = s.store.Record(tx, p, run, left)
		return err
	})
	if seckill.NothingTaken(err) {
		return r, s.giveBack(ctx, p.SKU, p.Quantity, run, err)
	}
	return r, err // sold; or unknown, and then nothing may be given back
}

// take lowers the number and reads, in the same breath, which sale's number it
// is; 0 if there was none.
func (s *redisCounter) take(
	ctx context.Context, p seckill.Purchase,
) (left, run int64, err error) {
	var number *redis.IntCmd
	var of *redis.StringCmd
	_, err = s.redis.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		number = tx.DecrBy(ctx, numberKey(p.SKU), p.Quantity)
		of = tx.Get(ctx, runKey(p.SKU))
		return nil
	})
	if err == redis.Nil && number.Err() == nil {
		return -1, 0, nil // a number without a run is no sale's
	}
	if err != nil {
		return 0, 0, sent(err)
	}
	run, err = of.Int64()
	return number.Val(), run, err
}

// giveBack returns why, unless nobody knows whether the units came back.
func (s *redisCounter) giveBack(
	ctx context.Context, sku, quantity, run int64, why error,
) error {
	ctx, cancel := after(ctx)
	defer cancel()
	of := any(run)
	if run == 0 {
		of = ""
	}
	err := giveBackScript.Run(ctx, s.redis,
		[]string{numberKey(sku), runKey(sku)}, quantity, of).Err()
	if err != nil {
		return fmt.Errorf("%w: the units may not have come back: %w",
			seckill.ErrUnknown, err)
	}
	return why
}

// Restore cancels first: the other way round, whoever fails in between could
// give the same units back twice. This way they are lost.
func (s *redisCounter) Restore(ctx context.Context, orderID string) error {
	var o ledger.Order
	var back bool
	err := s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		o, back, err = s.store.Cancel(tx, orderID)
		return err
	})
	if err != nil || !back {
		return err
	}
	return s.giveBack(ctx, o.SKUID, o.Quantity, o.Run, nil)
}
