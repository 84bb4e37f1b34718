package explore

import (
	"context"
	"errors"
	"fmt"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// judge audits an order that has ended and says what was wrong with it.
func (r *run) judge(ctx context.Context) error {
	snap, err := r.world.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("audit the order: %w", err)
	}
	o := r.order
	o.Audit = ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: r.scenario.Stock, Run: r.world.run,
		HomeOf: catalog.HomeOf([]catalog.Seller{{Info: r.world.info}}), Told: r.world.told(o)})
	o.Problems = problems(o)
	return nil
}

func (w *World) snapshot(ctx context.Context) (ledger.Snapshot, error) {
	p, err := w.process(ctx, nextProcess)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	return catalog.Snapshot(ctx, w.store, w.sku, []catalog.Seller{{Info: w.info, Strategy: p.strategy}})
}

// told is what the buyers know.
func (w *World) told(o *Order) []ledger.Told {
	told := []ledger.Told{}
	for _, b := range o.Buyers {
		if b.Does == Locks || b.Other {
			continue
		}
		p := w.purchase(b.Buyer)
		t := ledger.Told{RequestID: p.RequestID, User: p.User, Quantity: p.Quantity, OrderID: b.Receipt.OrderID,
			Remaining: b.Receipt.Remaining, Outcome: ledger.OutcomeUnknown}
		switch {
		case b.Does == Cancels:
			placed := w.placed[b.Name]
			t.Outcome, t.OrderID, t.Remaining = ledger.OutcomeSold, placed.OrderID, placed.Remaining
			told = append(told, t)
			t.Call, t.Outcome = ledger.CallCancel, ledger.OutcomeUnknown
			if b.Err == nil {
				t.Outcome = ledger.OutcomeCancelled
			}
		case b.Err == nil:
			t.Outcome = ledger.OutcomeSold
		case errors.Is(b.Err, seckill.ErrSoldOut):
			t.Outcome = ledger.OutcomeSoldOut
		case b.NothingTaken():
			t.Outcome = ledger.OutcomeError
		}
		told = append(told, t)
	}
	return told
}

// Faulty reports whether a fault happened in the order.
func (o *Order) Faulty() bool {
	for _, s := range o.Steps {
		nothing := s.Fault == LeaseEnds && s.Command == "" // there was no lease
		if s.Fault != "" && s.Fault != timePasses && !nothing {
			return true
		}
	}
	return false
}

// problems finds whatever must not happen: what the audit says; two holders of
// a lock whose lease had not ended; somebody who is blocked for ever; and, as
// long as nothing went wrong, a buyer who was left in the dark, failed for no
// reason, or waited until a lease ended though everybody had left.
func problems(o *Order) (list []Problem) {
	add := func(rule, format string, args ...any) {
		list = append(list, Problem{rule, fmt.Sprintf(format, args...)})
	}
	sells, otherSKUs := false, false
	for _, b := range o.Buyers {
		sells = sells || b.Does != Locks
		otherSKUs = otherSKUs || b.Other
	}
	for _, v := range o.Audit.Violations {
		if !sells || v.Rule == ledger.RuleNothingSold && o.Faulty() {
			continue // the only buyer who could have may be the one who died
		}
		add(v.Rule, "%s", v.Message)
	}
	for _, v := range o.Overlaps {
		if !v.Excused {
			add(RuleOverlap, "after step %d both %s and %s hold the lock", v.Step+1, v.First, v.Second)
		}
	}
	for _, b := range o.Buyers {
		if errors.Is(b.Err, lock.ErrNotHeld) && !b.Expired {
			add(RuleStolen, "%s held the lock, his lease had not ended, and when he was done it was gone", b.Name)
		}
		switch {
		case b.GaveUp:
			add(RuleStuck, "%s waits, and nobody will ever wake him", b.Name)
		case o.Faulty():
		case b.WaitedFor > 0:
			add(RuleStuck, "%s waited until a lease ended, though everybody had left", b.Name)
		case errors.Is(b.Err, seckill.ErrUnavailable):
			add(RuleError, "%s: %v", b.Name, b.Err)
		case b.Err != nil && !seckill.NothingTaken(b.Err):
			add(RuleUnknown, "%s: %v", b.Name, b.Err)
		}
		if otherSKUs && b.Waited && b.Name != NextBuyer {
			add(RuleHindered, "%s had to wait for the buyer of another SKU", b.Name)
		}
	}
	return list
}
