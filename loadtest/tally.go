package loadtest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/judge"
)

// A tally counts a load into its result while it runs, and keeps what buyers were
// told.
type tally struct {
	plan *plan

	mu        sync.Mutex // guards what is counted, also in the result
	result    *Result
	ended     bool               // every request has ended
	answers   map[string]*Answer // of calls, by code
	left      []int64            // by SKU, as last told
	uncertain []bool             // by SKU: a call had no answer, whatever a later one was told
	undecided []bool             // by SKU: a request that was accepted has no final answer
	units     int64
	lastSale  time.Duration // since the start
	last      time.Duration // answer to a request

	// Microseconds. all, sold and refused count from when the request was due, service
	// from when it was sent; lag is what the generator itself was late.
	all, sold, refused, service, lag *hdrhistogram.Histogram

	history [][]judge.Told // every call, by SKU, for the judge
}

// longest is the longest time that a histogram tells apart, in microseconds.
var maxMicros = (2 * time.Hour).Microseconds()

func newTally(p *plan, r *Result) *tally {
	s := p.Scenario
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, maxMicros, 3) }
	t := &tally{plan: p, result: r, history: make([][]judge.Told, s.SKUs), answers: map[string]*Answer{}, left: make([]int64, s.SKUs), uncertain: make([]bool, s.SKUs),
		undecided: make([]bool, s.SKUs), all: h(), sold: h(), refused: h(), service: h(), lag: h()}
	// A large slice that grows is copied while buyers wait. Memory that stays empty
	// is not used.
	each := p.requests/s.SKUs + p.requests/s.SKUs/20
	for k := range t.left {
		t.left[k] = s.Stock
		t.history[k] = make([]judge.Told, 0, each)
	}
	return t
}

// lateAfter is how much later than due a request may be sent and be on time.
const maxOnTimeDelay = time.Millisecond

// A timing says when a request was due, was sent, and was answered.
type timing struct {
	due, sent, answered time.Duration
	// waited: every connection was busy when it was due. Else its lateness is the
	// generator's own.
	connectionsBusy bool
}

func toMicros(d time.Duration) int64 { return min(max(d.Microseconds(), 1), maxMicros) }

// record counts a request that has ended.
func (t *tally) recordAnswer(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countAnswered(p, r, at)
	t.countOutcome(p, r, at)
}

// answered counts a request that was answered, if only for the first time. t.mu is
// held.
func (t *tally) countAnswered(p purchase, r finalReply, at timing) {
	us := toMicros(at.answered - at.due)
	t.result.Requests++
	t.result.Counts[r.Outcome]++
	t.last = max(t.last, at.answered)
	_ = t.all.RecordValue(us) // in range
	_ = t.service.RecordValue(toMicros(at.answered - at.sent))
	if at.sent-at.due > maxOnTimeDelay {
		t.result.Late++
	}
	if !at.connectionsBusy {
		_ = t.lag.RecordValue(toMicros(at.sent - at.due))
	}
}

// came counts what a request came to in the end. t.mu is held.
func (t *tally) countOutcome(p purchase, r finalReply, at timing) {
	k := p.sku - t.plan.SKU
	switch r.Outcome {
	case judge.OutcomeSold:
		if !p.cancels { // else it may be given back, and sold again, before the answer to that comes
			t.units += p.quantity
		}
		t.left[k] = min(t.left[k], r.Remaining)
		t.lastSale = max(t.lastSale, at.answered)
		_ = t.sold.RecordValue(toMicros(at.answered - at.due))
	case judge.OutcomeReserved: // what becomes of it is added up later
		t.left[k] = min(t.left[k], r.Remaining)
		_ = t.sold.RecordValue(toMicros(at.answered - at.due))
	case judge.OutcomeAccepted:
		t.undecided[k], t.uncertain[k] = true, true
	case judge.OutcomeSoldOut:
		t.left[k] = min(t.left[k], p.quantity-1)
		_ = t.refused.RecordValue(toMicros(at.answered - at.due))
	case judge.OutcomeBusy, judge.OutcomeConflict, judge.OutcomeDuplicate:
		_ = t.refused.RecordValue(toMicros(at.answered - at.due))
	}
}

