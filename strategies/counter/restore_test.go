package counter_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies/counter"
)

// A repeater sends every script twice, as a client does that takes a lost
// reply for a lost command.
type repeater struct{ again bool }

func (r *repeater) with(t *testing.T) context.Context {
	t.Cleanup(func() {
		if !r.again {
			t.Error("nothing was repeated")
		}
	})
	return context.WithValue(t.Context(), repeating{}, r)
}

type repeating struct{}

// repeat is a go-redis hook that does what a repeater asks for.
type repeat struct{ tap.RedisHook }

func (repeat) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r, _ := ctx.Value(repeating{}).(*repeater)
		if r != nil && cmd.Name() == "evalsha" {
			r.again = true
			_ = next(ctx, cmd)
		}
		return next(ctx, cmd)
	}
}

// loses plays a Redis that comes back without its data, with the number made
// anew by the next buyer.
func loses(t *testing.T) (sh *shop, before seckill.Receipt) {
	t.Helper()
	sh = open(t, counter.RedisCounterMySQL, 5)
	before = sh.mustBuy(t, 1, 2)
	sh.flush(t)
	sh.mustBuy(t, 2, 1)
	sh.settled(t, 2)
	return sh, before
}

func (sh *shop) flush(t *testing.T) {
	t.Helper()
	if err := sh.in.Redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func (sh *shop) cancels(t *testing.T, ctx context.Context, r seckill.Receipt) {
	t.Helper()
	if err := sh.Restore(ctx, r.OrderID); err != nil {
		t.Errorf("cancel: %v", err)
	}
}

func TestCancelWhatRedisForgot(t *testing.T) {
	sh, before := loses(t)
	other := sh.other(t)
	for range 2 {
		sh.cancels(t, t.Context(), before)
		other.cancels(t, t.Context(), before)
		sh.settled(t, 4)
	}
	anew := seckill.Purchase{SKU: sh.sku, User: 1, Quantity: 1, RequestID: fmt.Sprint("anew", sh.sku)}
	if _, err := sh.Deduct(t.Context(), anew); err != nil {
		t.Errorf("the same buyer may buy again: %v", err)
	}
	sh.cancels(t, t.Context(), before)
	sh.settled(t, 3)
	sh.mustBuy(t, 3, 3)
	sh.settled(t, 0)
	sh.refused(t, 4, 1, seckill.ErrSoldOut)
}

func TestCancelBeforeTheNumberIsMadeAnew(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 5)
	before := sh.mustBuy(t, 1, 2)
	sh.flush(t)
	sh.cancels(t, t.Context(), before)
	sh.settled(t, 5)
	sh.flush(t)
	sh.mustBuy(t, 2, 1)
	sh.cancels(t, t.Context(), before) // whose units the row had long ago
	sh.settled(t, 4)
}

// Dead between the COMMIT and Redis: found after a lease, and given back once.
func TestDeadWhileCancellingWhatRedisForgot(t *testing.T) {
	sh, before := loses(t)
	alive := sh.other(t)
	alive.mustBuy(t, 8, 1)
	m := &meddler{fits: named("COMMIT"), after: func() error {
		sh.in.Kill()
		return nil
	}}
	_ = sh.Restore(m.with(t), before.OrderID)
	alive.refused(t, 9, 3, seckill.ErrBusy) // 1 left, 2 on their way back
	alive.later()
	alive.mustBuy(t, 9, 3)
	alive.settled(t, 0)
	alive.cancels(t, t.Context(), before)
	alive.settled(t, 0)
}
