package loadtest

import (
	"slices"
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// Each limit of what counts as served, one step inside it and one outside.
func TestRightAndServedAreTwoSigns(t *testing.T) {
	good := func() *Result {
		return &Result{Settled: true, Requests: 1000, Settings: Scenario{Quantity: 1, SKUs: 1},
			Counts:  map[ledger.Outcome]int{ledger.OutcomeSold: 100, ledger.OutcomeSoldOut: 900},
			Latency: Latency{P99: 2_000_000},
			Audit:   &ledger.Report{Verdict: ledger.Held, Initial: 100, Sold: 100, Served: &ledger.Served{State: ledger.ServedYes}}}
	}
	for _, c := range []struct {
		name          string
		change        func(*Result)
		right, served Sign
		short         []string
	}{
		{"all well", func(*Result) {}, Yes, Yes, nil},
		{"late", func(r *Result) { r.Latency.P99++ }, Yes, No, []string{ShortLate}},
		{"1 in 100 uncertain", func(r *Result) { r.Counts[ledger.OutcomeUnknown], r.Counts[ledger.OutcomeError] = 4, 6 }, Yes, Yes, nil},
		{"more", func(r *Result) { r.Counts[ledger.OutcomeUnknown], r.Counts[ledger.OutcomeError] = 5, 6 }, Yes, No, []string{ShortUncertain}},
		{"without a final answer", func(r *Result) { r.Counts[ledger.OutcomeAccepted], r.Counts[ledger.OutcomeInProgress] = 6, 5 }, Yes, No, []string{ShortUncertain}},
		{"99 of 100 sold", func(r *Result) { r.Audit.Sold = 99 }, Yes, Yes, nil},
		{"fewer", func(r *Result) { r.Audit.Sold = 98 }, Yes, No, []string{ShortUnsold}},
		{"as many as fit", func(r *Result) { r.Settings.Quantity, r.Audit.Sold = 7, 98 }, Yes, Yes, nil},
		{"as many as were asked for", func(r *Result) { r.Requests, r.Audit.Sold = 50, 50 }, Yes, Yes, nil},
		{"as many as different buyers asked for", func(r *Result) { r.Requests, r.Counts[ledger.OutcomeDuplicate], r.Audit.Sold = 50, 10, 40 }, Yes, Yes, nil},
		{"some not paid in time", func(r *Result) { r.Audit.Sold, r.Audit.Expired = 60, 1 }, Yes, Yes, nil},
		{"some cancelled", func(r *Result) { r.Audit.Sold, r.Audit.Cancelled = 60, 1 }, Yes, Yes, nil},
		{"blocked", func(r *Result) { r.Audit.Served.State, r.Audit.Sold = ledger.ServedBlocked, 5 }, Yes, No, []string{ShortStood, ShortUnsold}},
		{"pauses not known", func(r *Result) { r.Audit.Served.State = ledger.ServedNotKnown }, Yes, NotKnown, nil},
		{"pauses not known, and late", func(r *Result) { r.Audit.Served, r.Latency.P99 = nil, 9_000_000 }, Yes, No, []string{ShortLate}},
		{"oversold to all at once", func(r *Result) { r.Audit.Verdict, r.Audit.Sold = ledger.Oversold, 131 }, No, Yes, nil},
		{"oversold, and others of several SKUs are left", func(r *Result) { r.Audit.Verdict, r.Audit.Sold, r.Settings.SKUs = ledger.Oversold, 90, 2 }, No, Yes, nil},
		{"lost", func(r *Result) { r.Audit.Verdict, r.Audit.Sold = ledger.Lost, 60 }, No, No, []string{ShortUnsold}},
		{"not valid", func(r *Result) { r.Problems, r.Latency.P99 = []Problem{{Text: "interrupted"}}, 9_000_000 }, NotKnown, NotKnown, nil},
	} {
		r := good()
		c.change(r)
		r.conclude(nil)
		var short []string
		for _, s := range r.Signs.Short {
			short = append(short, s.Code)
			if s.String() == "" {
				t.Errorf("%s: %s has no words", c.name, s.Code)
			}
		}
		if strings.Contains(r.Summary(), "-") {
			t.Errorf("%s: a negative number in %q", c.name, r.Summary())
		}
		if s := r.Signs; s.Right != c.right || s.Served != c.served || !slices.Equal(short, c.short) {
			t.Errorf("%s: %+v, want right %s, served %s, short %v", c.name, s, c.right, c.served, c.short)
		}
	}
}
