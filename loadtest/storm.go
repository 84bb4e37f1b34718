package loadtest

import (
	"context"
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

	all  sync.WaitGroup
	line waitingLine // of an open loop
}

type worker struct {
	*storm
	caller
	diary *diary
	key   []byte
}

// blow sends every request that ctx allows, each once, and returns when all
// have an answer or were given up.
func (s *storm) blow(ctx context.Context) {
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
	w.key = w.plan.key(w.key[:0], i, p.sku)
	r := w.buy(p, w.key)
	at.answered = w.elapsed()
	w.tally.record(p, r, at)
	var note *record
	if w.diary != nil {
		note = w.diary.next()
		*note = record{index: i, outcome: outcomeIndex(r.outcome), remaining: r.remaining,
			orderID: string(r.orderID), call: int64(at.sent), answered: int64(at.answered)}
	}
	if !p.cancels || r.outcome != ledger.OutcomeSold {
		return
	}
	call := w.elapsed()
	state := w.tally.cancelled(p, w.cancel(p, w.key, string(r.orderID)))
	if note != nil {
		note.cancel, note.cancelCall, note.back = state, int64(call), int64(w.elapsed())
	}
}
