package loadtest

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"

	"seckill/internal/ledger"
)

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

// promises are the requests whose buyers ask for their final answer.
type promises struct {
	mu    sync.Mutex
	open  []promise
	sent  chan struct{} // closed when no more come
	asked sync.WaitGroup
}

// promised takes over a request that was accepted.
func (l *load) promised(p purchase, first finalReply, at timing) {
	first.Reply = first.Reply.Clone()
	l.tally.accepted(p, first, at)
	l.promises.add(promise{p, first, at})
}

func (q *promises) add(one promise) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = append(q.open, one)
}

func (q *promises) take() (all []promise) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, q.open = q.open, nil
	return all
}

// startAsking has all buyers who were accepted ask again and again, until every one
// has a final answer, or has stopped asking.
func (l *load) startAsking() {
	q := &l.promises
	q.sent = make(chan struct{})
	sent := q.sent
	q.asked.Go(func() {
		for ended := false; ; {
			select {
			case <-sent:
				ended, sent = true, nil
			case <-time.After(askEvery):
			case <-l.stopped: // nothing is asked any more
				<-q.sent
				ended = true
			}
			all := q.take()
			var asking errgroup.Group
			asking.SetLimit(mostAskers)
			for _, one := range all {
				asking.Go(func() error { l.askOnce(one); return nil })
			}
			_ = asking.Wait() // it has no errors
			if ended && len(all) == 0 {
				return
			}
		}
	})
}

// askAll waits for the last final answer.
func (l *load) askAll() {
	if l.Async {
		close(l.promises.sent)
		l.promises.asked.Wait()
	}
}

// askOnce asks what a request came to. While it is open, its buyer goes on asking.
func (l *load) askOnce(one promise) {
	final, w := one.first, l.takeSpare()
	defer l.putSpare(w)
	select {
	case <-l.stopped:
	default:
		if r, known := w.became(one.purchase, l.plan.key(nil, one.index, one.sku)); known {
			final.Reply = r.Clone()
		} else if one.turn++; l.elapsed() < one.at.answered+l.finalWithin {
			l.promises.add(one)
			return
		}
	}
	final.at = l.elapsed()
	if final.Outcome != ledger.OutcomeAccepted {
		l.add(one.purchase, ledger.Told{Sent: one.at.sent, Answered: final.at}, final.Reply)
	}
	l.tally.became(one.purchase, final, one.at)
	w.cancelOrder(one.purchase, final)
}

// TwoSteps sums up the answers in two steps of a run. Times are in microseconds,
// from when a request was due.
type TwoSteps struct {
	Accepted   int     `json:"accepted"`            // requests
	PerSecond  float64 `json:"accepted_per_second"` // until the last was accepted
	ToAccepted Latency `json:"to_accepted_us"`
	// ToOrder is until the buyer was told of the order: its COMMIT, and up to 0.1 s
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
	t.counts[ledger.OutcomeAccepted]--
	t.counts[r.Outcome]++
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
