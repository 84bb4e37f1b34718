//go:build verify

package hotsku

import (
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
)

// Fifty times one of two processes loses everything in the middle of a sale: what
// was acknowledged is in the ledger, nothing is sold twice, and the stock row
// follows what is there.
func TestAProcessDiesBesideTheDetails(t *testing.T) {
	for _, info := range []catalog.Info{DetailMerge, HalfMessage} {
		t.Run(info.Name, func(t *testing.T) {
			s := open(t, info, 1)
			died := 0
			for n := range 50 {
				s.reset(t, 40)
				heard, failed := s.withDeath(t, 5+n%20)
				died += failed
				snap, err := catalog.Snapshot(t.Context(), s.store, s.sku, []catalog.Seller{{Info: info, Strategy: s.processes[1]}})
				if err != nil {
					t.Fatal(err)
				}
				r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run, Told: heard,
					StockStoreOf: func(string) (ledger.StockStore, bool) { return info.Stock, true }})
				if r.Verdict != ledger.Held {
					t.Errorf("round %d: the audit says %s: %+v", n, r.Verdict, r.Violations)
				}
				if r := s.closed(t); r.Verdict != ledger.Held {
					t.Errorf("round %d, closed: the audit says %s: %+v", n, r.Verdict, r.Violations)
				}
			}
			if died == 0 {
				t.Error("no purchase was cut off")
			}
		})
	}
}
