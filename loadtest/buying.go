package loadtest

import (
	"slices"
	"sync"
	"time"

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
	final, doubt := w.insist(p, ledger.CallBuy, sent, 0, w.buy)
	if final.holds = holds; doubt && !final.Definite() {
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
		if try >= w.Retry || !r.Again() || !w.pause(w.before(p.index, try, r)) {
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

// A copied request has several calls in flight under one key.
type copied struct {
	*load
	p  purchase
	at timing

	ready  sync.WaitGroup // all have a connection, so that all send at once
	served chan struct{}  // the buyer has an answer that says what they got
	serve  func()

	mu   sync.Mutex
	left int
	best finalReply
}

// sendCopies returns when the buyer has an answer. Copies that are told to wait
// go on in the background.
func (w *worker) sendCopies(p purchase, at timing) {
	c := &copied{load: w.load, p: p, at: at, served: make(chan struct{}), left: CopiesEach}
	c.serve = sync.OnceFunc(func() { close(c.served) })
	c.ready.Add(CopiesEach)
	for turn := range CopiesEach {
		w.copies.Go(func() { c.send(turn) })
	}
	<-c.served
}

func (c *copied) send(turn int) {
	p := c.p
	p.turn = turn
	w := c.take()
	w.connect(p.index + turn)
	c.ready.Done()
	c.ready.Wait()
	c.end(w, w.ask(p, c.elapsed()))
	c.put(w)
}

// end takes what one copy was told. The last one counts the request.
func (c *copied) end(w *worker, final finalReply) {
	c.mu.Lock()
	if c.best.Outcome == "" {
		c.best = final
	} else {
		c.best = c.best.orBetter(final)
	}
	c.left--
	last := c.left == 0
	c.mu.Unlock()
	if last || final.Definite() {
		c.serve()
	}
	if last {
		w.ended(c.p, c.best, c.at)
	}
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
		r, doubt := w.insist(p, ledger.CallCancel, w.elapsed(), 0, about(w.cancel))
		w.tally.cancelled(p, r.reply, doubt, !reserved)
	case !reserved:
	case p.forgets:
		w.tally.forgot()
	default:
		r, doubt := w.insist(p, ledger.CallPay, w.elapsed(), final.holds, about(w.pay))
		w.tally.paid(p, r, doubt)
	}
}
