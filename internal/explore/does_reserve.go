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

// Actors at one reservation that was made before they came. Several may be at
// the same (Buyer.Same). Its deadline is far away until a sweeper has the time
// pass: so the scheduler decides what is in time.
var (
	// pays pays it, and again when that failed (Buyer.Again).
	pays = reserving(Pays, "paid", ledger.CallPay, ledger.OutcomeSold, asking(seckill.Reserver.Pay, seckill.ErrExpired, seckill.ErrCancelled))

	// releases cancels it, and again when that failed.
	releases = reserving(Releases, "cancelled", ledger.CallCancel, ledger.OutcomeCancelled, asking(seckill.Reserver.Release, seckill.ErrPaid))

	// paysLate pays it when the deadline has passed.
	paysLate = reserving(PaysLate, "paid", ledger.CallPay, ledger.OutcomeSold,
		func(ctx context.Context, w *World, p *process, o *Outcome) {
			if o.Err = w.overdue(ctx, p); o.Err == nil {
				asking(seckill.Reserver.Pay)(ctx, w, p, o)
			}
		})

	// sweeps has the deadline pass, and sweeps.
	sweeps = reserving(Sweeps, "swept", "", "", func(ctx context.Context, w *World, p *process, o *Outcome) {
		err := w.overdue(ctx, p)
		if err == nil {
			_, err = p.Strategy.(seckill.Reserver).Expire(ctx)
		}
		if err != nil && !seckill.NothingTaken(err) {
			err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		}
		o.Err = err
	})
)

// performs is what an actor does.
type performs = func(context.Context, *World, *process, *Outcome)

// asking asks something of the reservation, and again when that failed for another reason
// than one of those that are final.
func asking(of func(seckill.Reserver, context.Context, string) error, final ...error) performs {
	return func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.ask(ctx, func() bool {
			o.Err = of(p.Strategy.(seckill.Reserver), ctx, w.placed[o.owner()].OrderID)
			return o.Err == nil || slices.ContainsFunc(final, func(f error) bool { return errors.Is(o.Err, f) })
		})
	}
}

// overdue has the deadline of what is still reserved pass.
func (w *World) overdue(ctx context.Context, p *process) error {
	return p.In.DB.WithContext(ctx).Exec("UPDATE reservations SET ends_at = '2000-01-01' "+
		"WHERE sku_id = ? AND state = 'reserved' AND ends_at > '2000-01-02'", w.sku).Error
}

// reserving is an actor at a reservation. asked is what it asks of it, and done what it
// is told when that worked; answer is the same in words.
func reserving(name Does, answer string, asked ledger.Call, done ledger.Outcome, perform performs) (d actorKind) {
	d.next = Sweeps // what a dead sweeper has left is given back
	d.perform, d.answer = perform, func(Outcome) string { return answer }
	d.can = func(i catalog.Info) bool { return i.Reserves }
	d.prepare = func(ctx context.Context, w *World, first *process, b Buyer) error {
		if _, there := w.placed[b.owner()]; there {
			return nil
		}
		r, err := first.Strategy.(seckill.Reserver).Reserve(ctx, w.purchase(b), time.Hour)
		if err != nil {
			return fmt.Errorf("make the reservation that %s %s: %w", b.Name, name, err)
		}
		w.placed[b.owner()] = r
		return nil
	}
	d.told = func(w *World, o Outcome) (told []ledger.Told) {
		if o.Name == NextBuyer {
			return nil
		}
		t := tell(w.purchase(o.Buyer), Outcome{Receipt: w.placed[o.owner()]})
		if o.Same == "" { // the reservation, once
			t.Outcome = ledger.OutcomeReserved
			told = append(told, t)
		}
		if asked == "" {
			return told
		}
		t.Call, t.Outcome, t.Late = asked, ledger.OutcomeUnknown, name == PaysLate
		switch {
		case o.Err == nil && !o.Dead:
			t.Outcome = done
		case errors.Is(o.Err, seckill.ErrExpired) && !o.Dead:
			t.Outcome = ledger.OutcomeExpired
		case o.NothingTaken():
			t.Outcome = ledger.OutcomeError
		}
		return append(told, t)
	}
	return d
}
