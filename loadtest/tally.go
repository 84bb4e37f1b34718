package loadtest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/judge"
	"seckill/internal/tables"
)

// A tally counts the answers of a load into its result while the load runs. It also keeps every call for the judge.
type tally struct {
	plan *plan

	mu         sync.Mutex // guards the fields below and the counts of the result
	result     *Result
	ended      bool               // true when every request has ended
	answers    map[string]*Answer // code → how many calls were refused or failed with this code
	skus       []skuTally
	units      int64         // units sold and not given back, as the answers say
	lastAnswer time.Duration // when the last answer to a request arrived
	lastSale   time.Duration // when the answer to the last sale arrived
	times      histograms
}

// A skuTally has the data of a tally about one SKU.
type skuTally struct {
	minLeft        int64        // the smallest number of units left in an answer
	hasSilentCall  bool         // true if a call got no answer, even if a later call of its request got one
	hasOpenRequest bool         // true if a request that was accepted has no final answer
	calls          []judge.Call // every call about the SKU, for the judge
}

// histograms has times in microseconds. For all, sold and refused, a time begins when the request was due. For
// service, it begins when the request was sent. The values of lag are the delays with which the generator sent
// requests although a connection was free.
type histograms struct{ all, sold, refused, service, lag *hdrhistogram.Histogram }

// maxMicros is the longest time that a histogram can record, in microseconds. Longer times count as this time.
var maxMicros = (2 * time.Hour).Microseconds()

func newTally(p *plan, r *Result) *tally {
	s := p.scenario
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, maxMicros, 3) }
	t := &tally{plan: p, result: r, answers: map[string]*Answer{}, skus: make([]skuTally, s.SKUs),
		times: histograms{all: h(), sold: h(), refused: h(), service: h(), lag: h()}}
	// The slice gets its full capacity now, because growing would copy it while buyers wait. Memory
	// that is never written costs nothing.
	each := p.requests/s.SKUs + p.requests/s.SKUs/20
	for k := range t.skus {
		t.skus[k] = skuTally{minLeft: s.Stock, calls: make([]judge.Call, 0, each)}
	}
	return t
}

func (t *tally) skuOf(p purchase) *skuTally { return &t.skus[p.sku-t.plan.scenario.SKU] }

// A timing says when a request was due and when it was sent. Times count from the start of the load.
type timing struct {
	due, sent time.Duration
	// connectionsBusy is true if all connections were busy when the request was due. If it is false and the
	// request was sent late, the generator itself caused the delay.
	connectionsBusy bool
}

func toMicros(d time.Duration) int64 { return min(max(d.Microseconds(), 1), maxMicros) }

// recordAnswer counts a request with its first answer. It returns true if the answer only accepts the
// request. A final answer must then follow (see recordFinalAnswer).
func (t *tally) recordAnswer(p purchase, r reply, when timing) (accepted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Requests++
	t.result.Counts[r.Outcome]++
	t.lastAnswer = max(t.lastAnswer, r.answered)
	// RecordValue cannot fail, because toMicros keeps the value in range.
	_ = t.times.all.RecordValue(toMicros(r.answered - when.due))
	_ = t.times.service.RecordValue(toMicros(r.answered - when.sent))
	if when.sent-when.due > time.Millisecond {
		t.result.Late++
	}
	if !when.connectionsBusy {
		_ = t.times.lag.RecordValue(toMicros(when.sent - when.due))
	}
	if t.plan.scenario.Async && r.Outcome == judge.OutcomeAccepted {
		t.result.Accepted++
		return true
	}
	t.countOutcome(p, r, when)
	return false
}

// recordFinalAnswer counts the final answer to a request that was accepted.
func (t *tally) recordFinalAnswer(p purchase, r reply, when timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Counts[judge.OutcomeAccepted]--
	t.result.Counts[r.Outcome]++
	t.countOutcome(p, r, when)
	if r.Outcome == judge.OutcomeAccepted { // no final answer came in time; recordAnswer has recorded the call
		return
	}
	t.keepCall(p, judge.Call{CallTimes: judge.CallTimes{Sent: when.sent, Answered: r.answered}}, r)
	if r.Outcome != judge.OutcomeSold {
		t.countCode(r, judge.CallBuy)
	}
}

// countOutcome counts the outcome of the last answer to a request. The caller holds t.mu.
func (t *tally) countOutcome(p purchase, r reply, when timing) {
	sku, latency := t.skuOf(p), toMicros(r.answered-when.due)
	switch r.Outcome {
	case judge.OutcomeSold:
		// Units that the buyer will cancel do not count. Another buyer may get them before the
		// cancellation is answered, and they would count twice.
		if !p.cancels {
			t.units += p.quantity
		}
		sku.minLeft = min(sku.minLeft, r.Remaining)
		t.lastSale = max(t.lastSale, r.answered)
		_ = t.times.sold.RecordValue(latency)
	case judge.OutcomeReserved: // Reserved units count when they are paid: see recordPayment.
		sku.minLeft = min(sku.minLeft, r.Remaining)
		_ = t.times.sold.RecordValue(latency)
	case judge.OutcomeAccepted:
		sku.hasOpenRequest, sku.hasSilentCall = true, true
	case judge.OutcomeSoldOut:
		sku.minLeft = min(sku.minLeft, p.quantity-1)
		_ = t.times.refused.RecordValue(latency)
	case judge.OutcomeBusy, judge.OutcomeConflict, judge.OutcomeDuplicate:
		_ = t.times.refused.RecordValue(latency)
	}
}

