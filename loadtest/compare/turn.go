package compare

import (
	"slices"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// A turn sums up the sales of one strategy in one round.
type turn struct {
	Round
	entry *Entry

	took, selling  float64 // seconds
	sold, requests int
	p50, p99       []float64
	locks          int64
	waited         float64            // milliseconds
	unsold         bool               // a sale did not sell all of its stock
	used           loadtest.Processor // seconds
	last           *loadtest.Result
}

// worse orders verdicts: a proven violation outweighs a run that proves nothing.
var worse = []ledger.Verdict{"", ledger.Held, loadtest.Blocked, ledger.NotValid, ledger.Lost, ledger.Oversold}

func worst(a, b ledger.Verdict) ledger.Verdict {
	if slices.Index(worse, b) > slices.Index(worse, a) {
		return b
	}
	return a
}

// judge takes a sale's verdict, also of sales that are not measured.
func (t *turn) judge(r *loadtest.Result) {
	if r.Interrupted { // it proves nothing but the violations it found
		t.Interrupted = true
		if r.Verdict == ledger.NotValid {
			return
		}
	}
	t.Verdict = worst(t.Verdict, r.Verdict)
	if r.Audit != nil {
		t.Over = max(t.Over, r.Audit.Sold-r.Audit.Initial)
		for _, v := range r.Audit.Violations {
			t.entry.violated(v)
		}
	}
	if r.Verdict == loadtest.Blocked {
		t.entry.violated(ledger.Violation{Rule: string(loadtest.Blocked), Message: r.Stood()})
	}
	for _, p := range r.Problems {
		if !slices.Contains(t.entry.Problems, p) {
			t.entry.Problems = append(t.entry.Problems, p)
		}
	}
}

func (e *Entry) violated(v ledger.Violation) {
	i := slices.IndexFunc(e.Violations, func(known Violation) bool { return known.Rule == v.Rule })
	if i < 0 {
		i = len(e.Violations)
		e.Violations = append(e.Violations, Violation{Rule: v.Rule, Message: v.Message})
	}
	e.Violations[i].Rounds++
}

func (t *turn) add(r *loadtest.Result) {
	t.Sales++
	t.took, t.selling = t.took+r.Seconds, t.selling+r.SellingSeconds
	// What is reserved is sold when it is paid.
	t.sold, t.requests = t.sold+r.Counts[ledger.OutcomeSold]+r.Reservations.Paid, t.requests+r.Requests
	t.p50 = append(t.p50, float64(r.Latency.P50)/1000)
	t.p99 = append(t.p99, float64(r.Latency.P99)/1000)
	if w := r.LockWait; w != nil {
		t.locks, t.waited = t.locks+w.Count, t.waited+w.MeanMS*float64(w.Count)
	}
	if r.Audit != nil {
		t.Sold = r.Audit.Sold
	}
	t.unsold = t.unsold || r.Audit == nil || r.Audit.Sold < r.Audit.Initial
	t.Asked += r.Requests
	t.Failed += r.Counts[ledger.OutcomeUnknown] + r.Counts[ledger.OutcomeError]
	t.Busy += r.Counts[ledger.OutcomeBusy] + r.Counts[ledger.OutcomeConflict]
	t.used = added(t.used, r.Processor, t.Sales == 1)
	if r.Histogram != nil {
		t.entry.times.Merge(r.Histogram)
	}
	t.last = r
}

func (t *turn) finish() Round {
	r := t.Round
	if t.selling > 0 {
		r.SalesRate = float64(t.sold) / t.selling
	}
	if t.took > 0 {
		r.RequestRate = float64(t.requests) / t.took
	}
	r.P50, r.P99 = measure.SpreadOf(t.p50).Median, measure.SpreadOf(t.p99).Median
	if t.Sales > 0 && !t.unsold {
		r.SellOut = t.selling / float64(t.Sales)
	}
	r.Processor = each(t.used, t.Asked)
	if t.used.Services != nil && t.sold > 0 {
		r.Service = 1e6 * *t.used.Services / float64(t.sold)
	}
	if t.locks > 0 {
		r.LockWait = t.waited / float64(t.locks)
	}
	if t.last != nil {
		r.commands = t.last.Commands
	}
	return r
}
