package counter

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed redis_multi.go number.go seed.lua count.lua
//go:embed redis_multi.en.md redis_multi.zh.md
var redisMultiFiles embed.FS

// RedisMulti is optimistic locking of the number in Redis.
var RedisMulti = catalog.Info{
	Name:   "redis-multi",
	Title:  "A number in Redis: WATCH, MULTI, EXEC",
	Family: "counter",
	Source: "E: comparison with Redis transactions",
	Idea: "WATCH the number, read it, compute, and write the result in " +
		"MULTI/EXEC, which Redis refuses if the number changed since. " +
		"Then start over. The order follows in MySQL.",
	Promises: "As redis-counter: nothing oversold, no update lost while " +
		"Redis and all buyers are well. And the number never falls " +
		"below zero, not even for a moment: whoever asks for too much " +
		"changes nothing, so nobody is told sold out too early.",
	Breaks: "As redis-counter: a buyer who dies between EXEC and his " +
		"order's COMMIT, or whose reply is lost, has taken units that " +
		"nobody gets, and a Redis that comes back with an older number " +
		"oversells. It costs more: three round trips on a connection " +
		"that is one buyer's meanwhile, and under contention most " +
		"attempts are wasted, until a buyer is told conflict though " +
		"units are left. It cannot be had everywhere: proxies such as " +
		"Codis and Twemproxy, which share connections, refuse WATCH " +
		"and MULTI; a Cluster allows them for keys of one slot only, " +
		"which a hash tag sees to. A Lua script does the same in one " +
		"command and cannot be disturbed.",
	Guarantees: catalog.Guarantees{
		catalog.S: catalog.Holds, catalog.M: catalog.Holds,
		catalog.C: catalog.Breaks, catalog.N: catalog.Breaks,
		catalog.I: catalog.Holds,
	},
	Needs: []backend.Capability{backend.SQL, backend.Redis},
	Stock: ledger.HomeRedis,
	Options: []catalog.Option{{Flag: "--retries",
		Doc: "further attempts after a conflict; 0 reports the first"}},
	Files: redisMultiFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &redisMulti{number{d.Redis, d.Ledger},
			d.Settings.Retries, d.Observe}, nil
	},
}

type redisMulti struct {
	number
	retries int
	observe seckill.Observer
}

func (s *redisMulti) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	left, run, err := s.retry(ctx, p)
	if err != nil {
		return r, err
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

// retry takes again after a conflict. Pauses double and are drawn at random,
// or the losers would meet again at once.
func (s *redisMulti) retry(
	ctx context.Context, p seckill.Purchase,
) (left, run int64, err error) {
	for n := 0; ; n++ {
		left, run, err = s.take(ctx, p)
		if !errors.Is(err, seckill.ErrConflict) || n >= s.retries {
			return left, run, err
		}
		s.observe.Retried()
		pause := rand.N(min(time.Millisecond<<min(n, 10), maxPause))
		if tap.Sleep(ctx, pause) != nil {
			return 0, 0, err // his time is up: conflict, as it stands
		}
	}
}

const maxPause = 32 * time.Millisecond

// take is one attempt. The run is watched with the number: a reset between
// the two reads of one MGET is impossible, one before EXEC is a conflict.
func (s *redisMulti) take(
	ctx context.Context, p seckill.Purchase,
) (left, run int64, err error) {
	tried := false // to write: until then nothing can have been taken
	err = s.redis.Watch(ctx, func(tx *redis.Tx) error {
		found, err := tx.MGet(ctx, numberKey(p.SKU), runKey(p.SKU)).Result()
		if err != nil {
			return err
		}
		num, isNumber := integer(found[0])
		of, isSet := integer(found[1])
		if !isNumber || !isSet {
			return s.missing(ctx, p.SKU)
		}
		if left, run = num-p.Quantity, of; left < 0 {
			return seckill.ErrSoldOut
		}
		tried = true
		_, err = tx.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			tx.Set(ctx, numberKey(p.SKU), left, 0)
			return nil
		})
		return err
	}, numberKey(p.SKU), runKey(p.SKU))
	switch {
	case err == nil || seckill.NothingTaken(err):
		return left, run, err
	case errors.Is(err, redis.TxFailedErr):
		return 0, 0, fmt.Errorf("%w: the number changed before EXEC",
			seckill.ErrConflict)
	case !tried:
		return 0, 0, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return 0, 0, sent(err)
}

func integer(found any) (int64, bool) {
	text, ok := found.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil
}

// giveBack returns why, unless nobody knows whether the units came back. Only
// the run is watched: INCRBY does not care what the number is, but it must be
// the same sale's. A conflict means a reset, which the next look confirms.
func (s *redisMulti) giveBack(
	ctx context.Context, sku, quantity, run int64, why error,
) error {
	ctx, cancel := after(ctx)
	defer cancel()
	back := func(tx *redis.Tx) error {
		of, err := tx.Get(ctx, runKey(sku)).Int64()
		if err == redis.Nil || err == nil && of != run {
			return nil // that sale is over, and its number with it
		}
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			tx.IncrBy(ctx, numberKey(sku), quantity)
			return nil
		})
		return err
	}
	err := s.redis.Watch(ctx, back, runKey(sku))
	if errors.Is(err, redis.TxFailedErr) {
		err = s.redis.Watch(ctx, back, runKey(sku))
	}
	if err != nil {
		return fmt.Errorf("%w: the units may not have come back: %w",
			seckill.ErrUnknown, err)
	}
	return why
}

// Restore cancels first: the other way round, whoever fails in between could
// give the same units back twice. This way they are lost.
func (s *redisMulti) Restore(ctx context.Context, orderID string) error {
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
