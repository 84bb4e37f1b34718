package loadtest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// What is written down of a call is what the judge gets, and a long run
// stays small.
func TestHistory(t *testing.T) {
	const calls = 200_000
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p := newPlan(Scenario{SKU: 1, SKUs: 1, Quantity: 1, Buyers: calls}, []int64{1})
	before := heap()
	l := newLoad(p, newTally(p.Scenario), nil)
	for i := range calls {
		r := adapter.Reply{Outcome: ledger.OutcomeSoldOut}
		if i%10 == 0 {
			r = adapter.Reply{Outcome: ledger.OutcomeSold, OrderID: anOrder, Remaining: int64(i)}
		}
		l.add(p.purchase(i), ledger.Told{Sent: time.Duration(i), Answered: time.Duration(i + 5)}, r)
	}
	if each := float64(heap()-before) / calls; each > 200 {
		t.Errorf("%.1f bytes a call, a tenth of them sales", each)
	}
	l.add(p.purchase(8), ledger.Told{Sent: 3, Answered: 4}, adapter.NoAnswer(context.DeadlineExceeded))
	told := l.histories[0].told
	want := ledger.Told{RequestID: string(p.key(nil, 70, 1)), User: p.user(70), Quantity: 1, Outcome: ledger.OutcomeSold,
		OrderID: string(anOrder), Remaining: 70, Sent: 70, Answered: 75}
	if told[70] != want {
		t.Errorf("%+v, want %+v", told[70], want)
	}
	if lost := told[calls]; lost.Outcome != ledger.OutcomeUnknown || lost.Answered != 0 || lost.Sent != 3 {
		t.Errorf("no answer: %+v", lost)
	}
}
