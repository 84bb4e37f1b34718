package loadtest

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/ledger"
)

// A finalReply is what a buyer was told of one request after all its retries.
type finalReply struct {
	reply
	at time.Duration // of the answer
	// holds: until then a reservation has certainly not expired; 0: not known.
	holds time.Duration
}

// request makes request i and records what came of it.
func (w *worker) request(i int, at timing) {
	p := w.purchase(i)
	if p.copied {
		w.sendCopies(p, at)
		return
	}
	w.ended(p, w.ask(p, at.sent), at)
}

// ended counts a request, and does what its buyer does with what they got.
func (w *worker) ended(p purchase, final finalReply, at timing) {
	at.answered = final.at
	if w.Async && final.Outcome == ledger.OutcomeAccepted {
		w.tally.accepted(p, final, at)
		w.promise(promise{p, final, at})
		return
	}
	w.tally.record(p, final, at)
	w.afterwards(p, final)
}

// Pauses between two calls of one request. Each is half fixed and half random,
// so that retries spread out.
const (
	firstPause = 50 * time.Millisecond // doubled each time
	mostPause  = 2 * time.Second       // also of a Retry-After
)

// before is how long to wait before the next call.
func (p *plan) before(index, try int, r reply) time.Duration {
	if r.Outcome == ledger.OutcomeInProgress && r.RetryAfter > 0 {
		return min(r.RetryAfter, mostPause)
	}
	d := min(firstPause<<min(try, 10), mostPause)
	return d/2 + time.Duration(p.share(index, drawPause+uint64(try)<<8)*float64(d/2))
}

// ask makes the calls of one purchase.
func (w *worker) ask(p purchase, sent time.Duration) finalReply {
	holds := time.Duration(0)
	if !p.copied { // another copy may have been first
		holds = sent + w.Reserve
	}
	final, doubt := w.insist(p, ledger.CallBuy, sent, 0, w.sendPurchase)
	if final.holds = holds; doubt && !final.isDefinite() {
		final.Outcome = ledger.OutcomeUnknown // an earlier call may have bought, which this answer does not tell
	}
	return final
}

// insist makes a call, and makes it again with the same key at the next target while
// the answer leaves the outcome open and retries are left: paying or cancelling twice is
// doing it once. doubt: a call had no answer, and may have done it. What is reserved has
// certainly not expired until holds.
func (w *worker) insist(p purchase, kind ledger.Call, sent, holds time.Duration, call func(purchase) reply) (final finalReply, doubt bool) {
	for try := 0; ; try++ {
		r := call(p)
		final = finalReply{reply: r, at: w.elapsed()}
		early := r.Outcome == ledger.OutcomeExpired && final.at < holds
		w.tally.told(p, ledger.Told{Call: kind, Sent: sent, Answered: final.at, Early: early}, try, r)
		doubt = doubt || r.Outcome == ledger.OutcomeUnknown
		p.patience = 0 // the next call is waited for
		if try >= w.Retry || !r.maySendAgain() || !w.pause(w.before(p.index, try, r)) {
			return final, doubt
		}
		p.turn++
		sent = w.elapsed()
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
			copied, c := p, w.take()
			defer w.put(c)
			copied.turn = turn
			c.connectTo(p.index + turn)
			ready.Done()
			ready.Wait()
			told <- c.ask(copied, w.elapsed())
		})
	}
	best, left := <-told, CopiesEach-1
	for ; left > 0 && !best.isDefinite(); left-- {
		best = best.orBetter(<-told)
	}
	w.copies.Go(func() {
		for range left {
			best = best.orBetter(<-told)
		}
		c := w.take()
		defer w.put(c)
		c.ended(p, best, at)
	})
}

// ranking orders outcomes by how much they say about what the buyer got: a call
// without an answer may have bought.
var ranking = []ledger.Outcome{ledger.OutcomeSold, ledger.OutcomeReserved, ledger.OutcomeAccepted, ledger.OutcomeUnknown, ledger.OutcomeSoldOut,
	ledger.OutcomeDuplicate, ledger.OutcomeConflict, ledger.OutcomeBusy, ledger.OutcomeInProgress, ledger.OutcomeError}

// orBetter is what the buyer knows after two copies of one request.
func (f finalReply) orBetter(other finalReply) finalReply {
	a, b := slices.Index(ranking, f.Outcome), slices.Index(ranking, other.Outcome)
	if b >= 0 && (b < a || b == a && other.at < f.at) {
		return other
	}
	return f
}

