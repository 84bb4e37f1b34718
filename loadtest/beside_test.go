package loadtest

import (
	"net/http"
	"net/http/httptest"
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

// A counter that is gone is judged as gone, though a service is dead besides.
func TestLostCounterAndDeadService(t *testing.T) {
	f := &fake{stockStores: func() map[ledger.StockStore]int64 { return nil }}
	alive := serve(t, f).Targets[0]
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	for _, order := range [][]string{{alive, dead.URL}, {dead.URL, alive}} {
		l := countedLedger{Ledger: f, stockStore: ledger.InRedis}
		for _, base := range order {
			l.services = append(l.services, service{base: base, http: http.DefaultClient})
		}
		if snap, err := l.Snapshot(t.Context(), 1); err != nil || len(snap.StockStores) != 0 {
			t.Errorf("%v: %v, %v; want the snapshot without a counter", order, snap.StockStores, err)
		}
	}
}
