package counter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// RedisMulti keeps the stock as a number in Redis only, with optimistic
// locking (WATCH, MULTI, EXEC). If a process dies between EXEC and the order,
// its units are lost.
var RedisMulti = family.Strategy(catalog.Info{
	Name:       "redis-multi",
	Source:     "E: comparison with Redis transactions",
	Guarantees: RedisCounter.Guarantees,
	Redis:      []string{"WATCH", "MGET", "MULTI", "SET", "EXEC", "UNWATCH"},
	Stock:      seckill.InRedis,
	Stored:     catalog.Stored{RedisKeys: scriptKeys},
	Also:       []string{"number.go", "seed.lua", "count.lua", "give_back.lua"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisMulti{number{d.Redis, d.Ledger},
			d.Settings.Retries}, nil
	},
})

type redisMulti struct {
	number
	retries int
}

func (s *redisMulti) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.retryConflicts(ctx, p)
	if err != nil {
		return r, err
	}
	// If the process dies here, nobody ever sells the units that it took.
	r, err = s.store.RecordAlone(ctx, p, got.run, got.left)
	if seckill.NothingTaken(err) {
		return r, s.giveBack(ctx, p.SKU, p.Quantity, got.sale, err)
	}
	return r, err // the order exists, or may exist: keep the units
}

type takenUnits struct {
	left, run int64
	sale      string
}

// retryConflicts tries again after a conflict. Random pauses, up to a limit
// that doubles, keep the losers from trying again at the same moment.
func (s *redisMulti) retryConflicts(
	ctx context.Context, p seckill.Purchase,
) (takenUnits, error) {
	for n := 0; ; n++ {
		got, err := s.tryTake(ctx, p)
		if !errors.Is(err, seckill.ErrConflict) || n >= s.retries {
			return got, err
		}
		pause := rand.N(min(time.Millisecond<<min(n, 10), maxPause))
		if tap.Sleep(ctx, pause) != nil {
			return got, err // no time is left, so report the conflict
		}
	}
}

const maxPause = 32 * time.Millisecond

// tryTake makes one attempt. It watches the number and its sale, so a reset
// before EXEC is a conflict. One MGET reads both keys, so no reset can happen
// between the two reads.
func (s *redisMulti) tryTake(
	ctx context.Context, p seckill.Purchase,
) (got takenUnits, err error) {
	tried := false // true once EXEC may have taken units
	err = s.redis.Watch(ctx, func(tx *redis.Tx) error {
		found, err := tx.MGet(ctx,
			numberKey(p.SKU), saleKey(p.SKU)).Result()
		if err != nil {
			return err
		}
		text, _ := found[0].(string)
		num, notNumber := strconv.ParseInt(text, 10, 64)
		got.sale, _ = found[1].(string)
		if got.run, err = s.runOf(ctx, p.SKU, got.sale); err != nil {
			return err
		}
		if notNumber != nil {
			return s.missing(ctx, p.SKU)
		}
		if got.left = num - p.Quantity; got.left < 0 {
			return seckill.ErrSoldOut
		}
		tried = true
		_, err = tx.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			tx.Set(ctx, numberKey(p.SKU), got.left, 0)
			return nil
		})
		return err
	}, numberKey(p.SKU), saleKey(p.SKU))
	switch {
	case err == nil || seckill.NothingTaken(err):
		return got, err
	case errors.Is(err, redis.TxFailedErr):
		return got, fmt.Errorf("%w: the number changed before EXEC",
			seckill.ErrConflict)
	case tried, errors.Is(err, redis.ErrPoolTimeout):
		return got, backend.RedisError(err)
	}
	return got, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}
