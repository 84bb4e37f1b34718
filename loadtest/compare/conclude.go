package compare

import (
	"math"
	"slices"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// conclude summarizes the rounds.
func (c *comparison) conclude() {
	r := c.result
	for _, b := range r.Baselines {
		b.Rate = b.series().Spread()
	}
	for _, e := range r.Strategies {
		if r.Interrupted && e.idle() {
			r.NotRun = append(r.NotRun, NotRun{e.Strategy, "interrupted before its turn was over"})
		}
	}
	left := func(e *Entry) bool { return e.idle() && (c.gone[e.Strategy] || r.Interrupted) }
	r.Strategies, r.Sparse, r.Crowds = slices.DeleteFunc(r.Strategies, left), slices.DeleteFunc(r.Sparse, left), slices.DeleteFunc(r.Crowds, left)
	for _, e := range r.entries() {
		e.conclude(r.measuredBaselines(e.Concurrency), r.Settings.Stock)
	}
	r.Claims = r.claims()
}

// entries are all of them, also those at other numbers of buyers than the comparison's own.
func (r *Result) entries() []*Entry { return slices.Concat(r.Strategies, r.Sparse, r.Crowds) }

// idle reports that no turn says anything.
func (e *Entry) idle() bool { return len(e.Rounds) == 0 && len(e.Problems) == 0 }

func (e *Entry) conclude(baselines []*BaselineResult, stock int64) {
	for _, round := range e.Rounds {
		e.Verdict = worst(e.Verdict, round.Verdict)
	}
	if e.Verdict == "" {
		e.Verdict = ledger.NotValid
	}
	e.Expected = e.Verdict == ledger.Held && !e.Breaks || e.Broken() && e.Breaks || e.hung()
	e.Sales = e.series(func(r Round) float64 { return r.SalesRate }).Spread()
	e.Service = measure.SeriesOf(e.Rounds, func(r Round) (int, float64, bool) { return r.Round, r.Service, r.Service > 0 }).Spread()
	e.Requests = e.series(func(r Round) float64 { return r.RequestRate }).Spread()
	e.P50 = e.series(func(r Round) float64 { return r.P50 }).Spread()
	e.P99 = e.series(func(r Round) float64 { return r.P99 }).Spread()
	e.Sold = e.series(func(r Round) float64 { return float64(r.Sold) / float64(stock) }).Spread().Median
	for _, b := range baselines {
		ratios := e.series(func(r Round) float64 { return r.rate(b.ID) }).Over(b.series())
		if len(ratios) > 0 {
			e.Ratios[b.ID] = ratios.Spread()
		}
	}
	waits := measure.SeriesOf(e.Rounds, func(r Round) (int, float64, bool) { return r.Round, r.LockWait, r.LockWait > 0 })
	if len(waits) > 0 {
		wait := waits.Spread()
		e.LockWait = &wait
	}
	if out := e.series(func(r Round) float64 { return r.SellOut }).Spread(); out.Low > 0 {
		e.SellOut = &out
	}
	e.spent()
	e.Latency = latencyOf(e.times)
	if m := e.median(); m != nil {
		e.Commands = m.commands
	}
}

// series collects a figure of the rounds that measured a sale.
func (e *Entry) series(figure func(Round) float64) measure.Series {
	return measure.SeriesOf(e.Rounds, func(r Round) (int, float64, bool) { return r.Round, figure(r), r.Sales > 0 })
}

func (b *BaselineResult) series() measure.Series {
	return measure.SeriesOf(b.Rounds, func(r BaselineRound) (int, float64, bool) { return r.Round, r.Rate, true })
}

// Broken reports that it was seen to oversell, or to lose.
func (e *Entry) Broken() bool { return e.Verdict == ledger.Oversold || e.Verdict == ledger.Lost }

// hung reports that it stood still as it is known to: in each round that did, a
// request had failed before.
func (e *Entry) hung() bool {
	return e.Verdict == loadtest.Blocked && e.Hangs && !e.Breaks &&
		!slices.ContainsFunc(e.Rounds, func(r Round) bool { return r.Verdict == loadtest.Blocked && r.Failed == 0 })
}

// rate is what to divide by a baseline: sales, if the baseline sells.
func (r Round) rate(baseline string) float64 {
	if baseline == BaselineHTTP || baseline == BaselineRedis {
		return r.RequestRate
	}
	return r.SalesRate
}

// median is the round whose sales rate is nearest to the median.
func (e *Entry) median() (m *Round) {
	for i := range e.Rounds {
		r := &e.Rounds[i]
		if r.Sales > 0 && (m == nil || math.Abs(r.SalesRate-e.Sales.Median) < math.Abs(m.SalesRate-e.Sales.Median)) {
			m = r
		}
	}
	return m
}

// CommandsEach is how many commands a purchase sent, to all backends; 0 if not
// known.
func (e *Entry) CommandsEach() (sum float64) {
	for _, c := range e.Commands {
		sum += c.PerPurchase
	}
	return sum
}

// Exit statuses of a comparison. Of several that apply, the first counts.
const (
	ExitAsKnown  = loadtest.ExitHeld     // correct strategies held, broken ones were caught
	ExitOversold = loadtest.ExitOversold // a strategy that must hold oversold
	ExitLost     = loadtest.ExitLost     // one lost or undersold
	ExitBlocked  = loadtest.ExitBlocked  // one stood still while buyers asked
	ExitMissed   = 13                    // a broken one was not caught
	ExitChanged  = 14                    // slower than the older result by more than the limit, or another verdict
	ExitNotValid = loadtest.ExitNotValid // interrupted, nothing was run, or a run proves nothing
)

// ExitStatus is the comparison's outcome for scripts.
func (r *Result) ExitStatus() int {
	has := func(breaks bool, verdicts ...ledger.Verdict) bool {
		return slices.ContainsFunc(r.entries(), func(e *Entry) bool {
			return e.Breaks == breaks && slices.Contains(verdicts, e.Verdict)
		})
	}
	missed := slices.ContainsFunc(r.Strategies, func(e *Entry) bool { return e.Breaks && e.Verdict == ledger.Held })
	blocked := slices.ContainsFunc(r.entries(), func(e *Entry) bool { return e.Verdict == loadtest.Blocked && !e.Expected })
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
