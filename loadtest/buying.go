package loadtest

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/judge"
)

// A finalReply is what a buyer was told of one request after all its retries.
type finalReply struct {
	reply
	at time.Duration // of the answer
	// holds: until then a reservation has certainly not expired; 0: not known.
	reservedUntil time.Duration
}

// request makes request i and records what came of it.
func (w *worker) makeRequest(i int, at timing) {
	p := w.purchaseOf(i)
	if p.copied {
		w.sendCopies(p, at)
		return
	}
	w.finishRequest(p, w.makePurchase(p, at.sent), at)
}

// ended counts a request, and does what its buyer does with what they got.
func (w *worker) finishRequest(p purchase, final finalReply, at timing) {
	at.answered = final.at
	if w.Async && final.Outcome == judge.OutcomeAccepted {
		w.tally.recordAcceptance(p, final, at)
		w.addAccepted(acceptedRequest{p, final, at})
		return
	}
	w.tally.recordAnswer(p, final, at)
	w.payOrCancel(p, final)
}

// Pauses between two calls of one request. Each is half fixed and half random,
// so that retries spread out.
const (
	firstPause = 50 * time.Millisecond // doubled each time
	maxPause   = 2 * time.Second       // also of a Retry-After
)

// before is how long to wait before the next call.
func (p *plan) pauseBefore(index, try int, r reply) time.Duration {
	if r.Outcome == judge.OutcomeInProgress && r.RetryAfter > 0 {
		return min(r.RetryAfter, maxPause)
	}
	d := min(firstPause<<min(try, 10), maxPause)
	return d/2 + time.Duration(p.drawShare(index, drawPause+uint64(try)<<8)*float64(d/2))
}

// ask makes the calls of one purchase.
func (w *worker) makePurchase(p purchase, sent time.Duration) finalReply {
	holds := time.Duration(0)
	if !p.copied { // another copy may have been first
		holds = sent + w.Reserve
	}
	final, doubt := w.callWithRetries(p, judge.CallBuy, sent, 0, w.sendPurchase)
	if final.reservedUntil = holds; doubt && !final.isDefinite() {
		final.Outcome = judge.OutcomeUnknown // an earlier call may have bought, which this answer does not tell
	}
	return final
}

// insist makes a call, and makes it again with the same key at the next target while
// the answer leaves the outcome open and retries are left: paying or cancelling twice is
// doing it once. doubt: a call had no answer, and may have done it. What is reserved has
// certainly not expired until holds.
func (w *worker) callWithRetries(p purchase, kind judge.Call, sent, holds time.Duration, call func(purchase) reply) (final finalReply, doubt bool) {
	for try := 0; ; try++ {
		r := call(p)
		final = finalReply{reply: r, at: w.sinceStart()}
		early := r.Outcome == judge.OutcomeExpired && final.at < holds
		w.tally.recordCall(p, judge.Told{Call: kind, Sent: sent, Answered: final.at, Early: early}, try, r)
		doubt = doubt || r.Outcome == judge.OutcomeUnknown
		p.patience = 0 // the next call is waited for
		if try >= w.Retry || !r.maySendAgain() || !w.pauseFor(w.pauseBefore(p.index, try, r)) {
			return final, doubt
		}
		p.turn++
		sent = w.sinceStart()
	}
}

// CopiesEach is how many calls a copied request makes at once: with two
// targets, one of them gets two. Clients do this when a buyer taps again, or a
// proxy resends a slow request.
const CopiesEach = 3

// sendCopies has several calls in flight under one key. It returns when the buyer has an
// answer that says what they got: copies that are told to wait go on in the background.
func (w *worker) sendCopies(p purchase, at timing) {
	var ready sync.WaitGroup // all have a connection, so that all send at once
	ready.Add(CopiesEach)
	told := make(chan finalReply, CopiesEach)
	for turn := range CopiesEach {
		w.copies.Go(func() {
			copied, c := p, w.takeWorker()
			defer w.returnWorker(c)
			copied.turn = turn
			c.connectTo(p.index + turn)
			ready.Done()
			ready.Wait()
			told <- c.makePurchase(copied, w.sinceStart())
		})
	}
	best, left := <-told, CopiesEach-1
	for ; left > 0 && !best.isDefinite(); left-- {
		best = best.orMoreCertain(<-told)
	}
	w.copies.Go(func() {
		for range left {
			best = best.orMoreCertain(<-told)
		}
		c := w.takeWorker()
		defer w.returnWorker(c)
		c.finishRequest(p, best, at)
	})
}

// ranking orders outcomes by how much they say about what the buyer got: a call
// without an answer may have bought.
var certaintyOrder = []judge.Outcome{judge.OutcomeSold, judge.OutcomeReserved, judge.OutcomeAccepted, judge.OutcomeUnknown, judge.OutcomeSoldOut,
	judge.OutcomeDuplicate, judge.OutcomeConflict, judge.OutcomeBusy, judge.OutcomeInProgress, judge.OutcomeError}

