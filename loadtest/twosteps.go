package loadtest

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

const (
	// askEvery is how long a buyer waits before they ask, and ask again.
	askEvery = 50 * time.Millisecond
	// mostAskers bounds the connections over which accepted buyers ask.
	mostAskers = 16
)

// A promise is a request that was accepted.
type promise struct {
	purchase
	key   []byte
	first finalReply
	at    timing        // of the first answer
	next  time.Duration // when to ask, since the start of the run
}

// promises are the requests whose buyers ask for their final answer, by when
// they ask next: all wait equally long.
type promises struct {
	mu     sync.Mutex
	queue  []promise
	news   chan struct{}
	all    chan struct{} // closed when no more come
	askers sync.WaitGroup
}

// An asker can ask what became of a purchase; *buyer is one.
type asker interface {
	became(p purchase, key []byte) (r adapter.Reply, final bool)
}

// promised takes over a request that was accepted.
func (l *load) promised(p purchase, key []byte, first finalReply, at timing) {
	first.Reply = first.Reply.Clone()
	l.tally.accepted(p, first, at)
	l.promises.put(promise{purchase: p, key: slices.Clone(key), first: first, at: at, next: at.answered + askEvery})
}

func (q *promises) put(one promise) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, one)
	select {
	case q.news <- struct{}{}:
	default:
	}
}

func (q *promises) take() (one promise, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return one, false
	}
	one, q.queue = q.queue[0], q.queue[1:]
	return one, true
}

// startAsking has accepted buyers ask from now on.
func (l *load) startAsking() {
	q := &l.promises
	q.mu.Lock()
	q.news, q.all = make(chan struct{}, mostAskers), make(chan struct{})
	q.mu.Unlock()
	for range mostAskers {
		q.askers.Go(l.asks)
	}
}

// askAll returns when every accepted buyer has a final answer, or has stopped
// asking.
func (l *load) askAll() {
	if !l.Async {
		return
	}
	if l.AskLater {
		l.startAsking()
	}
	close(l.promises.all)
	l.promises.askers.Wait()
}

// asks serves one buyer after the other.
func (l *load) asks() {
	w := l.worker()
	defer w.close()
	for {
		one, ok := l.promises.take()
		if !ok {
			select {
			case <-l.promises.news:
				continue
			case <-l.promises.all:
			}
			if one, ok = l.promises.take(); !ok {
				return // others may still put theirs back, and see to them
			}
		}
		if !l.askOnce(w, one) {
			one.next, one.turn = l.elapsed()+askEvery, one.turn+1
			l.promises.put(one)
		}
	}
}

// askOnce asks when it is time; false: the request is open, and its buyer may go
// on asking.
func (l *load) askOnce(w *worker, one promise) (ended bool) {
	goOn := l.pause(max(0, one.next-l.elapsed()))
	a, able := w.caller.(asker)
	final := one.first
	if able && goOn {
		if r, known := a.became(one.purchase, one.key); known {
			final.Reply = r
		} else if l.elapsed() < one.at.answered+l.FinalWithin {
			return false
		}
	}
	final.at = l.elapsed()
	if w.calls != nil && final.Outcome != ledger.OutcomeAccepted {
		w.calls.add(one.purchase, final.Reply, flagSeveral, one.at.sent, final.at)
	}
	final.Reply = final.Reply.Clone()
	l.tally.became(one.purchase, final, one.at)
	w.cancelOrder(one.purchase, one.key, final)
	return true
}

// TwoSteps sums up the answers in two steps of a run. Times are in microseconds,
// from when a request was due.
type TwoSteps struct {
	Accepted   int     `json:"accepted"`            // requests
	PerSecond  float64 `json:"accepted_per_second"` // until the last was accepted
	ToAccepted Latency `json:"to_accepted_us"`
	// ToOrder is until the buyer was told of the order: its COMMIT, and up to 50 ms
	// until they asked.
	ToOrder Latency `json:"to_order_us"`
	Ordered int     `json:"ordered"`
	Refused int     `json:"refused"` // told so after they had been accepted
	Open    int     `json:"open"`    // without a final answer in time
}

// twoSteps is what a tally counts of them.
type twoSteps struct {
	TwoSteps
	accepted, ordered *hdrhistogram.Histogram
	last              time.Duration // acceptance
}

// accepted counts a request's first answer.
func (t *tally) accepted(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered(p, r, at)
	s := &t.steps
	s.Accepted++
	s.last = max(s.last, at.answered)
	_ = s.accepted.RecordValue(micros(at.answered - at.due))
}

// became counts the last answer to an accepted request.
func (t *tally) became(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[outcomeIndex(ledger.OutcomeAccepted)]--
	t.counts[outcomeIndex(r.Outcome)]++
	at.answered = r.at
	t.came(p, r, at)
	switch r.Outcome {
	case ledger.OutcomeSold:
		t.steps.Ordered++
		_ = t.steps.ordered.RecordValue(micros(r.at - at.due))
	case ledger.OutcomeAccepted:
		t.steps.Open++
	case ledger.OutcomeUnknown: // an answer outside the contract
		t.steps.Open++
		t.answer(r.Reply, "")
	default:
		t.steps.Refused++
		t.answer(r.Reply, "")
	}
}

func (s *twoSteps) summary() *TwoSteps {
	if s.accepted == nil {
		return nil
	}
	all := s.TwoSteps
	all.ToAccepted, all.ToOrder = latency(s.accepted), latency(s.ordered)
	if s.last > 0 {
		all.PerSecond = float64(all.Accepted) / s.last.Seconds()
	}
	return &all
}
