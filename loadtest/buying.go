package loadtest

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/judge"
)

func (w *worker) makeRequest(i int, when timing) {
	p := w.load.plan.purchaseOf(i)
	if p.copied {
		w.sendCopies(p, when)
		return
	}
	w.finishRequest(p, w.makePurchase(p), when)
}

// finishRequest records the last answer to a request. After an order or a reservation, the buyer may pay or cancel.
func (w *worker) finishRequest(p purchase, final reply, when timing) {
	if w.load.tally.recordAnswer(p, final, when) {
		w.load.addAccepted(acceptedRequest{p, final, when})
		return
	}
	w.payOrCancel(p, final)
}

// A buyer pauses between two calls of one request. Half of each pause is random, so that the
// retries of many buyers spread out.
const (
	firstPause = 50 * time.Millisecond // the first pause; each further pause is twice as long
	maxPause   = 2 * time.Second       // the maximum; it also bounds the pause that a Retry-After asks for
)

func (p *plan) pauseBefore(index, try int, r reply) time.Duration {
	if r.Outcome == judge.OutcomeInProgress && r.RetryAfter > 0 {
		return min(r.RetryAfter, maxPause)
	}
	d := min(firstPause<<min(try, 10), maxPause)
	return d/2 + time.Duration(p.drawShare(index, drawPause+uint64(try)<<8)*float64(d/2))
}

func (w *worker) makePurchase(p purchase) reply {
	sent := w.load.sinceStart()
	final, doubt := w.callWithRetries(p, judge.CallBuy, 0, w.caller.sendPurchase)
	// If copies of the request are sent concurrently, another copy may have made the reservation before this call
	// was sent. The end of the reservation is then not known.
	if !p.copied {
		final.reservedUntil = sent + w.load.plan.scenario.Reserve
	}
	// An earlier call may have bought, and this reply does not say whether it did. So the outcome is unknown.
	if doubt && !final.isDefinite() {
		final.Outcome = judge.OutcomeUnknown
	}
	return final
}

// callWithRetries makes a call. If the reply leaves the outcome open and retries are left, it makes the call again,
// at the next target and with the same key. This is safe: to buy, pay or cancel twice has the same effect as once. It
// returns the last reply, and true if any call got no answer. A call without an answer may have taken effect. For
// reservedUntil, see the type reply.
func (w *worker) callWithRetries(p purchase, kind judge.CallKind, reservedUntil time.Duration,
	send func(purchase) reply) (reply, bool) {
	plan, doubt := w.load.plan, false
	for try := 0; ; try++ {
		sent := w.load.sinceStart()
		r := send(p)
		r.answered = w.load.sinceStart()
		early := r.Outcome == judge.OutcomeExpired && r.answered < reservedUntil
		times := judge.CallTimes{Sent: sent, Answered: r.answered}
		w.load.tally.recordCall(p, judge.Call{Kind: kind, CallTimes: times, Early: early}, try, r)
		doubt = doubt || r.Outcome == judge.OutcomeUnknown
		p.patience = 0 // The buyer hangs up during the first call only, and waits for the answers to later calls.
		if try >= plan.scenario.Retry || !r.maySendAgain() || !w.load.pauseFor(plan.pauseBefore(p.index, try, r)) {
			return r, doubt
		}
		p.turn++
	}
}

// CopiesEach is how many calls are made at once for a request that is sent several times. Clients
// do so when a buyer taps again, or when a proxy sends a slow request again. If there are two
// targets, one of them gets two of the calls.
const CopiesEach = 3

// sendCopies makes several calls with one key at the same time. It returns when an answer says what the buyer
// got. Calls that have no answer by then go on in the background.
func (w *worker) sendCopies(p purchase, when timing) {
	// All calls wait until each has its connection, so that they are sent at the same time.
	var connected sync.WaitGroup
	connected.Add(CopiesEach)
	answers := make(chan reply, CopiesEach)
	for turn := range CopiesEach {
		w.load.goWithWorker(func(copier *worker) {
			copied := p
			copied.turn = turn
			copier.caller.connectTo(p.index + turn)
			connected.Done()
			connected.Wait()
			answers <- copier.makePurchase(copied)
		})
	}
	best, left := <-answers, CopiesEach-1
	for ; left > 0 && !best.isDefinite(); left-- {
		best = best.orMoreCertain(<-answers)
	}
	w.load.copies.Go(func() {
		for range left {
			best = best.orMoreCertain(<-answers)
		}
		finisher := w.load.takeWorker()
		defer w.load.returnWorker(finisher)
		finisher.finishRequest(p, best, when)
	})
}

// certaintyOrder begins with the outcomes that say most about what the buyer got. The unknown outcome comes
// before the refusals, because a call without an answer may have bought.
var certaintyOrder = []judge.Outcome{judge.OutcomeSold, judge.OutcomeReserved, judge.OutcomeAccepted,
	judge.OutcomeUnknown, judge.OutcomeSoldOut, judge.OutcomeDuplicate, judge.OutcomeConflict, judge.OutcomeBusy,
	judge.OutcomeInProgress, judge.OutcomeError}