// recordCall counts one call and keeps it for the judge. The parameter try is 0 for the first call of its
// kind in a request, 1 for the next, and so on. A call without an answer may still change the ledger later.
func (t *tally) recordCall(p purchase, call judge.Call, try int, r reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepCall(p, call, r)
	if r.Outcome == judge.OutcomeUnknown {
		t.skuOf(p).hasSilentCall = true
	}
	if p.patience > 0 && r.Code == codeLost {
		t.result.Cut++
	}
	switch {
	case call.Kind != judge.CallBuy:
	case try > 0:
		t.result.Retries++
	case p.copied && p.turn > 0:
		t.result.Copies++
	}
	if r.Code != "" { // The service refused the call, or there was no valid answer.
		t.countCode(r, call.Kind)
	}
}

// keepCall keeps a call for the judge. The caller holds t.mu.
func (t *tally) keepCall(p purchase, call judge.Call, r reply) {
	call.RequestID, call.User, call.Quantity = p.key, p.user, p.quantity
	call.Outcome, call.OrderID, call.Remaining = r.Outcome, cmp.Or(r.OrderID, p.orderID), r.Remaining
	call.Replayed, call.ThisCall = r.Replayed, r.ThisCall
	switch r.Code {
	// Answered is 0 for a call that got no answer.
	case codeTimeout, codeLost, codeInterrupted:
		call.Answered = 0
	}
	sku := t.skuOf(p)
	sku.calls = append(sku.calls, call)
}

// countCode counts a call that was refused or not answered. The counter's name is the code, such as sold_out
// or pay_expired. The caller holds t.mu.
func (t *tally) countCode(r reply, call judge.CallKind) {
	code := r.Code
	if call != judge.CallBuy {
		code = string(call) + "_" + code
	}
	if t.answers[code] == nil {
		t.answers[code] = &Answer{Code: code, Outcome: r.Outcome, Sample: r.Message}
	}
	t.answers[code].Count++
}

// recordCancellation counts a cancellation. The parameter doubt is true if one of its calls got no answer: that call
// may have returned the units, even if the last call was refused. The parameter wasSold is true if the buyer cancels
// an order, not a reservation. If the units of an order were certainly not returned, they count as sold from now on.
func (t *tally) recordCancellation(p purchase, r reply, doubt, wasSold bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.result.Cancellations
	switch {
	case r.Outcome == judge.OutcomeCancelled:
		c.Done++
	case doubt:
		c.Unknown++
	default:
		c.Refused++
		if wasSold {
			t.units += p.quantity
		}
	}
}

// recordPayment counts a payment. The parameter doubt is true if a call without an answer may have paid.
func (t *tally) recordPayment(p purchase, r reply, doubt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.result.Reservations
	switch {
	case r.Outcome == judge.OutcomeSold:
		c.Paid++
		t.units += p.quantity
		t.lastSale = max(t.lastSale, r.answered)
	case r.Outcome == judge.OutcomeExpired:
		c.Expired++ // If the reservation has expired, no earlier call has paid for it.
	case doubt:
		c.Unknown++
	default:
		c.Refused++
	}
}

// updateResult calls the function change with the result. Meanwhile no other goroutine changes the result's counts.
func (t *tally) updateResult(change func(*Result)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(t.result)
}

// currentProgress returns the progress of the load. The caller sets Elapsed, Buyers and Rate.
func (t *tally) currentProgress() Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{
		Settling: t.ended, Requests: t.result.Requests, Counts: maps.Clone(t.result.Counts), Units: t.units,
		P50: float64(t.times.all.ValueAtQuantile(50)) / 1000,
		P99: float64(t.times.all.ValueAtQuantile(99)) / 1000,
	}
	for _, sku := range t.skus {
		p.Left += sku.minLeft
	}
	return p
}

// writeSummary writes the rates and times of a finished load into the result. The load ran for the duration took.
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
	r.Seconds, r.SellingSeconds = max(took, t.lastAnswer).Seconds(), t.lastSale.Seconds()
	if r.Seconds > 0 {
		r.RequestsPerSec = float64(r.Requests) / r.Seconds
	}
	if r.SellingSeconds > 0 {
		r.SalesPerSec = r.Sales() / r.SellingSeconds
	}
	r.Latency, r.ServiceTime = latencyOf(t.times.all), latencyOf(t.times.service)
	r.SoldLatency, r.RefusedLatency = latencyOf(t.times.sold), latencyOf(t.times.refused)
	r.Lag = latencyOf(t.times.lag)
	r.Histogram = t.times.all
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	return Latency{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(), Mean: h.Mean(),
	}
}

// Curve returns seven percentiles, from 50 to 99.9, of a histogram with times in microseconds.
func Curve(h *hdrhistogram.Histogram) []Percentile {
	return tables.Map([]float64{50, 75, 90, 95, 99, 99.5, 99.9}, func(percent float64) Percentile {
		return Percentile{percent, h.ValueAtQuantile(percent)}
	})
}
