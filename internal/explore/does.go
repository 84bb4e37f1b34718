package explore

import (
	"context"
	"errors"
	"fmt"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/wire"
)

// Does is what an actor does.
type Does string

// What actors do.
const (
	Buys     Does = "buys"
	Cancels  Does = "cancels"
	Locks    Does = "locks"
	Resets   Does = "resets"
	Starts   Does = "starts"
	Forgets  Does = "forgets"
	Accepts  Does = "accepts"
	Asks     Does = "asks"
	Pays     Does = "pays"
	Releases Does = "releases"
	PaysLate Does = "pays late"
	Sweeps   Does = "sweeps"
)

// An actorKind is one kind of actor.
type actorKind struct {
	next Does // what the next buyer does, after all others are done; "": buys
	// can: a strategy can be asked to; nil: every one can.
	can func(catalog.Info) bool
	// prepare is what must be there before the actors come.
	prepare func(ctx context.Context, w *World, first *process, b Buyer) error
	perform func(ctx context.Context, w *World, p *process, o *Outcome)
	// told is what the actor knows, for the ledger's judge; nil: nothing.
	told func(*World, Outcome) []ledger.Told
	// answer is what it was told, in words, when it worked.
	answer func(Outcome) string
}

var actorKinds = map[Does]actorKind{
	// It calls the strategy's Deduct.
	Buys: {
		perform: deduct,
		told:    tellPurchase,
		answer:  sold,
	},
	// It takes the lock, works a step, and frees it: no stock.
	Locks: {
		next:    Locks,
		can:     func(i catalog.Info) bool { return i.Locker != nil },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) { o.Err = w.hold(ctx, p) },
		answer:  func(Outcome) string { return "had the lock" },
	},
	// It sets the sale anew.
	Resets: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = p.Reset(ctx, w.sku, skuName, w.stock)
		},
		answer: func(Outcome) string { return "the sale was set anew" },
	},
	// It is the moment at which the sale begins: until then it is scheduled for later.
	Starts: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			if err := p.In.DB.WithContext(ctx).Exec("UPDATE stock SET starts_at = 1 WHERE id = ?", w.sku).Error; err != nil {
				o.Err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
			}
		},
		answer: func(Outcome) string { return "the sale has begun" },
	},
	// It is a Redis that comes back without its data, where the row has the last word, and
	// a buyer for whom the number is made anew, all in one step.
	Forgets: {
		can: func(i catalog.Info) bool { return i.Stock == ledger.InRowAndRedis },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = tap.Do(ctx, Work, func() *tap.Command {
				return &tap.Command{Name: "loses its data", Text: "loses its data"}
			}, func(context.Context) (err error) {
				untapped, number := context.Background(), fmt.Sprintf("seckill:stock:%d", w.sku)
				for _, key := range []string{number, "{" + number + "}:run", "{" + number + "}:buyers", "{" + number + "}:open"} {
					err = errors.Join(err, p.In.Redis.Del(untapped, key).Err())
				}
				if err == nil {
					o.Receipt, err = p.Strategy.Deduct(untapped, w.purchase(o.Buyer))
				}
				return err
			})
		},
		told:   tellPurchase,
		answer: sold,
	},
	Accepts: accepts,
	Asks:    asks,

	// These are at one order, or reservation, that was placed before they came. Several may
	// be at the same (Buyer.Same). They ask again when that failed (Buyer.Again).
	Cancels:  atOrder(ledger.OutcomeSold, "cancelled", ledger.CallCancel, ledger.OutcomeCancelled, asking(seckill.Strategy.Restore)),
	Pays:     atReservation("paid", ledger.CallPay, ledger.OutcomeSold, asking(seckill.Reserver.Pay, seckill.ErrExpired, seckill.ErrCancelled)),
	PaysLate: atReservation("paid", ledger.CallPay, ledger.OutcomeSold, payLate),
	Releases: atReservation("cancelled", ledger.CallCancel, ledger.OutcomeCancelled, asking(seckill.Reserver.Release, seckill.ErrPaid)),
	Sweeps:   atReservation("swept", "", "", sweep),
}

// ask sends a request, and sends it again while its answer is not final (Buyer.Again).
func (o *Outcome) ask(ctx context.Context, send func() (final bool)) {
	for n := 0; n <= o.Again && ctx.Err() == nil; n++ {
		if send() {
			return
		}
	}
}

func deduct(ctx context.Context, w *World, p *process, o *Outcome) {
	o.Receipt, o.Err = p.Strategy.Deduct(ctx, w.purchase(o.Buyer))
}

func tellPurchase(w *World, o Outcome) []ledger.Told {
	return []ledger.Told{tell(w.purchase(o.Buyer), o)}
}

func sold(o Outcome) string {
	return fmt.Sprintf("sold %d, %d left", o.Receipt.Quantity, o.Receipt.Remaining)
}

// tell is what a buyer knows of a purchase. Who has died has heard no refusal.
func tell(p seckill.Purchase, o Outcome) ledger.Told {
	t := wire.Told(p, o.Receipt, o.Err)
	if o.Dead && o.Err != nil {
		t.Outcome = ledger.OutcomeUnknown
	}
	return t
}

// Work is the backend of a step that is no command of one backend: what a buyer does
// under a lock that protects nothing.
const Work = "work"

func (w *World) hold(ctx context.Context, p *process) error {
	lease, err := p.Locker.Acquire(ctx, w.key(), w.info.LockOptions(w.settings))
	if err != nil {
		return err
	}
	err = tap.Do(lease.Context(), Work, func() *tap.Command {
		return &tap.Command{Name: "work", Text: "works under the lock"}
	}, func(context.Context) error { return nil })
	if left := lease.Release(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}
