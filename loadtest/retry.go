package loadtest

import (
	"slices"
	"time"

	"seckill/internal/ledger"
)

// What a buyer was told of one request in the end, after all its retries.
type said struct {
	reply
	at time.Duration // of the answer
	// doubt: one of the calls had no answer, and none was told sold. The request
	// may have bought, whatever its other calls were told.
	doubt bool
	// counted: the tally has each of its calls. Else it lacks the last.
	counted bool
}

// again reports whether a client sends the same request again after this.
func (r reply) again() bool {
	switch r.code {
	case codeTimeout, codeLost, codeUnreachable:
		return true
	}
	return r.status >= 500 || r.outcome == ledger.OutcomeInProgress
}

// silent: no answer came, so that there is no time at which one did.
func (r reply) silent() bool {
	return r.code == codeTimeout || r.code == codeLost || r.code == codeInterrupted
}

// definite: the answer says what the buyer got.
func (r reply) definite() bool {
	switch r.outcome {
	case ledger.OutcomeUnknown, ledger.OutcomeError, ledger.OutcomeInProgress:
		return false
	}
	return true
}

// own makes the reply outlast its answer.
func (r reply) own() reply {
	r.orderID, r.message = slices.Clone(r.orderID), slices.Clone(r.message)
	return r
}

// Pauses between two calls of one request. Each is half fixed and half random,
// as retries that meet at once would only make a busy service busier.
const (
	firstPause = 50 * time.Millisecond // doubled each time
	mostPause  = 2 * time.Second       // also of a Retry-After
)

// before is how long to wait before the next call.
func (p *plan) before(index, try int, r reply) time.Duration {
	if r.outcome == ledger.OutcomeInProgress && r.after > 0 {
		return min(r.after, mostPause)
	}
	d := min(firstPause<<min(try, 10), mostPause)
	return d/2 + time.Duration(p.share(index, drawPause+uint64(try)<<8)*float64(d/2))
}

// ask makes the calls of one request: again with the same key, at the next
// process, for as long as its answer leaves it open and retries are left. A
// worker that is lent is free for others during a pause; ask returns the one it
// had last. What it returns lasts until that worker's next call, but is its own
// where the worker is lent.
func (s *storm) ask(w *worker, p purchase, key []byte, sent time.Duration) (*worker, said) {
	var flags uint8
	if w.lent {
		flags = flagSeveral
	}
	doubt := false
	for try := 0; ; try++ {
		r := w.buy(p, key)
		at := s.elapsed()
		var note *record
		if w.diary != nil {
			note = w.diary.note(p, r, flags, sent, at)
		}
		final := said{reply: r, at: at, counted: w.lent}
		again := try < s.Retry && r.again()
		doubt = doubt || r.outcome == ledger.OutcomeUnknown
		final.doubt = doubt && r.outcome != ledger.OutcomeSold
		// An earlier call may have bought, and this one does not know.
		unsettled := final.doubt && !r.definite() && r.outcome != ledger.OutcomeUnknown
		if again || unsettled || w.lent {
			final.reply, final.counted = r.own(), true
			s.tally.call(p, final.reply)
		}
		if w.lent && p.turn > 0 && try == 0 {
			s.tally.sentMore(1, 0)
		} else if try > 0 {
			s.tally.sentMore(0, 1)
		}
		if unsettled {
			final.outcome = ledger.OutcomeUnknown
		}
		if !again {
			return w, final
		}
		if note != nil {
			note.flags |= flagSeveral
		}
		flags = flagSeveral
		if w.lent {
			s.dismiss(w)
		}
		goOn := s.pause(s.plan.before(p.index, try, final.reply))
		if w.lent {
			w = s.hireCopier()
		}
		if !goOn {
			return w, final
		}
		p.turn++
		sent = s.elapsed()
	}
}