// afterwards is what a buyer does with what they got: cancel it, or pay what they
// have reserved.
func (w *worker) afterwards(p purchase, final finalReply) {
	reserved := final.Outcome == ledger.OutcomeReserved
	about := func(call func(purchase, string) reply) func(purchase) reply {
		return func(p purchase) reply {
			r := call(p, final.OrderID)
			r.OrderID, r.Remaining = final.OrderID, 0
			return r
		}
	}
	switch {
	case final.Outcome != ledger.OutcomeSold && !reserved:
	case p.cancels:
		r, doubt := w.insist(p, ledger.CallCancel, w.elapsed(), 0, about(w.sendCancellation))
		w.tally.cancelled(p, r.reply, doubt, !reserved)
		if p.copied { // and cancels it again, which gives nothing back
			w.insist(p, ledger.CallCancel, w.elapsed(), 0, about(w.sendCancellation))
		}
	case !reserved:
	case p.forgets:
		w.tally.count(func(r *Result) { r.Reservations.Forgotten++ })
		if p.returns {
			w.copies.Go(func() {
				c := w.take()
				defer w.put(c)
				c.comeBack(p, about(c.sendCancellation))
			})
		}
	default:
		r, doubt := w.insist(p, ledger.CallPay, w.elapsed(), final.holds, about(w.sendPayment))
		w.tally.paid(p, r, doubt)
	}
}

// comeBack cancels a reservation that has expired, and its order besides: neither gives anything back.
func (w *worker) comeBack(p purchase, cancel func(purchase) reply) {
	if !w.pause(w.Reserve + time.Second) { // it was swept by then
		return
	}
	for _, p.asOrder = range []bool{false, true} {
		w.insist(p, ledger.CallCancel, w.elapsed(), 0, cancel)
	}
	w.tally.count(func(r *Result) { r.Reservations.Returned++ })
}

const (
	usualFinal = 30 * time.Second // buyers stop asking then
	// askEvery is how long buyers wait before they ask: those who ask all the time
	// would be the load.
	askEvery   = 100 * time.Millisecond
	mostAskers = 8 // connections over which they ask
)

// A promise is a request that was accepted.
type promise struct {
	purchase
	first finalReply
	at    timing // of the first answer
}

// promise takes over a request that was accepted, and is open. A goroutine for each
// would take ten times the memory, and there may be hundreds of thousands.
func (l *load) promise(one promise) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.promises = append(l.promises, one)
	if !l.asking {
		l.asking = true
		l.copies.Go(l.askForAll)
	}
}

// askForAll has all buyers who were accepted ask again and again, until every one
// has a final answer, or has stopped asking.
func (l *load) askForAll() {
	for {
		time.Sleep(askEvery)
		l.mu.Lock()
		all := l.promises
		l.promises, l.asking = nil, len(all) > 0
		l.mu.Unlock()
		if len(all) == 0 {
			return
		}
		var asking errgroup.Group
		asking.SetLimit(mostAskers)
		for _, one := range all {
			asking.Go(func() error { l.askOnce(one); return nil })
		}
		_ = asking.Wait() // it has no errors
	}
}

// askOnce asks what a request came to. While it is open, its buyer goes on asking.
func (l *load) askOnce(one promise) {
	final, w := one.first, l.take()
	defer l.put(w)
	select {
	case <-l.stopped: // nothing is asked any more
	default:
		if r, known := w.askOutcome(one.purchase); known {
			final.reply = r
		} else if one.turn++; l.elapsed() < one.at.answered+l.finalWithin {
			l.promise(one)
			return
		}
	}
	final.at = l.elapsed()
	l.tally.became(one.purchase, final, one.at)
	w.afterwards(one.purchase, final)
}

// accepted counts a request's first answer.
func (t *tally) accepted(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered(p, r, at)
	t.result.Accepted++
}

// became counts the last answer to an accepted request.
func (t *tally) became(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Counts[ledger.OutcomeAccepted]--
	t.result.Counts[r.Outcome]++
	at.answered = r.at
	t.came(p, r, at)
	if r.Outcome == ledger.OutcomeAccepted { // it has none in time
		return
	}
	t.keep(p, ledger.Told{Sent: at.sent, Answered: r.at}, r.reply)
	if r.Outcome != ledger.OutcomeSold {
		t.answer(r.reply, ledger.CallBuy)
	}
}
