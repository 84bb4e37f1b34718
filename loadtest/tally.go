package loadtest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A tally counts a load while it runs. Its size does not depend on how long that
// takes.
type tally struct {
	firstSKU int64

	mu       sync.Mutex
	over     bool // every request has ended
	requests int
	counts   map[ledger.Outcome]int // of requests, by their final answer
	calls    map[ledger.Outcome]int // of calls
	copies   int                    // calls that went out at once with another of their request
	retries  int                    // calls that came after another of their request
	answers  map[string]*Answer     // of calls, by code
	left     []int64                // by SKU, as last told
	unsure   []bool                 // by SKU: a call had no answer, whatever a later one was told
	open     []bool                 // by SKU: a request that was accepted has no final answer
	units    int64
	late     int
	dropped  int
	cancels  Cancellations
	reserved Reservations
	lastSale time.Duration // since the start
	last     time.Duration // answer to a request

	// Microseconds. all, sold and refused count from when the request was due, service
	// from when it was sent; lag is what the generator itself was late.
	all, sold, refused, service, lag *hdrhistogram.Histogram

	steps twoSteps
}

// longest is the longest time that a histogram tells apart, in microseconds.
var longest = (2 * time.Hour).Microseconds()

func newTally(s Scenario) *tally {
	s = s.normal()
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 3) }
	t := &tally{firstSKU: s.SKU, answers: map[string]*Answer{}, left: make([]int64, s.SKUs), unsure: make([]bool, s.SKUs),
		open: make([]bool, s.SKUs), all: h(), sold: h(), refused: h(), service: h(), lag: h(), counts: map[ledger.Outcome]int{}, calls: map[ledger.Outcome]int{}}
	if s.Async {
		t.steps.accepted, t.steps.ordered = h(), h()
	}
	for k := range t.left {
		t.left[k] = s.Stock
	}
	return t
}

// lateAfter is how much later than due a request may be sent and be on time.
const lateAfter = time.Millisecond

// A timing says when a request was due, was sent, and was answered.
type timing struct {
	due, sent, answered time.Duration
	// waited: every connection was busy when it was due. Else its lateness is the
	// generator's own.
	waited bool
}

func micros(d time.Duration) int64 { return min(max(d.Microseconds(), 1), longest) }

// record counts a request that has ended.
func (t *tally) record(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered(p, r, at)
	t.came(p, r, at)
}

// answered counts a request that was answered, if only for the first time. t.mu is
// held.
func (t *tally) answered(p purchase, r finalReply, at timing) {
	us := micros(at.answered - at.due)
	t.requests++
	t.counts[r.Outcome]++
	t.last = max(t.last, at.answered)
	if !r.counted {
		t.countCall(p, r.Reply)
	}
	_ = t.all.RecordValue(us) // in range
	_ = t.service.RecordValue(micros(at.answered - at.sent))
	if at.sent-at.due > lateAfter {
		t.late++
	}
	if !at.waited {
		_ = t.lag.RecordValue(micros(at.sent - at.due))
	}
}

// came counts what a request came to in the end. t.mu is held.
func (t *tally) came(p purchase, r finalReply, at timing) {
	k := p.sku - t.firstSKU
	switch r.Outcome {
	case ledger.OutcomeSold:
		t.units += p.quantity
		t.left[k] = r.Remaining
		t.lastSale = max(t.lastSale, at.answered)
		_ = t.sold.RecordValue(micros(at.answered - at.due))
	case ledger.OutcomeReserved: // what becomes of it is added up later
		t.left[k] = r.Remaining
		_ = t.sold.RecordValue(micros(at.answered - at.due))
	case ledger.OutcomeAccepted:
		t.open[k], t.unsure[k] = true, true
	case ledger.OutcomeUnknown:
		t.unsure[k] = true
	case ledger.OutcomeSoldOut, ledger.OutcomeBusy, ledger.OutcomeConflict, ledger.OutcomeDuplicate:
		_ = t.refused.RecordValue(micros(at.answered - at.due))
	}
}

// call counts one call of a request that has several.
func (t *tally) call(p purchase, r adapter.Reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countCall(p, r)
}

func (t *tally) countCall(p purchase, r adapter.Reply) {
	t.calls[r.Outcome]++
	switch r.Outcome {
	case ledger.OutcomeSold, ledger.OutcomeReserved:
		return
	case ledger.OutcomeUnknown: // a retry that is told sold says nothing about this call
		t.unsure[p.sku-t.firstSKU] = true
	}
	t.answer(r, "")
}