// told counts one call, the try-th again of its kind, and keeps it for the judge.
func (t *tally) recordCall(p purchase, call judge.Told, try int, r reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepCall(p, call, r)
	if r.Outcome == judge.OutcomeUnknown { // what a later one is told says nothing about this call
		t.uncertain[p.sku-t.plan.SKU] = true
	}
	if p.patience > 0 && r.Code == codeLost {
		t.result.Cut++
	}
	switch {
	case call.Call != judge.CallBuy:
	case try > 0:
		t.result.Retries++
	case p.copied && p.turn > 0:
		t.result.Copies++
	}
	if r.Code != "" { // it did not do what was asked for
		t.countCode(r, call.Call)
	}
}

// keep keeps a call for the judge. t.mu is held.
func (t *tally) keepCall(p purchase, call judge.Told, r reply) {
	call.RequestID, call.User, call.Quantity = p.key, p.user, p.quantity
	call.Outcome, call.OrderID, call.Remaining, call.Replayed, call.ThisCall = r.Outcome, r.OrderID, r.Remaining, r.Replayed, r.ThisCall
	switch r.Code {
	case codeTimeout, codeLost, codeInterrupted: // no answer came, so it has no time
		call.Answered = 0
	}
	k := p.sku - t.plan.SKU
	t.history[k] = append(t.history[k], call)
}

// answer counts an answer that did not do what was asked for, by its code, such as
// sold_out or pay_expired.
func (t *tally) countCode(r reply, call judge.Call) {
	code := r.Code
	if call != judge.CallBuy {
		code = string(call) + "_" + code
	}
	if t.answers[code] == nil {
		t.answers[code] = &Answer{Code: code, Outcome: r.Outcome, Sample: r.Message}
	}
	t.answers[code].Count++
}

// cancelled counts a cancellation. doubt: one of its calls had no answer and may
// have done it, whatever the last was told. Units that were sold, and certainly
// not given back, count from now on.
func (t *tally) recordCancellation(p purchase, r reply, doubt, sold bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.result.Cancellations
	switch {
	case r.Outcome == judge.OutcomeCancelled:
		c.Done++
	case doubt:
		c.Unknown++
	default:
		if c.Refused++; sold {
			t.units += p.quantity
		}
	}
}

// paid counts a payment. doubt: one of its calls had no answer and may have paid.
func (t *tally) recordPayment(p purchase, r finalReply, doubt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.result.Reservations
	switch {
	case r.Outcome == judge.OutcomeSold:
		c.Paid++
		t.units += p.quantity
		t.lastSale = max(t.lastSale, r.at)
	case r.Outcome == judge.OutcomeExpired:
		c.Expired++ // and then no earlier call has paid
	case doubt:
		c.Unknown++
	default:
		c.Refused++
	}
}

// count changes what is counted.
func (t *tally) updateResult(change func(*Result)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(t.result)
}

// progress is the load as it stands; Elapsed, Buyers and Rate are the caller's.
func (t *tally) currentProgress() (p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p = Progress{
		Settling: t.ended, Requests: t.result.Requests, Counts: maps.Clone(t.result.Counts), Units: t.units,
		P50: float64(t.all.ValueAtQuantile(50)) / 1000,
		P99: float64(t.all.ValueAtQuantile(99)) / 1000,
	}
	for _, left := range t.left {
		p.Left += left
	}
	return p
}

// summarize ends the load and writes the result's rates and times.
func (t *tally) writeSummary(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	r := t.result
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
		r.SalesPerSec = float64(r.Counts[judge.OutcomeSold]+r.Reservations.Paid) / r.SellingSeconds
	}
	r.Latency, r.SoldLatency, r.RefusedLatency = latencyOf(t.all), latencyOf(t.sold), latencyOf(t.refused)
	r.ServiceTime, r.Lag = latencyOf(t.service), latencyOf(t.lag)
	r.Histogram = t.all
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	return Latency{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(), Mean: h.Mean(),
	}
}

// Curve is a histogram of microseconds as percentiles.
func Curve(h *hdrhistogram.Histogram) (all []Percentile) {
	for _, percent := range []float64{50, 75, 90, 95, 99, 99.5, 99.9} {
		all = append(all, Percentile{percent, h.ValueAtQuantile(percent)})
	}
	return all
}
