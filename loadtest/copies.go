package loadtest

import (
	"slices"
	"sync"
	"time"

	"seckill/internal/ledger"
)

// copiesEach is how many calls a copied request makes at once: with two
// service processes, one of them gets two. Some clients do this when a buyer
// taps again, or when a proxy sends a slow request again.
const copiesEach = 3

// A copied request is on its way several times under one key.
type copied struct {
	*storm
	p   purchase
	key []byte
	at  timing

	ready  sync.WaitGroup // all have a connection, so that all send at once
	served chan struct{}  // the buyer has an answer that says what they got
	serve  func()

	mu   sync.Mutex
	left int
	best said
}

// sendCopies returns when the buyer has an answer; copies that are told to
// wait go on without them.
func (w *worker) sendCopies(p purchase, at timing) {
	c := &copied{storm: w.storm, p: p, key: w.plan.key(nil, p.index, p.sku), at: at,
		served: make(chan struct{}), left: copiesEach}
	c.serve = sync.OnceFunc(func() { close(c.served) })
	c.ready.Add(copiesEach)
	for turn := range copiesEach {
		w.copies.Go(func() { c.send(turn) })
	}
	<-c.served
}

func (c *copied) send(turn int) {
	p := c.p
	p.turn = turn
	w := c.hireCopier()
	w.connect(p.index + turn)
	c.ready.Done()
	c.ready.Wait()
	w, s := c.ask(w, p, c.key, c.elapsed())
	c.end(w, s)
	c.dismiss(w)
}

// end takes what one copy was told. The last one counts the request.
func (c *copied) end(w *worker, s said) {
	c.mu.Lock()
	if c.best.outcome == "" {
		c.best = s
	} else {
		c.best = c.best.orBetter(s)
	}
	c.left--
	last := c.left == 0
	c.mu.Unlock()
	if last || s.definite() {
		c.serve()
	}
	if last {
		c.at.answered = c.best.at
		c.tally.record(c.p, c.best, c.at)
		w.giveBack(c.p, c.key, c.best)
	}
}

// ranking orders what the copies of one request may be told by how much it
// says about what the buyer got: one that has no answer may have bought.
var ranking = []ledger.Outcome{ledger.OutcomeSold, ledger.OutcomeAccepted, ledger.OutcomeUnknown, ledger.OutcomeSoldOut,
	ledger.OutcomeDuplicate, ledger.OutcomeConflict, ledger.OutcomeBusy, ledger.OutcomeInProgress, ledger.OutcomeError}

// orBetter is what the buyer knows after two copies of one request.
func (s said) orBetter(other said) said {
	a, b := slices.Index(ranking, s.outcome), slices.Index(ranking, other.outcome)
	doubt := s.doubt || other.doubt
	if b >= 0 && (b < a || b == a && other.at < s.at) {
		s = other
	}
	s.doubt = doubt
	return s
}

// hireCopier lends a worker that is free, for one call.
func (s *storm) hireCopier() *worker {
	s.mu.Lock()
	if last := len(s.spare) - 1; last >= 0 {
		w := s.spare[last]
		s.spare = s.spare[:last]
		s.mu.Unlock()
		return w
	}
	s.mu.Unlock()
	w := s.worker()
	w.lent = true
	return w
}

func (s *storm) dismiss(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = append(s.spare, w)
}

// finish waits for the copies that are still on their way.
func (s *storm) finish() {
	s.copies.Wait()
	for _, w := range s.spare {
		w.close()
	}
	s.spare = nil
}

// pause waits before a request is sent again; false: the run was ended.
func (s *storm) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopped:
		return false
	}
}
