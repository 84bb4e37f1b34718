package compare

import (
	"math"
	"slices"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// conclude sums the rounds up.
func (c *comparison) conclude() {
	r := c.result
	for i := range r.Floors {
		f := &r.Floors[i]
		var rates []float64
		for _, round := range f.Rounds {
			rates = append(rates, round.Rate)
		}
		f.Rate = spreadOf(rates)
	}
	for _, e := range r.Strategies {
		if r.Interrupted && e.idle() {
			r.NotRun = append(r.NotRun, NotRun{e.Strategy, "interrupted before its turn was over"})
		}
	}
	left := func(e *Entry) bool { return e.idle() && (c.gone[e.Strategy] || r.Interrupted) }
	r.Strategies, r.Sparse = slices.DeleteFunc(r.Strategies, left), slices.DeleteFunc(r.Sparse, left)
	for _, e := range r.Strategies {
		e.conclude(r.Floors, r.Settings.Stock)
	}
	for _, e := range r.Sparse {
		e.conclude(nil, r.Settings.Stock) // floors are measured at the other concurrency
	}
	r.Claims = r.claims()
}

// idle: it never had a turn that says anything.
func (e *Entry) idle() bool { return len(e.Rounds) == 0 && len(e.Problems) == 0 }

func (e *Entry) conclude(floors []FloorResult, stock int64) {
	var sales, requests, p50, p99, waits, sold []float64
	ratios := map[string][]float64{}
	for _, round := range e.Rounds {
		e.Verdict = worst(e.Verdict, round.Verdict)
		if round.Sales == 0 {
			continue
		}
		sales, requests = append(sales, round.SalesRate), append(requests, round.RequestRate)
		sold = append(sold, float64(round.Sold)/float64(stock))
		p50, p99 = append(p50, round.P50), append(p99, round.P99)
		if round.LockWait > 0 {
			waits = append(waits, round.LockWait)
		}
		for _, f := range floors {
			if rate := f.at(round.Round); rate > 0 {
				ratios[f.ID] = append(ratios[f.ID], round.rate(f.ID)/rate)
			}
		}
	}
	if e.Verdict == "" {
		e.Verdict = ledger.NotValid
	}
	e.Expected = e.Verdict == ledger.Held && !e.Breaks || e.Broken() && e.Breaks
	e.Sales, e.Requests, e.P50, e.P99 = spreadOf(sales), spreadOf(requests), spreadOf(p50), spreadOf(p99)
	e.Sold = spreadOf(sold).Median
	for id, all := range ratios {
		e.Ratios[id] = spreadOf(all)
	}
	if len(waits) > 0 {
		wait := spreadOf(waits)
		e.LockWait = &wait
	}
	if m := e.median(); m != nil {
		e.Curve, e.Course, e.Commands = m.curve, m.course, m.commands
	}
}

// Broken: it was seen to oversell, or to lose.
func (e *Entry) Broken() bool { return e.Verdict == ledger.Oversold || e.Verdict == ledger.Lost }

// rate is what a floor is held against: where the floor sells, sales.
func (r Round) rate(floor string) float64 {
	if floor == FloorUpdate || floor == FloorTransaction {
		return r.SalesRate
	}
	return r.RequestRate
}

// at is the floor's rate in a round; 0: it was not measured.
func (f FloorResult) at(round int) float64 {
	for _, r := range f.Rounds {
		if r.Round == round {
			return r.Rate
		}
	}
	return 0
}

// median is the round whose rate of sales is nearest to the median.
func (e *Entry) median() (m *Round) {
	for i := range e.Rounds {
		r := &e.Rounds[i]
		if r.Sales > 0 && (m == nil || math.Abs(r.SalesRate-e.Sales.Median) < math.Abs(m.SalesRate-e.Sales.Median)) {
			m = r
		}
	}
	return m
}

// CommandsEach is how many commands a purchase sent, to all backends; 0: not
// known.
func (e *Entry) CommandsEach() (sum float64) {
	for _, c := range e.Commands {
		sum += c.PerPurchase
	}
	return sum
}

// Exit statuses of a comparison. Of several that apply, the first counts.
const (
	ExitAsKnown  = loadtest.ExitHeld     // the correct ones held, the broken ones were caught
	ExitOversold = loadtest.ExitOversold // a strategy that is to hold oversold
	ExitLost     = loadtest.ExitLost     // one lost or undersold
	ExitBlocked  = loadtest.ExitBlocked  // one stood still while buyers asked
	ExitMissed   = 13                    // a broken one was not caught
	ExitChanged  = 14                    // slower than the older result by more than the limit, or another verdict
	ExitNotValid = loadtest.ExitNotValid // interrupted, nothing was run, or a run proves nothing
)

// ExitStatus is the comparison's outcome for scripts.
func (r *Result) ExitStatus() int {
	has := func(breaks bool, verdicts ...ledger.Verdict) bool {
		return slices.ContainsFunc(append(slices.Clone(r.Strategies), r.Sparse...), func(e *Entry) bool {
			return e.Breaks == breaks && slices.Contains(verdicts, e.Verdict)
		})
	}
	missed := slices.ContainsFunc(r.Strategies, func(e *Entry) bool { return e.Breaks && e.Verdict == ledger.Held })
	blocked := has(false, loadtest.Blocked) || has(true, loadtest.Blocked)
	switch {
	case has(false, ledger.Oversold):
		return ExitOversold
	case has(false, ledger.Lost):
		return ExitLost
	case r.Interrupted, len(r.Strategies) == 0, has(false, ledger.NotValid), has(true, ledger.NotValid):
		return ExitNotValid
	case blocked:
		return ExitBlocked
	case missed:
		return ExitMissed
	case r.Against != nil && r.Against.Failed():
		return ExitChanged
	}
	return ExitAsKnown
}
