package counter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/counter"
)

// loses imitates a Redis that comes back without its data. The next buyer sets the number
// again from the row.
func loses(t *testing.T) (sh *shop, before seckill.Receipt) {
	t.Helper()
	sh = open(t, counter.RedisCounterMySQL, 5)
	before = sh.mustBuy(t, 1, 2)
	sh.flush(t)
	// Two processes rebuild the number. The slower one has read the row already, and must not set the number.
	late := &taptest.Nth{N: 3, OnBefore: func() { sh.mustBuy(t, 2, 1) }}
	if _, err := sh.buy(tap.With(t.Context(), late), 9, 3); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("the one who is late wanted 3 of 2: %v", err)
	}
	sh.settled(t, 2)
	return sh, before
}

func (sh *shop) flush(t *testing.T) {
	t.Helper()
	labtest.Must(t, sh.in.Redis.FlushAll(t.Context()).Err())
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
	anew := seckill.Purchase{SKU: sh.SKU, User: 1, Quantity: 1, RequestID: fmt.Sprint("anew", sh.SKU)}
	if _, err := sh.Deduct(t.Context(), anew); err != nil {
		t.Errorf("the same buyer may buy again: %v", err)
	}
	sh.cancels(t, t.Context(), before)
	sh.settled(t, 3)
	sh.mustBuy(t, 3, 3)
	sh.settled(t, 0)
	sh.refused(t, 4, 1, seckill.ErrSoldOut)
}

// Dead between the COMMIT and Redis: found after a lease, and given back once.
func TestDeadWhileCancellingWhatRedisForgot(t *testing.T) {
	sh, before := loses(t)
	alive := sh.other(t)
	alive.mustBuy(t, 8, 1)
	dies := &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
		if c.Name == "COMMIT" {
			sh.in.Kill()
		}
		return err
	}}
	_ = sh.Restore(tap.With(t.Context(), dies), before.OrderID)
	alive.refused(t, 9, 3, seckill.ErrBusy) // 1 left, 2 on their way back
	alive.later()
	alive.mustBuy(t, 9, 3)
	alive.settled(t, 0)
	alive.cancels(t, t.Context(), before)
	alive.settled(t, 0)
}

// The number was made from a row that lacked the order's units. A copy of its request takes none.
func TestACopyOfWhatRedisForgotTakesNothing(t *testing.T) {
	sh, _ := loses(t)
	for range 2 {
		sh.refused(t, 1, 2, seckill.ErrDuplicate)
		sh.settled(t, 2)
	}
	sh.mustBuy(t, 3, 2)
	sh.settled(t, 0)
}
