package loadtest

import (
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// lateAtMost is how long after the deadline a late payment is sent: the sweepers
// come meanwhile.
const lateAtMost = 600 * time.Millisecond

// payOrNot pays a reservation, at once or when its deadline is past, or forgets
// it. A buyer who cancels does not pay.
func (w *worker) payOrNot(p purchase, final finalReply) {
	switch {
	case final.Outcome != ledger.OutcomeReserved || p.cancels:
	case p.forgets:
		w.tally.forgot()
	case p.paysLate:
		// The deadline is counted from a time before the answer, so by then it is past.
		due := final.at + w.Reserve + time.Duration(w.share(p.index, drawPay+drawPause)*float64(lateAtMost))
		id := slices.Clone(final.OrderID)
		w.copies.Go(func() {
			if !w.pause(due - w.elapsed()) {
				w.tally.forgot()
				return
			}
			late := w.takeSpare()
			late.payFor(p, id, true, 0)
			w.putSpare(late)
		})
	default:
		w.payFor(p, slices.Clone(final.OrderID), false, final.holds)
	}
}

// payFor pays: paying twice is paying once.
func (w *worker) payFor(p purchase, id []byte, late bool, holds time.Duration) {
	r, doubt, at := w.insist(p, id, ledger.Told{Call: ledger.CallPay, Late: late}, holds, ledger.OutcomeSold, w.tally.payAgain, w.pay)
	w.tally.paid(p, r, doubt, late, at)
}

// paid counts a payment. doubt: one of its calls had no answer and may have paid.
func (t *tally) paid(p purchase, r adapter.Reply, doubt, late bool, at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	doubt = doubt || r.Outcome == ledger.OutcomeUnknown
	t.unsure[p.sku-t.firstSKU] = t.unsure[p.sku-t.firstSKU] || doubt
	if late {
		t.reserved.Late++
	}
	if r.Outcome == ledger.OutcomeSold {
		t.reserved.Paid++
		t.units += p.quantity
		t.lastSale = max(t.lastSale, at)
		return
	}
	t.answer(r, "pay_")
	switch {
	case r.Outcome == ledger.OutcomeExpired:
		t.reserved.Expired++ // and then no earlier call has paid
	case doubt:
		t.reserved.Unknown++
	default:
		t.reserved.Refused++
	}
}

// payAgain counts a call of a payment that is made again.
func (t *tally) payAgain(r adapter.Reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reserved.Retries++
	t.answer(r, "pay_")
}

func (t *tally) forgot() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reserved.Forgotten++
}
