package explore

import (
	"context"
	"errors"
	"fmt"

	"seckill/internal/ledger"
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
		HomeOf: func(string) (ledger.Home, bool) { return r.world.info.Stock, true }, Told: r.world.told(o)})
	check := r.scenario.Check
	if check == nil {
		check = Sound
	}
	o.Problems = check(o)
	return nil
}

func (w *World) snapshot(ctx context.Context) (ledger.Snapshot, error) {
	snap, err := w.store.Snapshot(ctx, w.sku)
	if err != nil {
		return snap, err
	}
	p, err := w.process(ctx, nextProcess)
	if err != nil {
		return snap, err
	}
	if c, ok := p.strategy.(interface {
		Count(ctx context.Context, sku int64) (int64, error)
	}); ok {
		left, err := c.Count(ctx, w.sku)
		if err != nil {
			return snap, err
		}
		snap.Homes = map[ledger.Home]int64{w.info.Stock: left}
	}
	return snap, nil
}

// told is what the buyers know.
func (w *World) told(o *Order) []ledger.Told {
	told := []ledger.Told{}
	for _, b := range o.Buyers {
		if b.Does == Locks {
			continue
		}
		p := w.purchase(b.Buyer)
		t := ledger.Told{RequestID: p.RequestID, User: p.User, Quantity: p.Quantity, OrderID: b.Receipt.OrderID,
			Remaining: b.Receipt.Remaining, Outcome: ledger.OutcomeUnknown}
		switch {
		case b.Does == Cancels:
			placed := w.placed[b.Name]
			t.Outcome, t.OrderID, t.Remaining, t.Cancelled = ledger.OutcomeSold, placed.OrderID, placed.Remaining, true
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
		if s.Fault != "" {
			return true
		}
	}
	return false
}

// Sound finds whatever must not happen: what the audit says, two holders of a
// lock whose lease had not ended, and, as long as nothing went wrong, a buyer
// who was left in the dark, failed for no reason, or waited in vain.
func Sound(o *Order) []Problem {
	problems := append(Ledger(o), Overlapped(o)...)
	if !o.Faulty() {
		problems = append(problems, Served(o)...)
	}
	return append(problems, Passed(o)...)
}

// Ledger finds what the audit says.
func Ledger(o *Order) (problems []Problem) {
	locksOnly := true
	for _, b := range o.Buyers {
		locksOnly = locksOnly && b.Does == Locks
	}
	if locksOnly {
		return nil
	}
	for _, v := range o.Audit.Violations {
		if v.Rule == ledger.RuleNothingSold && o.Faulty() {
			continue // the only buyer who could have may be the one who died
		}
		problems = append(problems, Problem{v.Rule, v.Message})
	}
	return problems
}

// Overlapped finds two holders of one lock, unless the first one's lease had
// ended.
func Overlapped(o *Order) (problems []Problem) {
	for _, v := range o.Overlaps {
		if !v.Excused {
			problems = append(problems, Problem{RuleOverlap, fmt.Sprintf("after step %d both %s and %s hold the lock", v.Step+1, v.First, v.Second)})
		}
	}
	return problems
}

// Served finds buyers who did not get a clear answer though nothing failed.
func Served(o *Order) (problems []Problem) {
	for _, b := range o.Buyers {
		switch {
		case b.GaveUp:
			problems = append(problems, Problem{RuleStuck, b.Name + " waited, and nobody could ever have woken him"})
		case b.WaitedFor > 0:
			problems = append(problems, Problem{RuleStuck, b.Name + " waited until a lease ended, though everybody had left"})
		case b.Err != nil && errors.Is(b.Err, seckill.ErrUnavailable):
			problems = append(problems, Problem{RuleError, fmt.Sprintf("%s: %v", b.Name, b.Err)})
		case b.Err != nil && !seckill.NothingTaken(b.Err):
			problems = append(problems, Problem{RuleUnknown, fmt.Sprintf("%s: %v", b.Name, b.Err)})
		}
	}
	return problems
}

// Passed finds a next buyer who did not get through, however many leases ended.
func Passed(o *Order) (problems []Problem) {
	for _, b := range o.Buyers {
		if b.Name == NextBuyer && b.GaveUp {
			problems = append(problems, Problem{RuleStuck, "the next buyer is blocked for ever: what is left behind never ends"})
		}
	}
	return problems
}
