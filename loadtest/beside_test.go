package loadtest

import (
	"testing"

	"seckill/internal/ledger"
)

// Begin is called between the reset and the load, End between the load and the
// audit.
func TestBeginAndEnd(t *testing.T) {
	f := &fake{}
	c := serve(t, f)
	var atBegin, atEnd ledger.Snapshot
	c.Begin = func() { atBegin = f.view() }
	c.End = func() { atEnd = f.view() }
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if atBegin.Stock.Num != testStock || len(atBegin.Orders) != 0 {
		t.Errorf("it began with %d units and %d orders, want a fresh sale", atBegin.Stock.Num, len(atBegin.Orders))
	}
	if len(atEnd.Orders) != testStock || r.Verdict != ledger.Held {
		t.Errorf("it ended with %d orders, %s; want all %d, judged afterwards", len(atEnd.Orders), r.Verdict, testStock)
	}
}
