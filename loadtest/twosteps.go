package loadtest

import (
	"container/heap"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
)

const (
	// askAfter is how long a buyer waits before they ask. It doubles each time, up
	// to askEvery: buyers who ask all the time would be the load.
	askAfter = 50 * time.Millisecond
	askEvery = 400 * time.Millisecond
	// mostAskers bounds the connections over which accepted buyers ask.
	mostAskers = 8
)

// A promise is a request that was accepted.
type promise struct {
	purchase
	key   []byte
	first finalReply
	at    timing        // of the first answer
	next  time.Duration // when to ask, since the start of the run
	pause time.Duration // before that
}

// promises are the requests whose buyers ask for their final answer.
type promises struct {
	start  sync.Once // when the first comes: the run's clock is set then
	mu     sync.Mutex
	queue  byNext
	news   chan struct{}
	all    chan struct{} // closed when no more come
	askers sync.WaitGroup
}

// byNext is a heap: the promise that is asked for next comes first.
type byNext []promise

func (q byNext) Len() int           { return len(q) }
func (q byNext) Less(i, j int) bool { return q[i].next < q[j].next }
func (q byNext) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *byNext) Push(x any)        { *q = append(*q, x.(promise)) }
func (q *byNext) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = promise{}
	*q = (*q)[:last]
	return x
}

// promised takes over a request that was accepted.
func (l *load) promised(p purchase, key []byte, first finalReply, at timing) {
	if !l.AskLater {
		l.promises.start.Do(l.startAsking)
	}
	first.Reply = first.Reply.Clone()
	l.tally.accepted(p, first, at)
	l.promises.put(promise{purchase: p, key: slices.Clone(key), first: first, at: at, next: at.answered + askAfter, pause: askAfter})
}

func (q *promises) put(one promise) {
	q.mu.Lock()
	defer q.mu.Unlock()
	heap.Push(&q.queue, one)
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// take returns a promise that is due. Without one it says how long until the next
// is; empty: there is none.
func (q *promises) take(now time.Duration) (one promise, wait time.Duration, empty bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return one, 0, true
	}
	if wait = q.queue[0].next - now; wait > 0 {
		return one, wait, false
	}
	return heap.Pop(&q.queue).(promise), 0, false
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
	l.promises.start.Do(l.startAsking)
	close(l.promises.all)
	l.promises.askers.Wait()
}

// asks serves one buyer after the other.
func (l *load) asks() {
	w := l.worker()
	defer w.close()
	for {
		now, ended := l.elapsed(), false
		select {
		case <-l.stopped: // the run ends: nothing is asked any more
			now, ended = never, true
		default:
		}
		one, wait, empty := l.promises.take(now)
		switch {
		case empty:
			select {
			case <-l.promises.news:
			case <-l.promises.all:
				if _, _, empty := l.promises.take(0); empty {
					return // others may still put theirs back, and see to them
				}
			}
		case wait > 0:
			l.until(wait)
		case !l.askOnce(w, one, !ended):
			one.pause = min(2*one.pause, askEvery)
			one.next, one.turn = l.elapsed()+one.pause, one.turn+1
			l.promises.put(one)
		}
	}
}

const never = time.Duration(math.MaxInt64)

// until waits for a promise to become due, for another, or for the run's end.
func (l *load) until(wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.promises.news:
	case <-l.stopped:
	}
}

// askOnce asks; false: the request is open, and its buyer may go on asking.
func (l *load) askOnce(w *worker, one promise, goOn bool) (ended bool) {
	final := one.first
	if goOn {
		if r, known := w.became(one.purchase, one.key); known {
			final.Reply = r
		} else if l.elapsed() < one.at.answered+l.FinalWithin {
			return false
		}
	}
	final.at = l.elapsed()
	if final.Outcome != ledger.OutcomeAccepted {
		w.calls.add(one.purchase, final.Reply, flagSeveral, one.at.sent, final.at)
	}
	final.Reply = final.Reply.Clone()
	l.tally.became(one.purchase, final, one.at)
	w.cancelOrder(one.purchase, final)
	return true
}

// TwoSteps sums up the answers in two steps of a run. Times are in microseconds,
// from when a request was due.
type TwoSteps struct {
	Accepted   int     `json:"accepted"`            // requests
	PerSecond  float64 `json:"accepted_per_second"` // until the last was accepted
	ToAccepted Latency `json:"to_accepted_us"`
	// ToOrder is until the buyer was told of the order: its COMMIT, and up to 0.4 s
	// until they asked again.
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
