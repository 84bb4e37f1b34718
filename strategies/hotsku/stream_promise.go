package hotsku

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
)

// Accept answers as soon as the entry is in the stream: the worker of this
// process writes the order, or any other consumer if this one dies.
func (s *redisStream) Accept(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, written bool, err error) {
	end := time.Now().Add(s.deps.Settings.LockWait)
	r, written, _, err = s.admit(ctx, p, end)
	if err == nil && !written {
		s.wake()
	}
	return r, written, err
}

// Became asks the streams, and then the refusals of the ledger: Redis may have
// lost what it remembered.
func (s *redisStream) Became(
	ctx context.Context, sku, user int64, requestID string,
) error {
	err := s.remembered(ctx, sku, user, requestID)
	if !errors.Is(err, seckill.ErrUnknownOrder) &&
		!errors.Is(err, seckill.ErrUnavailable) {
		return err
	}
	name, found := s.store.Refused(ctx, sku, user, requestID)
	switch {
	case found == nil:
		return refusedFor(strings.ReplaceAll(name, "_", " "))
	case !errors.Is(found, seckill.ErrUnknownOrder):
		return found
	}
	return err
}

// remembered is what Redis says of a request.
func (s *stream) remembered(
	ctx context.Context, sku, user int64, requestID string,
) error {
	skus := []int64{sku}
	for after := int64(0); ; {
		if sku == 0 {
			page, err := s.store.SKUs(ctx, after, mostAsked)
			if err != nil {
				return err
			}
			skus = skus[:0]
			for _, one := range page {
				skus = append(skus, one.ID)
				after = one.ID
			}
		}
		err := s.rememberedOf(ctx, skus, fmt.Sprint(user, " ", requestID))
		if !errors.Is(err, seckill.ErrUnknownOrder) || len(skus) < mostAsked {
			return err
		}
	}
}

func (s *stream) rememberedOf(
	ctx context.Context, skus []int64, who string,
) error {
	states, sales := make([]*redis.StringCmd, len(skus)),
		make([]*redis.StringCmd, len(skus))
	_, _ = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, sku := range skus {
			states[i] = p.HGet(ctx, beside(sku, "requests"), who)
			sales[i] = p.Get(ctx, beside(sku, "run"))
		}
		return nil
	})
	lost := seckill.ErrUnknownOrder // if no SKU knows the request
	for i := range skus {
		// On a Cluster a shard of some SKUs may be down while others answer.
		for _, err := range []error{states[i].Err(), sales[i].Err()} {
			if err != nil && !errors.Is(err, redis.Nil) {
				lost = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
			}
		}
		run, err := s.runOf(ctx, sales[i].Val())
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(states[i].Val(), " ")
		switch {
		case run == 0 || word == "": // another database's, or nothing
		case word == "open":
			return seckill.ErrPending
		case word == "sold":
			return nil
		case word == "refused":
			return refusedFor(rest)
		}
	}
	return lost
}