// orMoreCertain compares r with a second answer to the same request. It returns the answer that says
// more about what the buyer got.
func (r reply) orMoreCertain(second reply) reply {
	a, b := slices.Index(certaintyOrder, r.Outcome), slices.Index(certaintyOrder, second.Outcome)
	if b >= 0 && (b < a || b == a && second.answered < r.answered) {
		return second
	}
	return r
}

func (w *worker) payOrCancel(p purchase, final reply) {
	p.orderID = final.OrderID
	reserved, tally := final.Outcome == judge.OutcomeReserved, w.load.tally
	switch {
	case final.Outcome != judge.OutcomeSold && !reserved:
	case p.cancels:
		r, doubt := w.callWithRetries(p, judge.CallCancel, 0, w.caller.sendCancellation)
		tally.recordCancellation(p, r, doubt, !reserved)
		if p.copied { // The buyer cancels a second time, which must not give the units back again.
			w.callWithRetries(p, judge.CallCancel, 0, w.caller.sendCancellation)
		}
	case !reserved:
	case p.forgets:
		tally.updateResult(func(r *Result) { r.Reservations.Forgotten++ })
		if w.load.plan.drawShare(p.index, drawReturn) < 0.5 { // half of these buyers cancel after the expiry
			w.load.goWithWorker(func(w *worker) { w.cancelExpired(p) })
		}
	default:
		r, doubt := w.callWithRetries(p, judge.CallPay, final.reservedUntil, w.caller.sendPayment)
		tally.recordPayment(p, r, doubt)
	}
}

// cancelExpired cancels an expired reservation, and then its order. Both calls must leave the stock as it is,
// because the service returned the units when the reservation expired.
func (w *worker) cancelExpired(p purchase) {
	// After this pause, the service has released the expired reservation.
	if !w.load.pauseFor(w.load.plan.scenario.Reserve + time.Second) {
		return
	}
	for _, p.asOrder = range []bool{false, true} {
		w.callWithRetries(p, judge.CallCancel, 0, w.caller.sendCancellation)
	}
	w.load.tally.updateResult(func(r *Result) { r.Reservations.Returned++ })
}

// restock adds the units of p. Then it makes the call a second time with the same key, which must add nothing.
func (w *worker) restock(p purchase) {
	// An open connection makes the call short. A short call overlaps few purchases, so it is faster to judge.
	w.caller.connectTo(0)
	first, _ := w.callWithRetries(p, judge.CallRestock, 0, w.caller.sendRestock)
	again, _ := w.callWithRetries(p, judge.CallRestock, 0, w.caller.sendRestock)
	w.load.tally.updateResult(func(r *Result) {
		r.Restocks++
		if first.Outcome != judge.OutcomeRestocked && again.Outcome != judge.OutcomeRestocked {
			r.Problems = append(r.Problems, newProblem("not_restocked", params{"units": p.quantity, "error": again.Message},
				"a restock of %d units was not acknowledged: %s", p.quantity, again.Message))
		}
	})
}

const (
	// askInterval is how long buyers wait before they ask again for the outcome. Without a pause, these
	// questions would be most of the load.
	askInterval = 100 * time.Millisecond
	// maxAskers bounds the number of connections over which buyers ask for outcomes.
	maxAskers = 8
)

type acceptedRequest struct {
	purchase purchase
	first    reply
	when     timing
}

// addAccepted adds a request whose first answer said that it was accepted. One goroutine asks for the outcomes of all
// such requests, because there may be hundreds of thousands. A goroutine for each would take ten times the memory.
func (l *load) addAccepted(a acceptedRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, a)
	if !l.asking {
		l.asking = true
		l.copies.Go(l.askAllOutcomes)
	}
}

// askAllOutcomes asks for the outcomes of all accepted requests again and again. It returns when every
// request has its final answer, or has waited for limits.final.
func (l *load) askAllOutcomes() {
	for {
		time.Sleep(askInterval)
		l.mu.Lock()
		all := l.accepted
		l.accepted, l.asking = nil, len(all) > 0
		l.mu.Unlock()
		if len(all) == 0 {
			return
		}
		var asking errgroup.Group
		asking.SetLimit(maxAskers)
		for _, a := range all {
			asking.Go(func() error { l.askOneOutcome(a); return nil })
		}
		// Wait returns no error, because the functions return none.
		_ = asking.Wait()
	}
}

// askOneOutcome asks once for the outcome of a request. If there is no final answer yet, the
// request is asked about again later.
func (l *load) askOneOutcome(a acceptedRequest) {
	final, w := a.first, l.takeWorker()
	defer l.returnWorker(w)
	select {
	// After an interruption nobody asks again, so the first answer stays the last one.
	case <-l.stopped:
	default:
		r, known := w.caller.askOutcome(a.purchase)
		if known {
			final = r
			break
		}
		a.purchase.turn++
		if l.sinceStart() < a.first.answered+l.limits.final {
			l.addAccepted(a)
			return
		}
	}
	final.answered = l.sinceStart()
	l.tally.recordFinalAnswer(a.purchase, final, a.when)
	w.payOrCancel(a.purchase, final)
}
