package loadtest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
)

var outcomes = []ledger.Outcome{
	ledger.OutcomeSold, ledger.OutcomeSoldOut, ledger.OutcomeBusy, ledger.OutcomeConflict,
	ledger.OutcomeDuplicate, ledger.OutcomeUnknown, ledger.OutcomeError,
}

// A tally counts a storm while it blows.
type tally struct {
	quantity int64

	mu        sync.Mutex
	over      bool // nobody is on the way any more
	requests  int
	counts    map[ledger.Outcome]int
	answers   map[string]*Answer // by code
	left      int64
	all, sold *hdrhistogram.Histogram // microseconds
}

func newTally(c Config) *tally {
	// A request may take a little longer than its time-out.
	longest := (c.Timeout + time.Minute).Microseconds()
	t := &tally{
		quantity: c.Quantity, left: c.Stock,
		counts: map[ledger.Outcome]int{}, answers: map[string]*Answer{},
		all: hdrhistogram.New(1, longest, 3), sold: hdrhistogram.New(1, longest, 3),
	}
	for _, o := range outcomes {
		t.counts[o] = 0
	}
	return t
}

func (t *tally) record(r reply, took time.Duration) {
	us := min(max(took.Microseconds(), 1), t.all.HighestTrackableValue())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	t.counts[r.outcome]++
	_ = t.all.RecordValue(us) // us is in range
	if r.outcome == ledger.OutcomeSold {
		t.left = r.remaining
		_ = t.sold.RecordValue(us)
		return
	}
	if a := t.answers[r.code]; a != nil {
		a.Count++
	} else {
		t.answers[r.code] = &Answer{Code: r.code, Outcome: r.outcome, Count: 1, Sample: string(r.message)}
	}
}

// progress is the storm as it stands; Elapsed, Buyers and Rate are the
// caller's.
func (t *tally) progress() Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Progress{
		Settling: t.over, Requests: t.requests, Counts: maps.Clone(t.counts), Left: t.left,
		Units: int64(t.counts[ledger.OutcomeSold]) * t.quantity,
		P50:   float64(t.all.ValueAtQuantile(50)) / 1000,
		P99:   float64(t.all.ValueAtQuantile(99)) / 1000,
	}
}

// summarize ends the storm and writes what was counted into the result.
func (t *tally) summarize(r *Result, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	r.Requests, r.Counts = t.requests, maps.Clone(t.counts)
	r.Units = int64(t.counts[ledger.OutcomeSold]) * t.quantity
	for _, a := range t.answers {
		r.Answers = append(r.Answers, *a)
	}
	slices.SortFunc(r.Answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	r.Seconds = took.Seconds()
	if r.Seconds > 0 {
		r.RequestsPerSec = float64(r.Requests) / r.Seconds
		r.SalesPerSec = float64(r.Counts[ledger.OutcomeSold]) / r.Seconds
	}
	r.Latency, r.SoldLatency = latency(t.all), latency(t.sold)
}

func latency(h *hdrhistogram.Histogram) Latency {
	return Latency{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(), Mean: h.Mean(),
	}
}
