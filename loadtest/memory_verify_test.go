//go:build verify

package loadtest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// A shop is a service that answers at once, and also the ledger.
type shop struct {
	atOnce
	*judge.Snapshot
}

func (s shop) sendPurchase(p purchase) reply {
	if s.Stock.Num == 0 {
		return reply{Outcome: judge.OutcomeSoldOut, Code: "sold_out", Status: 409}
	}
	s.Stock.Num--
	o := judge.Order{ID: int64(len(s.Orders) + 1), PublicID: fmt.Sprintf("JBSWY3DPEHPK3PXP%010d", len(s.Orders)),
		RequestID: p.key, Run: 1,
		UserID: p.user, SKUID: 1, Quantity: 1, Remaining: s.Stock.Num, Status: judge.Active, Strategy: testStrategy}
	s.Orders = append(s.Orders, o)
	return reply{Outcome: judge.OutcomeSold, OrderID: o.PublicID, Remaining: o.Remaining}
}

// The test judges sales of a million requests, and one of nearly the largest size that is allowed.
// They must take no more memory than expected, with the memory limit of seckill load.
func TestVerdictInMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(MaxMemory * 8 / 10))
	for _, test := range []struct{ buyers, stock int }{
		{1_000_000, 100_000}, {1_000_000, 999_000}, {2_200_000, 1000},
	} {
		s := Scenario{Strategy: testStrategy, SKU: 1, Stock: int64(test.stock), Buyers: test.buyers, Concurrency: 1,
			SKUs: 1, Profile: Closed, Quantity: 1, Timeout: time.Second}
		labtest.Check(t, s.Check(), nil, "check the scenario")
		debug.FreeOSMemory()
		book := shop{Snapshot: &judge.Snapshot{Stock: judge.Stock{ID: 1, Initial: s.Stock, Num: s.Stock, Run: 1}}}
		r := newRun(Config{Scenario: s, Ledger: skuLedger(func(int64) (judge.Snapshot, error) { return *book.Snapshot, nil }), limits: defaultLimits})
		r.plan.runs[0], r.stockStores = 1, map[string]seckill.StockStore{testStrategy: seckill.InRow}
		l := newLoad(r.plan, r.tally, func() caller { return book })
		l.sendRequests(t.Context())
		reports := r.auditSKUs(t.Context())
		if reports[0].Verdict != judge.Held || reports[0].Sold != s.Stock ||
			r.result.Linearizable.Checked != test.buyers {
			t.Errorf("%+v, linearizable %+v", reports[0], r.result.Linearizable)
		}
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most := float64(now.Sys) // includes memory that Go has returned to the system
		t.Logf("%d buyers of %d units: %.0f MB, expected %.0f MB", test.buyers, test.stock, most/1e6,
			s.expectedMemory()/1e6)
		if most > s.expectedMemory() {
			t.Errorf("%d buyers of %d units took %.0f MB, more than was expected", test.buyers, test.stock, most/1e6)
		}
	}
}
