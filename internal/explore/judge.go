package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

func (r *run) judgeSchedule(ctx context.Context) error {
	w, s := r.world, r.schedule
	for _, a := range r.actors {
		s.Buyers = append(s.Buyers, a.outcome)
	}
	p, err := w.process(ctx, nextProcess)
	if err != nil {
		return err
	}
	e, err := catalog.Evidence(ctx, p.Store.AtRest(), w.sku, []catalog.Seller{{Info: w.info, Strategy: p.Strategy}})
	if err != nil {
		return fmt.Errorf("audit the schedule: %w", err)
	}
	e.Initial, e.Run, e.Calls = w.stock, firstRun, []judge.Call{}
	for _, b := range s.Buyers {
		if tell := actorKinds[b.Action].calls; tell != nil && !b.Other {
			told := tell(w, b)
			for i := range told {
				if told[i].Outcome == judge.OutcomeAccepted && s.mayBeOfEarlierSale(b) {
					told[i].Outcome = judge.OutcomeUnknown
				}
			}
			e.Calls = append(e.Calls, told...)
		}
	}
	if r.scenario.has(Resets) {
		e.Run = e.Snapshot.Stock.Run
		if len(w.extraUnits) > 1 { // each reset sets a different stock, so the stock row shows which reset was the last
			e.Initial = e.Snapshot.Stock.Initial
		}
		if e.Calls, err = w.callsOfRun(ctx, e.Calls, e.Run); err != nil {
			return err
		}
	}
	s.Audit = judge.Judge(e)
	s.Problems = slices.Concat(findProblems(s), w.findContradictions(s, e.Snapshot.Orders), w.findUntold(ctx, p, s))
	return nil
}

// findContradictions finds wrong answers that package judge must accept, because the judge does not
// see the single steps. Among them are:
//
//   - a release of a reservation whose payment was acknowledged,
//   - "duplicate" for a user who gets no order,
//   - "sold out" for a buyer for whom there were enough units.
//
// A refusal during a reset may belong to the sale before the reset or to the sale after it. Such a refusal is reported
// only if it is wrong for both sales.
func (w *World) findContradictions(s *Schedule, orders []judge.Order) []Problem {
	var list []Problem
	add := func(rule, message string) { list = append(list, Problem{rule, message}) }
	for _, b := range s.Buyers {
		user := w.purchase(b.Buyer).User
		hasOrder := slices.ContainsFunc(orders, func(o judge.Order) bool { return o.UserID == user })
		onlyRequest := !slices.ContainsFunc(s.Buyers, func(o Outcome) bool {
			return o.Name != b.Name && w.purchase(o.Buyer).User == user
		})
		paid := slices.ContainsFunc(s.Buyers, func(o Outcome) bool {
			return o.owner() == b.owner() && (o.Action == Pays || o.Action == PaysLate) && o.Err == nil && !o.Dead
		})
		switch {
		case b.Other && b.Action == Asks && !errors.Is(b.Err, seckill.ErrBusy) && b.Receipt.SKU != w.otherSKU():
			add(judge.RuleKeyRefused, b.Name+" has the other SKU for themselves, and was refused, or told of another order")
		case b.Dead || b.Other: // the cases below are about living buyers of the first SKU
		case b.Action == Releases && b.Err == nil && paid:
			add(judge.RulePaidReleased, "one was told that the reservation is paid, and "+b.Name+" that it is cancelled")
		case b.Action == PaysLate && errors.Is(b.Err, seckill.ErrConflict):
			add(judge.RuleExpiredHeld, b.Name+" paid after the deadline, was not told so, and the units were held still")
		case errors.Is(b.Err, seckill.ErrDuplicate) && !hasOrder && (onlyRequest || !s.Scenario.has(Resets)):
			add(judge.RuleFalseDuplicate,
				b.Name+" was told that they have an order already, and no request of theirs came to one")
		case errors.Is(b.Err, seckill.ErrSoldOut) && s.Scenario.has(Resets) && s.unitsWanted() <= s.Scenario.Stock:
			add(judge.RuleUndersold,
				b.Name+" was told sold out, and both sales had as many units as all buyers want together")
		case b.Name == NextBuyer && errors.Is(b.Err, seckill.ErrDuplicate):
			add(judge.RuleFalseDuplicate, "the next buyer was told that they have an order already, "+
				"and the one that they had is cancelled or of an earlier sale")
		case b.Name == NextBuyer && errors.Is(b.Err, seckill.ErrSoldOut) && b.Quantity <= s.Audit.Remaining:
			add(judge.RuleUndersold, fmt.Sprint("the next buyer was told sold out, and the stock left is ", s.Audit.Remaining))
		}
	}
	return list
}

// unitsWanted returns the total number of units in the buyers' requests and in their earlier orders.
func (s *Schedule) unitsWanted() int64 {
	var units int64
	for _, b := range s.Buyers {
		if b.Action != Resets && b.Action != Starts && b.Action != Restocks {
			units += b.Quantity
		}
	}
	return units
}

// mayBeOfEarlierSale reports whether the answer to b may belong to the sale before a reset. This is possible if a
// reset finished after the first step of b.
func (s *Schedule) mayBeOfEarlierSale(b Outcome) bool {
	came := slices.IndexFunc(s.Steps, func(step Step) bool { return step.Who == b.Name })
	return slices.ContainsFunc(s.Buyers, func(o Outcome) bool { return o.Action == Resets && o.Ended > came })
}