// orBetter is what the buyer knows after two copies of one request.
func (f finalReply) orMoreCertain(other finalReply) finalReply {
	a, b := slices.Index(certaintyOrder, f.Outcome), slices.Index(certaintyOrder, other.Outcome)
	if b >= 0 && (b < a || b == a && other.at < f.at) {
		return other
	}
	return f
}

// afterwards is what a buyer does with what they got: cancel it, or pay what they
// have reserved.
func (w *worker) payOrCancel(p purchase, final finalReply) {
	reserved := final.Outcome == judge.OutcomeReserved
	about := func(call func(purchase, string) reply) func(purchase) reply {
		return func(p purchase) reply {
			r := call(p, final.OrderID)
			r.OrderID, r.Remaining = final.OrderID, 0
			return r
		}
	}
	switch {
	case final.Outcome != judge.OutcomeSold && !reserved:
	case p.cancels:
		r, doubt := w.callWithRetries(p, judge.CallCancel, w.sinceStart(), 0, about(w.sendCancellation))
		w.tally.recordCancellation(p, r.reply, doubt, !reserved)
		if p.copied { // and cancels it again, which gives nothing back
			w.callWithRetries(p, judge.CallCancel, w.sinceStart(), 0, about(w.sendCancellation))
		}
	case !reserved:
	case p.forgets:
		w.tally.updateResult(func(r *Result) { r.Reservations.Forgotten++ })
		if p.returns {
			w.copies.Go(func() {
				c := w.takeWorker()
				defer w.returnWorker(c)
				c.cancelExpired(p, about(c.sendCancellation))
			})
		}
	default:
		r, doubt := w.callWithRetries(p, judge.CallPay, w.sinceStart(), final.reservedUntil, about(w.sendPayment))
		w.tally.recordPayment(p, r, doubt)
	}
}

// comeBack cancels a reservation that has expired, and its order besides: neither gives anything back.
func (w *worker) cancelExpired(p purchase, cancel func(purchase) reply) {
	if !w.pauseFor(w.Reserve + time.Second) { // it was swept by then
		return
	}
	for _, p.asOrder = range []bool{false, true} {
		w.callWithRetries(p, judge.CallCancel, w.sinceStart(), 0, cancel)
	}
	w.tally.updateResult(func(r *Result) { r.Reservations.Returned++ })
}

const (
	defaultFinalWithin = 30 * time.Second // buyers stop asking then
	// askEvery is how long buyers wait before they ask: those who ask all the time
	// would be the load.
	askInterval = 100 * time.Millisecond
	maxAskers   = 8 // connections over which they ask
)

// A promise is a request that was accepted.
type acceptedRequest struct {
	purchase
	first finalReply
	at    timing // of the first answer
}

// promise takes over a request that was accepted, and is open. A goroutine for each
// would take ten times the memory, and there may be hundreds of thousands.
func (l *load) addAccepted(one acceptedRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, one)
	if !l.asking {
		l.asking = true
		l.copies.Go(l.askAllOutcomes)
	}
}

// askForAll has all buyers who were accepted ask again and again, until every one
// has a final answer, or has stopped asking.
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
		for _, one := range all {
			asking.Go(func() error { l.askOneOutcome(one); return nil })
		}
		_ = asking.Wait() // it has no errors
	}
}

// askOnce asks what a request came to. While it is open, its buyer goes on asking.
func (l *load) askOneOutcome(one acceptedRequest) {
	final, w := one.first, l.takeWorker()
	defer l.returnWorker(w)
	select {
	case <-l.stopped: // nothing is asked any more
	default:
		if r, known := w.askOutcome(one.purchase); known {
			final.reply = r
		} else if one.turn++; l.sinceStart() < one.at.answered+l.finalWithin {
			l.addAccepted(one)
			return
		}
	}
	final.at = l.sinceStart()
	l.tally.recordFinalAnswer(one.purchase, final, one.at)
	w.payOrCancel(one.purchase, final)
}

// accepted counts a request's first answer.
func (t *tally) recordAcceptance(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countAnswered(p, r, at)
	t.result.Accepted++
}

// became counts the last answer to an accepted request.
func (t *tally) recordFinalAnswer(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Counts[judge.OutcomeAccepted]--
	t.result.Counts[r.Outcome]++
	at.answered = r.at
	t.countOutcome(p, r, at)
	if r.Outcome == judge.OutcomeAccepted { // it has none in time
		return
	}
	t.keepCall(p, judge.Told{Sent: at.sent, Answered: r.at}, r.reply)
	if r.Outcome != judge.OutcomeSold {
		t.countCode(r.reply, judge.CallBuy)
	}
}
