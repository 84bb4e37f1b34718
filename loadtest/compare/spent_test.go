package compare

import (
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// Of all rounds together; what one sale does not say is not known.
func TestWhatASaleTook(t *testing.T) {
	sales := 0
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{
		"a": func(c loadtest.Config, r *loadtest.Result) error {
			if sales++; c.Stock == testStock {
				r.Counts[ledger.OutcomeBusy], r.Counts[ledger.OutcomeConflict], r.Counts[ledger.OutcomeError] = 3, 2, 1
				r.Processor.Servers = new(.1)
				if sales > 4 { // the second round
					r.Processor.Servers = nil
				}
			}
			return nil
		},
		"short": func(c loadtest.Config, r *loadtest.Result) error { r.Audit.Sold--; return nil },
	}}
	r := Run(t.Context(), options(b, Candidate{Name: "a"}, Candidate{Name: "short"}))
	a, short := r.Entry("a"), r.Entry("short")
	if a.Asked != 4*testBuyers || math.Abs(a.Busy-.1) > 1e-9 || math.Abs(a.Failed-.02) > 1e-9 {
		t.Errorf("%d asked, %g busy, %g failed; want 200, .1 and .02", a.Asked, a.Busy, a.Failed)
	}
	if p := a.Processor; p == nil || p.Servers != nil || math.Abs(*p.Services-.4) > 1e-9 || math.Abs(*p.Generator-.2) > 1e-9 {
		t.Errorf("processor time per request: %+v; want .4 ms, not known, .2 ms", p)
	}
	if first := a.Rounds[0].Processor; math.Abs(*first.Servers-2) > 1e-9 {
		t.Errorf("the servers used %g ms per request in the first round, want 2", *first.Servers)
	}
	if a.SellOut == nil || *a.SellOut != spreadOf(.4, .4, .4) || short.SellOut != nil {
		t.Errorf("sold out in %+v, and %+v without having sold all", a.SellOut, short.SellOut)
	}
}

// Buckets hold every request, at 20 a decade, and p99.9 needs 1,000 of them.
func TestLatencyOf(t *testing.T) {
	h := hdrhistogram.New(1, 1e9, 3)
	for us := int64(1000); us < 100_000; us += 100 {
		_ = h.RecordValue(us)
	}
	few := latencyOf(h)
	if few.Requests != 990 || few.P999 != 0 || len(few.Buckets) != 2*bucketsPerDecade+1 {
		t.Errorf("%d requests, p99.9 %g, %d buckets", few.Requests, few.P999, len(few.Buckets))
	}
	sum, last := int64(0), 0.0
	for _, b := range few.Buckets {
		sum += b.Count
		if last > 0 && math.Abs(b.Upto/last-math.Pow(10, .05)) > .001 {
			t.Errorf("a bucket from %g to %g ms is not a 20th of a decade", last, b.Upto)
		}
		last = b.Upto
	}
	if sum != few.Requests {
		t.Errorf("the buckets hold %d requests of %d", sum, few.Requests)
	}
	for range 10 {
		_ = h.RecordValue(5_000_000)
	}
	if many := latencyOf(h); many.P999 < 4990 || many.P50 > 51 || many.Max < many.P999 {
		t.Errorf("%+v of 1,000 requests", many)
	}
	if latencyOf(nil) != nil {
		t.Error("no requests have a latency")
	}
}
