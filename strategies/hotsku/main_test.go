package hotsku

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/internal/seckill"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A sale is one SKU with its strategy in two processes.
type sale struct {
	info      catalog.Info
	store     *ledger.Store
	processes [2]seckill.Strategy
	sku, run  int64
	stock     int64
	retried   retries
	sessions  *probe.SQL // of the server
}

var lastSKU int64 // every sale has one of its own

func open(t *testing.T, i catalog.Info, stock int64) *sale {
	t.Helper()
	lastSKU++
	s := &sale{info: i, sku: lastSKU, stock: stock}
	settings := catalog.DefaultSettings()
	settings.QueueAtOnce, settings.LockWait = 1, 30*time.Second // also where the machine is busy
	for n := range s.processes {
		in := labtest.Instance(t, append(i.Needs, backend.RowLocks)...)
		labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
		s.store = ledger.NewStore(in.DB)
		var err error
		if s.sessions, err = probe.NewSQL(t.Context(), in, false); err != nil {
			t.Fatal(err)
		}
		built, err := catalog.Build(i, catalog.Deps{Instance: in, Ledger: s.store, Settings: settings, Observe: &s.retried})
		labtest.Must(t, err)
		s.processes[n] = built
	}
	s.reset(t, stock)
	return s
}

func (s *sale) reset(t *testing.T, stock int64) {
	t.Helper()
	set, err := s.store.Reset(t.Context(), s.sku, s.info.Name, stock)
	if r, ok := s.processes[0].(seckill.Resetter); ok && err == nil {
		err = r.Reset(t.Context(), s.sku, stock)
	}
	if err != nil {
		t.Error(err)
	}
	s.run, s.stock = set.Run, stock
}

func (s *sale) purchase(user, quantity int64, request string) seckill.Purchase {
	return seckill.Purchase{SKU: s.sku, User: user, Quantity: quantity, RequestID: fmt.Sprint(s.sku, "-", user, request)}
}

// buy buys in the first process.
func (s *sale) buy(ctx context.Context, user, quantity int64, request string) (seckill.Receipt, error) {
	return s.processes[0].Deduct(ctx, s.purchase(user, quantity, request))
}

// held judges the sale.
func (s *sale) held(t *testing.T) ledger.Snapshot {
	t.Helper()
	sellers := []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}}
	snap, err := catalog.Snapshot(t.Context(), s.store, s.sku, sellers)
	labtest.Must(t, err)
	r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run, StockStoreOf: catalog.StockStoreOf(sellers)})
	if r.Verdict != ledger.Held {
		t.Errorf("the audit says %s: %+v", r.Verdict, r.Violations)
	}
	return snap
}

// retries counts further attempts.
type retries struct {
	seckill.NopObserver
	n atomic.Int64
}

func (r *retries) Retried() { r.n.Add(1) }