// callsOfRun returns the calls that belong to the sale after the reset. It leaves out requests with an order in the
// earlier sale only. A request with an order in both sales belongs to the new one, because a reset forgets requests.
// Refusals are left out, too, because they may belong to either sale, except that of NextBuyer, which starts last.
func (w *World) callsOfRun(ctx context.Context, told []judge.Call, run int64) ([]judge.Call, error) {
	var earlier []string
	err := w.admin.DB.WithContext(ctx).Raw("SELECT request_id FROM orders WHERE sku_id = ? AND run < ? AND "+
		"request_id NOT IN (SELECT request_id FROM orders WHERE sku_id = ? AND run = ?)",
		w.sku, run, w.sku, run).Scan(&earlier).Error
	if err != nil {
		return nil, fmt.Errorf("find the orders before the reset: %w", err)
	}
	next := w.purchase(Buyer{Name: NextBuyer}).RequestID
	return slices.DeleteFunc(told, func(t judge.Call) bool {
		refused := !slices.Contains([]judge.Outcome{judge.OutcomeCancelled, judge.OutcomeAccepted, judge.OutcomeSold,
			judge.OutcomeRestocked, judge.OutcomeUnknown}, t.Outcome)
		return slices.Contains(earlier, t.RequestID) || refused && t.RequestID != next
	}), nil
}

// Faulty reports whether a fault happened in the schedule.
func (s *Schedule) Faulty() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		nothing := step.Fault == LeaseEnds && step.Command == "" // no lease existed, so the fault changed nothing
		return step.Fault != "" && step.Fault != TimePasses && !nothing
	})
}

func findProblems(s *Schedule) []Problem {
	list := append(s.findViolations(), s.locks...)
	left, start := s.leavers(), s.startOfSale()
	otherSKU := slices.ContainsFunc(s.Buyers, func(b Outcome) bool { return b.Other })
	for _, b := range s.Buyers {
		if errors.Is(b.Err, lock.ErrNotHeld) && !b.Expired {
			list = append(list, s.problem(RuleStolen,
				"%s held the lock, its lease had not ended, and when they were done it was gone", b.Name))
		}
		if p := s.checkAnswer(b, left != nil && !slices.Contains(left, b.Name)); p.Rule != "" {
			list = append(list, p)
		}
		if otherSKU && b.Waited && b.Name != NextBuyer {
			list = append(list, s.problem(RuleHindered, "%s had to wait for the buyer of another SKU", b.Name))
		}
		if b.Action == Buys && b.Err == nil && !b.Dead && b.Ended <= start {
			list = append(list, s.problem(RuleEarly, "%s was sold %d before the sale started", b.Name, b.Quantity))
		}
	}
	return list
}

func (s *Schedule) problem(rule, format string, args ...any) Problem {
	return Problem{rule, s.names.Normalize(fmt.Sprintf(format, args...))}
}

func (s *Schedule) findViolations() []Problem {
	if s.Scenario.has(Locks) { // buyers who only take and release a lock leave no sale to judge
		return nil
	}
	var list []Problem
	for _, v := range s.Audit.Violations {
		// A fault or a reset may explain why nothing was sold: the only buyer died, or bought before the reset.
		nothing := v.Rule == judge.RuleNothingSold && (s.Faulty() || s.Scenario.has(Resets))
		// Only the service recognises a repeated request. A strategy refuses it as a duplicate, and this is correct.
		copied := v.Rule == judge.RuleKeyRefused && !s.Scenario.has(Asks)
		if !nothing && !copied {
			list = append(list, s.problem(v.Rule, "%s", v.Message))
		}
	}
	return list
}

// checkAnswer returns a problem if buyer b is blocked for ever. If there was no fault, it also returns one if b got no
// clear answer, failed without a reason, or waited until a lease ended although all other buyers had left. The
// parameter stayed is true if other buyers left early (the fault Leaves) and b did not.
func (s *Schedule) checkAnswer(b Outcome, stayed bool) Problem {
	switch {
	case b.GaveUp:
		return s.problem(RuleStuck, "%s waits, and nothing will ever wake them", b.Name)
	case stayed && b.WaitedFor > 0:
		return s.problem(RuleStuck, "%s waited until a lease ended, or their time was up, "+
			"though all others had left and their processes live", b.Name)
	case stayed && (errors.Is(b.Err, seckill.ErrUnavailable) || b.Err != nil && !seckill.NothingTaken(b.Err)):
		return s.problem(RuleError, "%s failed, though all that happened is that another left: %v", b.Name, b.Err)
	case s.Faulty(): // after a fault, the cases below are not problems
	case b.WaitedFor > 0:
		return s.problem(RuleStuck, "%s waited until a lease ended, though all others had left", b.Name)
	case errors.Is(b.Err, seckill.ErrUnavailable):
		return s.problem(RuleError, "%s: %v", b.Name, b.Err)
	// ErrPending is a clear answer to a restock: the restock is recorded, and a later call will add the units.
	case b.Err != nil && !seckill.NothingTaken(b.Err) && !errors.Is(b.Err, seckill.ErrPending):
		return s.problem(RuleUnknown, "%s: %v", b.Name, b.Err)
	}
	return Problem{}
}

// startOfSale returns the index of the step that started the sale; -1 if it had started before the first step.
func (s *Schedule) startOfSale() int {
	return slices.IndexFunc(s.Steps, func(step Step) bool {
		return slices.ContainsFunc(s.Buyers, func(b Outcome) bool { return b.Action == Starts && b.Name == step.Who })
	})
}

// leavers returns the buyers that hung up (the fault Leaves). If a fault of another kind happened too, it returns
// none, because a process that was hit by that fault may be unable to clean up after its buyers.
func (s *Schedule) leavers() []string {
	var who []string
	for _, step := range s.Steps {
		switch step.Fault {
		case Leaves:
			who = append(who, step.Who)
		case "", TimePasses:
		default:
			return nil
		}
	}
	return who
}
