//go:build verify

package hotsku

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Fifty times one of two processes loses everything in the middle of a sale:
// what was acknowledged is in the ledger, and nothing is sold twice.
func TestAProcessDiesInMidSale(t *testing.T) {
	each(t, 1, func(t *testing.T, s *sale, _ string) {
		died := 0
		for n := range 50 {
			s.reset(t, 40)
			heard, failed := s.withDeath(t, 5+n%20)
			died += failed
			snap, err := s.store.Snapshot(t.Context(), s.sku)
			if err != nil {
				t.Fatal(err)
			}
			r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run, Told: heard,
				StockStoreOf: func(string) (ledger.StockStore, bool) { return s.info.Stock, true }})
			if r.Verdict != ledger.Held {
				t.Errorf("round %d: the audit says %s: %+v", n, r.Verdict, r.Violations)
			}
		}
		if died == 0 {
			t.Error("no purchase was cut off")
		}
	})
}

// withDeath has 60 buyers at two processes, one of which dies when so many have
// been answered; failed is how many do not know what became of them.
func (s *sale) withDeath(t *testing.T, when int) (heard []ledger.Told, failed int) {
	in, err := backend.Open(t.Context(), labtest.Config(t, s.info.Needs...))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	mortal, err := catalog.Build(s.info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB),
		Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 20 * time.Second}, QueueAtOnce: 4}})
	if err != nil {
		t.Fatal(err)
	}
	processes := []seckill.Strategy{mortal, s.processes[1]}
	heard = make([]ledger.Told, 60)
	answers := make(chan struct{}, len(heard))
	var g errgroup.Group
	for i := range heard {
		p := s.purchase(int64(i+1), 1, fmt.Sprint("-", s.run))
		g.Go(func() error {
			r, err := processes[i%2].Deduct(t.Context(), p)
			heard[i] = ledger.Told{RequestID: p.RequestID, User: p.User, Quantity: 1, OrderID: r.OrderID, Remaining: r.Remaining}
			switch {
			case err == nil:
				heard[i].Outcome = ledger.OutcomeSold
			case errors.Is(err, seckill.ErrSoldOut):
				heard[i].Outcome = ledger.OutcomeSoldOut
			case seckill.NothingTaken(err):
				heard[i].Outcome = ledger.OutcomeError
			default:
				heard[i].Outcome = ledger.OutcomeUnknown
			}
			answers <- struct{}{}
			return nil
		})
	}
	for range when {
		<-answers
	}
	open := in.Dialer.LocalAddrs()
	in.Kill()
	_ = g.Wait()
	// A command that was sent runs to its end: not in the next sale.
	if err := s.sessions.Gone(t.Context(), open, false); err != nil {
		t.Error(err)
	}
	for _, h := range heard {
		if h.Outcome == ledger.OutcomeUnknown || h.Outcome == ledger.OutcomeError {
			failed++
		}
	}
	return heard, failed
}
