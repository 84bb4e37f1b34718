package loadtest

import (
	"slices"
	"sync"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A finalReply is what a buyer was told of one request after all its retries.
type finalReply struct {
	adapter.Reply
	at time.Duration // of the answer
	// holds: until then a reservation has certainly not expired; 0: not known.
	holds time.Duration
	// counted: the tally has all its calls. Else it lacks the last.
	counted bool
}

// Pauses between two calls of one request. Each is half fixed and half random,
// so that retries spread out.
const (
	firstPause = 50 * time.Millisecond // doubled each time
	mostPause  = 2 * time.Second       // also of a Retry-After
)

// before is how long to wait before the next call.
func (p *plan) before(index, try int, r adapter.Reply) time.Duration {
	if r.Outcome == ledger.OutcomeInProgress && r.RetryAfter > 0 {
		return min(r.RetryAfter, mostPause)
	}
	d := min(firstPause<<min(try, 10), mostPause)
	return d/2 + time.Duration(p.share(index, drawPause+uint64(try)<<8)*float64(d/2))
}

// pause waits before a request is sent again; false: the run has ended.
func (l *load) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.stopped:
		return false
	}
}

// ask makes the calls of one request. It calls again, with the same key at the
// next target, while the answer leaves the outcome open and retries are left. The
// reply of a worker for copies is its own, any other is valid until w's next call.
func (w *worker) ask(p purchase, key []byte, sent time.Duration) finalReply {
	doubt, holds := false, time.Duration(0)
	if !w.forCopies { // another copy may have been first
		holds = sent + w.Reserve
	}
	for try := 0; ; try++ {
		r := w.buy(p, key)
		at := w.elapsed()
		w.add(p, ledger.Told{Sent: sent, Answered: at}, r)
		final := finalReply{Reply: r, at: at, holds: holds, counted: w.forCopies}
		again := try < w.Retry && r.Again()
		doubt = doubt || r.Outcome == ledger.OutcomeUnknown
		// An earlier call may have bought, which this answer does not tell.
		unsettled := doubt && !r.Definite() && r.Outcome != ledger.OutcomeUnknown
		if again || unsettled || w.forCopies {
			final.Reply, final.counted = r.Clone(), true
			w.tally.call(p, final.Reply)
		}
		if w.forCopies && p.turn > 0 && try == 0 {
			w.tally.sentMore(1, 0)
		} else if try > 0 {
			w.tally.sentMore(0, 1)
		}
		if unsettled {
			final.Outcome = ledger.OutcomeUnknown
		}
		if !again || !w.pause(w.before(p.index, try, final.Reply)) {
			return final
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
	p   purchase
	key []byte
	at  timing

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
	c := &copied{load: w.load, p: p, key: w.plan.key(nil, p.index, p.sku), at: at,
		served: make(chan struct{}), left: CopiesEach}
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
	w := c.takeSpare()
	w.connect(p.index + turn)
	c.ready.Done()
	c.ready.Wait()
	final := w.ask(p, c.key, c.elapsed())
	c.end(w, final)
	c.putSpare(w)
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
		c.at.answered = c.best.at
		if c.Async && c.best.Outcome == ledger.OutcomeAccepted {
			c.promised(c.p, c.best, c.at)
			return
		}
		c.tally.record(c.p, c.best, c.at)
		w.afterwards(c.p, c.best)
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

// takeSpare returns a free worker for the calls of copies.
func (l *load) takeSpare() *worker {
	l.mu.Lock()
	if last := len(l.spare) - 1; last >= 0 {
		w := l.spare[last]
		l.spare = l.spare[:last]
		l.mu.Unlock()
		return w
	}
	l.mu.Unlock()
	w := l.worker()
	w.forCopies = true
	return w
}

func (l *load) putSpare(w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = append(l.spare, w)
}

// finish waits for the copies in flight, and for what was accepted.
func (l *load) finish() {
	l.copies.Wait()
	l.askAll()
	for _, w := range l.spare {
		w.close()
	}
	l.spare = nil
}
