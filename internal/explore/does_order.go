package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// performs is what an actor does.
type performs = func(context.Context, *World, *process, *Outcome)

// asking asks something of the order, and again when that failed for another reason than
// one of those that are final.
func asking[S any](of func(S, context.Context, string) error, final ...error) performs {
	return func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.ask(ctx, func() bool {
			o.Err = of(p.Strategy.(S), ctx, w.placed[o.owner()].OrderID)
			return o.Err == nil || slices.ContainsFunc(final, func(f error) bool { return errors.Is(o.Err, f) })
		})
	}
}

// payLate pays when the deadline has passed.
func payLate(ctx context.Context, w *World, p *process, o *Outcome) {
	if o.Err = w.overdue(ctx, p); o.Err == nil {
		asking(seckill.Reserver.Pay)(ctx, w, p, o)
	}
}

// sweep has the deadline pass, and sweeps.
func sweep(ctx context.Context, w *World, p *process, o *Outcome) {
	err := w.overdue(ctx, p)
	if err == nil {
		_, err = p.Strategy.(seckill.Reserver).Expire(ctx)
	}
	if err != nil && !seckill.NothingTaken(err) {
		err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	o.Err = err
}

// overdue has the deadline of what is still reserved pass.
func (w *World) overdue(ctx context.Context, p *process) error {
	return p.In.DB.WithContext(ctx).Exec("UPDATE reservations SET ends_at = '2000-01-01' "+
		"WHERE sku_id = ? AND state = 'reserved' AND ends_at > '2000-01-02'", w.sku).Error
}

// atReservation is an actor at a reservation. Its deadline is far away until an actor has
// the time pass: so the scheduler decides what is in time.
func atReservation(answer string, asked ledger.Call, done ledger.Outcome, perform performs) actorKind {
	d := atOrder(ledger.OutcomeReserved, answer, asked, done, perform)
	d.next = Sweeps // what a dead sweeper has left is given back
	d.can = func(i catalog.Info) bool { return i.Reserves }
	return d
}

// atOrder is an actor at an order whose buyer was told placed. asked is what it asks of
// it, and done what it is told when that worked; answer is the same in words.
func atOrder(placed ledger.Outcome, answer string, asked ledger.Call, done ledger.Outcome, perform performs) actorKind {
	return actorKind{
		perform: perform,
		answer:  func(Outcome) string { return answer },
		prepare: func(ctx context.Context, w *World, first *process, b Buyer) (err error) {
			if _, there := w.placed[b.owner()]; there {
				return nil
			}
			var r seckill.Receipt
			if placed == ledger.OutcomeReserved {
				r, err = first.Strategy.(seckill.Reserver).Reserve(ctx, w.purchase(b), time.Hour)
			} else {
				r, err = first.Strategy.Deduct(ctx, w.purchase(b))
			}
			if err != nil {
				return fmt.Errorf("place the order that %s %s: %w", b.Name, b.Does, err)
			}
			w.placed[b.owner()] = r
			return nil
		},
		told: func(w *World, o Outcome) (told []ledger.Told) {
			if o.Name == NextBuyer {
				return nil
			}
			t := tell(w.purchase(o.Buyer), Outcome{Receipt: w.placed[o.owner()]})
			if o.Same == "" { // the order, once
				t.Outcome = placed
				told = append(told, t)
			}
			if asked == "" {
				return told
			}
			t.Call, t.Outcome, t.Late = asked, ledger.OutcomeUnknown, o.Does == PaysLate
			switch {
			case o.Err == nil:
				t.Outcome = done
			case o.Dead: // and has heard no refusal
			case errors.Is(o.Err, seckill.ErrExpired):
				t.Outcome = ledger.OutcomeExpired
			case seckill.NothingTaken(o.Err):
				t.Outcome = ledger.OutcomeError
			}
			return append(told, t)
		},
	}
}
