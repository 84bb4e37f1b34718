package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// RedisCounter keeps the stock as a number in Redis only. If a process dies
// between DECRBY and the order, its units are lost.
var RedisCounter = family.Strategy(catalog.Info{
	Name:   "redis-counter",
	Source: "B: a stock counter in Redis, which gave out 14 prizes of 10",
	Guarantees: catalog.Sound.
		Holds(catalog.OtherSKUs).
		Breaks(catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.Cancel, catalog.Restock,
			catalog.SameKey, catalog.NodeLoss, catalog.SoldOut,
			catalog.BuyerLeaves),
	Redis:  []string{"MULTI", "DECRBY", "GET", "EXEC"},
	Stock:  seckill.InRedis,
	Stored: catalog.Stored{RedisKeys: scriptKeys},
	Also:   []string{"give_back.lua", "number.go", "seed.lua", "count.lua"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisCounter{number{d.Redis, d.Ledger}}, nil
	},
})

type redisCounter struct{ number }

func (s *redisCounter) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	left, sale, err := s.takeUnits(ctx, p)
	if err != nil {
		return r, err
	}
	run, err := s.runOf(ctx, p.SKU, sale)
	if err == nil && left < 0 {
		err = seckill.ErrSoldOut
	}
	if err != nil {
		return r, s.giveBack(ctx, p.SKU, p.Quantity, sale, err)
	}
	// If the process dies here, nobody ever sells the units that it took.
	r, err = s.store.RecordAlone(ctx, p, run, left)
	if seckill.NothingTaken(err) {
		return r, s.giveBack(ctx, p.SKU, p.Quantity, sale, err)
	}
	return r, err // the order exists, or may exist: keep the units
}

// takeUnits lowers the number. In the same transaction it reads the number's
// sale. The result sale is "" if Redis does not have the sale.
func (s *redisCounter) takeUnits(
	ctx context.Context, p seckill.Purchase,
) (left int64, sale string, err error) {
	var number *redis.IntCmd
	var of *redis.StringCmd
	_, err = s.redis.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		number = tx.DecrBy(ctx, numberKey(p.SKU), p.Quantity)
		of = tx.Get(ctx, saleKey(p.SKU))
		return nil
	})
	switch err = backend.RedisError(err); {
	case errors.Is(err, redis.Nil) && number.Err() == nil:
		err = nil // the sale is missing, so runOf will return an error
	case err != nil && number.Err() == nil:
		// DECRBY may have succeeded, so the outcome is unknown. %v instead of
		// %w hides any other kind of error from errors.Is.
		err = fmt.Errorf("%w: whose sale it is: %v", seckill.ErrUnknown, err)
	}
	return number.Val(), of.Val(), err
}
