package loadtest

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// What is written down of a call comes out again, also an order's id of any
// length, and a run of a million requests stays small: each call takes its
// record of 32 bytes, and a sale its order's id.
func TestHistory(t *testing.T) {
	const calls = 1_000_000
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p := newPlan(Scenario{SKU: 1, SKUs: 1, Quantity: 1, Buyers: calls}, []int64{1})
	before := heap()
	d := &callLog{}
	for i := range calls {
		r := adapter.Reply{Outcome: ledger.OutcomeSoldOut}
		if i%10 == 0 {
			r = adapter.Reply{Outcome: ledger.OutcomeSold, OrderID: anOrder, Remaining: int64(i)}
		}
		d.add(purchase{index: i}, r, 0, time.Duration(i), time.Duration(i+5))
	}
	if each := float64(heap()-before) / calls; each > 40 {
		t.Errorf("%.1f bytes a call, a tenth of them sales", each)
	}
	long := []byte(strings.Repeat("x", 40_000))
	d.add(purchase{index: 7}, adapter.Reply{Outcome: ledger.OutcomeCancelled, OrderID: long, Remaining: 1 << 40}, flagCancel, 1, 2)
	d.add(purchase{index: 8}, adapter.NoAnswer(context.DeadlineExceeded), 0, 3, 4)
	told := told(p, history{d}.bySKU(p)[0])
	t.Logf("%.0f bytes a call while it is judged", float64(heap()-before)/calls)
	if len(told) != calls+2 {
		t.Fatalf("%d calls, want %d", len(told), calls+2)
	}
	want := ledger.Told{RequestID: string(p.key(nil, 70, 1)), User: p.user(70), Quantity: 1, Outcome: ledger.OutcomeSold,
		OrderID: string(anOrder), Remaining: 70, Sent: 70, Answered: 75}
	if told[70] != want {
		t.Errorf("%+v, want %+v", told[70], want)
	}
	if back := told[calls]; back.Call != ledger.CallCancel || back.OrderID != string(long) || back.Outcome != ledger.OutcomeCancelled {
		t.Errorf("%s of an order of %d letters: %s", back.Call, len(back.OrderID), back.Outcome)
	}
	if lost := told[calls+1]; lost.Outcome != ledger.OutcomeUnknown || lost.Answered != 0 || lost.Sent != 3 {
		t.Errorf("no answer: %+v", lost)
	}
	runtime.KeepAlive(d)
}
