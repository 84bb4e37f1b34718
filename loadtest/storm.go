package loadtest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/ledger"
)

// When a run is interrupted, buyers that are waiting get this much longer: an
// answer says more than an unknown outcome.
const interruptGrace = time.Second

// A caller asks the service for one buyer after the other, over connections of
// its own; *buyer is one.
type caller interface {
	buy(p purchase, key []byte) reply
	cancel(p purchase, key []byte, orderID string) reply
	connect(turn int) // in advance; it may fail
	close()
}

// A storm sends a plan's requests.
type storm struct {
	*plan
	tally *tally
	open  func() caller
	begun time.Time

	mu      sync.Mutex
	diaries history
	spare   []*worker      // to be lent to copies
	copies  sync.WaitGroup // on their way
	stopped <-chan struct{}

	all  sync.WaitGroup
	line waitingLine // of an open loop
}

type worker struct {
	*storm
	caller
	diary *diary
	key   []byte
	lent  bool // it makes the calls of copies
}

// blow sends every request that ctx allows, and returns when every buyer has an
// answer or has given up. Copies of their requests may still be on their way:
// see finish.
func (s *storm) blow(ctx context.Context) {
	s.stopped = ctx.Done()
	if s.Open() {
		s.blowOpen(ctx)
	} else {
		s.blowClosed(ctx)
	}
}

func (s *storm) elapsed() time.Duration { return time.Since(s.begun) }

func (s *storm) worker() *worker {
	w := &worker{storm: s, caller: s.open()}
	if !s.NoHistory {
		w.diary = &diary{}
		s.mu.Lock()
		s.diaries = append(s.diaries, w.diary)
		s.mu.Unlock()
	}
	return w
}

// blowClosed has every worker send when it has its answer.
func (s *storm) blowClosed(ctx context.Context) {
	var next atomic.Int64
	s.begun = time.Now()
	for range min(s.Concurrency, s.requests) {
		s.all.Go(func() {
			w := s.worker()
			defer w.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= s.requests {
					return
				}
				now := s.elapsed()
				w.send(i, timing{due: now, sent: now, waited: true}) // nothing is due in a closed loop
			}
		})
	}
	s.all.Wait()
}

// send makes request i and writes down what came of it.
func (w *worker) send(i int, at timing) {
	p := w.purchase(i)
	if p.copied {
		w.sendCopies(p, at)
		return
	}
	w.key = w.plan.key(w.key[:0], i, p.sku)
	_, final := w.ask(w, p, w.key, at.sent)
	at.answered = final.at
	w.tally.record(p, final, at)
	w.giveBack(p, w.key, final)
}

// giveBack cancels what the buyer got, if they are one who cancels. It asks
// again as for a purchase: a cancellation that is done stays done.
func (w *worker) giveBack(p purchase, key []byte, final said) {
	if !p.cancels || final.outcome != ledger.OutcomeSold {
		return
	}
	id := slices.Clone(final.orderID)
	doubt := false
	for try := 0; ; try++ {
		sent := w.elapsed()
		r := w.cancel(p, key, string(id))
		at := w.elapsed()
		if w.diary != nil {
			note := r
			note.orderID, note.remaining = id, 0
			w.diary.note(p, note, flagCancel, sent, at)
		}
		if r.outcome != ledger.OutcomeCancelled && r.again() && try < w.Retry {
			doubt = doubt || r.outcome == ledger.OutcomeUnknown
			again := r.own()
			if w.pause(w.before(p.index, try, again)) {
				w.tally.cancelAgain(again)
				p.turn++
				continue
			}
			r = again
		}
		w.tally.cancelled(p, r, doubt)
		return
	}
}
