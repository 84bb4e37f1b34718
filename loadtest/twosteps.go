package loadtest

import (
	"time"

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
		if r, known := w.became(one.purchase); known {
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

// TwoSteps counts the requests of a run that were answered in two steps.
type TwoSteps struct {
	Accepted int `json:"accepted"`
	Ordered  int `json:"ordered"`
	Refused  int `json:"refused"` // told so after they had been accepted
	Open     int `json:"open"`    // without a final answer in time
}

// accepted counts a request's first answer.
func (t *tally) accepted(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered(p, r, at)
	t.result.TwoSteps.Accepted++
}

// became counts the last answer to an accepted request.
func (t *tally) became(p purchase, r finalReply, at timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Counts[ledger.OutcomeAccepted]--
	t.result.Counts[r.Outcome]++
	at.answered = r.at
	t.came(p, r, at)
	if r.Outcome != ledger.OutcomeAccepted {
		t.keep(p, ledger.Told{Sent: at.sent, Answered: r.at}, r.reply)
	}
	switch r.Outcome {
	case ledger.OutcomeSold:
		t.result.TwoSteps.Ordered++
	case ledger.OutcomeAccepted:
		t.result.TwoSteps.Open++
	case ledger.OutcomeUnknown: // an answer outside the contract
		t.result.TwoSteps.Open++
		t.answer(r.reply, ledger.CallBuy)
	default:
		t.result.TwoSteps.Refused++
		t.answer(r.reply, ledger.CallBuy)
	}
}