// sentMore counts calls beside the first of a request.
func (t *tally) sentMore(copies, retries int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.copies, t.retries = t.copies+copies, t.retries+retries
}

// answer counts an answer that is no sale by its code.
func (t *tally) answer(r adapter.Reply, prefix string) {
	if a := t.answers[r.Code]; a != nil && prefix == "" {
		a.Count++
		return
	}
	code := prefix + r.Code
	if a := t.answers[code]; a != nil {
		a.Count++
		return
	}
	t.answers[code] = &Answer{Code: code, Outcome: r.Outcome, Count: 1, Sample: string(r.Message)}
}

// cancelled counts a cancellation. doubt: one of its calls had no answer and may
// have done it, whatever the last was told.
func (t *tally) cancelled(p purchase, r adapter.Reply, doubt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	doubt = doubt || r.Outcome == ledger.OutcomeUnknown
	t.unsure[p.sku-t.firstSKU] = t.unsure[p.sku-t.firstSKU] || doubt
	if r.Outcome == ledger.OutcomeCancelled {
		t.cancels.Done++
		return
	}
	t.answer(r, "cancel_")
	if doubt {
		t.cancels.Unknown++
		return
	}
	t.cancels.Refused++
}

// cancelAgain counts a call of a cancellation that is made again.
func (t *tally) cancelAgain(r adapter.Reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancels.Retries++
	t.answer(r, "cancel_")
}

func (t *tally) drop(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped += n
}

// named copies counts, with a 0 for each outcome that did not come.
func named(counts map[ledger.Outcome]int) map[ledger.Outcome]int {
	all := make(map[ledger.Outcome]int, len(adapter.Outcomes))
	for _, o := range adapter.Outcomes {
		all[o] = counts[o]
	}
	return all
}

// progress is the load as it stands; Elapsed, Buyers and Rate are the caller's.
func (t *tally) progress() (p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p = Progress{
		Settling: t.over, Requests: t.requests, Counts: named(t.counts), Units: t.units, Late: t.late,
		P50: float64(t.all.ValueAtQuantile(50)) / 1000,
		P99: float64(t.all.ValueAtQuantile(99)) / 1000,
	}
	for _, left := range t.left {
		p.Left += left
	}
	return p
}

// summarize ends the load and writes what was counted into the result.
func (t *tally) summarize(r *Result, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	r.Requests, r.Counts, r.Units = t.requests, named(t.counts), t.units
	r.Calls, r.Copies, r.Retries = named(t.calls), t.copies, t.retries
	r.Late, r.Dropped, r.Cancellations, r.Reservations = t.late, t.dropped, t.cancels, t.reserved
	for a := range maps.Values(t.answers) {
		r.Answers = append(r.Answers, *a)
	}
	slices.SortFunc(r.Answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	r.Seconds, r.SellingSeconds = max(took, t.last).Seconds(), t.lastSale.Seconds()
	if r.Seconds > 0 {
		r.RequestsPerSec = float64(r.Requests) / r.Seconds
	}
	if r.SellingSeconds > 0 {
		r.SalesPerSec = float64(r.Counts[ledger.OutcomeSold]+t.reserved.Paid) / r.SellingSeconds
	}
	r.Latency, r.SoldLatency, r.RefusedLatency = latency(t.all), latency(t.sold), latency(t.refused)
	r.ServiceTime, r.Lag = latency(t.service), latency(t.lag)
	r.TwoSteps = t.steps.summary()
	r.Histogram = t.all
}

func latency(h *hdrhistogram.Histogram) Latency {
	return Latency{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(), Mean: h.Mean(),
	}
}

// curveTicks is how many points a curve has on each half of the way that is
// left to 100 %.
const curveTicks = 10

// Curve is a histogram of microseconds as percentiles, closer the nearer they are
// to 100.
func Curve(h *hdrhistogram.Histogram) []Percentile {
	all := []Percentile{}
	if h.TotalCount() == 0 {
		return all
	}
	for _, b := range h.CumulativeDistributionWithTicks(curveTicks) {
		if n := len(all); n > 0 && all[n-1].Micros == b.ValueAt {
			all[n-1].Percent = b.Quantile
			continue
		}
		all = append(all, Percentile{b.Quantile, b.ValueAt})
	}
	return all
}
