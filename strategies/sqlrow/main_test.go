package sqlrow

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A sale is one SKU with its strategy in several processes. Its run ends with
// the audit.
type sale struct {
	info      catalog.Info
	store     *ledger.Store
	processes []seckill.Strategy
	sku, run  int64
	stock     int64
}

var lastSKU int64 // every sale has one of its own

// open starts a sale with one process for each of deps.
func open(t *testing.T, i catalog.Info, stock int64, deps ...catalog.Deps) *sale {
	t.Helper()
	lastSKU++
	s := &sale{info: i, sku: lastSKU, stock: stock}
	for _, d := range deps {
		if d.Instance == nil {
			d.Instance = instance(t, 0)
		}
		d.Ledger = ledger.NewStore(d.DB)
		built, err := catalog.Build(i, d)
		labtest.Must(t, err)
		s.store, s.processes = d.Ledger, append(s.processes, built)
	}
	set, err := s.store.Reset(t.Context(), s.sku, i.Name, stock)
	labtest.Must(t, err)
	s.run = set.Run
	return s
}

// instance is one process; its statements wait for a row for so long, or for
// the default if that is 0.
func instance(t *testing.T, wait time.Duration) *backend.Instance {
	t.Helper()
	c := labtest.Config(t, backend.RowLocks)
	c.RowLockWait = wait
	in, err := backend.Open(t.Context(), c)
	labtest.Must(t, err)
	t.Cleanup(func() { in.Close() })
	labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	return in
}

// buy buys in a process; every user buys once.
func (s *sale) buy(ctx context.Context, process int, user, quantity int64) error {
	_, err := s.processes[process].Deduct(ctx, seckill.Purchase{SKU: s.sku, User: user, Quantity: quantity,
		RequestID: fmt.Sprint(s.sku, "-", user)})
	return err
}

func (s *sale) judge(t *testing.T) ledger.Report {
	t.Helper()
	snap, err := s.store.Snapshot(t.Context(), s.sku)
	labtest.Must(t, err)
	return ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run,
		StockStoreOf: func(string) (ledger.StockStore, bool) { return s.info.Stock, true }})
}

// retries counts further attempts.
type retries struct {
	seckill.NopObserver
	n int
}

func (r *retries) Retried() { r.n++ }
