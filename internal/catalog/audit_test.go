package catalog_test

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

var rowSeller = []catalog.Seller{seller("conditional", seckill.InRow, plain{})}

// largeSales are so many SKUs, each sold out in n orders of one unit.
func largeSales(t testing.TB, skus, n int) (*ledger.Store, *gorm.DB) {
	t.Helper()
	config := labtest.Config(t, backend.SQL, backend.RowLocks)
	config.RowLockWait = 10 * time.Minute // so long the driver waits for an answer
	db := labtest.Open(t, config).DB
	labtest.Must(t, ledger.Migrate(t.Context(), db))
	store := ledger.NewStore(db)
	for sku := 1; sku <= skus; sku++ {
		set, err := store.Reset(t.Context(), int64(sku), "", int64(n))
		labtest.Must(t, err)
		labtest.Must(t, db.Exec("UPDATE stock SET num = 0 WHERE id = ?", sku).Error)
		labtest.Must(t, db.Exec("INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity, "+
			"remaining, strategy, run, status) WITH RECURSIVE digits AS (SELECT 0 AS n UNION ALL SELECT n + 1 "+
			"FROM digits WHERE n < 999) SELECT i, CONCAT('o', ?, '-', i + 1800000000000000000, '-JBSWY3DPEHPK3'), "+
			"CONCAT('load-1234567890abcdef-1-1-', i), i * 2000, ?, 1, ? - i, 'conditional', ?, 'active' FROM "+
			"(SELECT 1 + a.n * 1000 + b.n AS i FROM digits AS a, digits AS b) AS numbers "+
			"WHERE i <= ?", sku, sku, n, set.Run, n).Error)
	}
	return store, db
}

// peak is by how much f raises a metric of the runtime at most.
func peak(metric string, f func()) (most uint64) {
	live := []metrics.Sample{{Name: metric}}
	runtime.GC()
	metrics.Read(live)
	before, over, tick := live[0].Value.Uint64(), make(chan struct{}), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	go func() {
		defer close(over)
		f()
	}()
	for {
		metrics.Read(live)
		most = max(most, live[0].Value.Uint64())
		select {
		case <-over:
			return most - before
		case <-tick.C:
		}
	}
}

// An audit keeps a user's number for each order, and no order. It finds what the judge finds in a snapshot, also
// where two orders hold the same unit.
func TestAuditTakesLittleMemory(t *testing.T) {
	const orders, each = 50_000, 120
	store, db := largeSales(t, 1, orders)
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // often, or garbage would count
	for _, c := range []struct {
		verdict judge.Verdict
		change  string
	}{
		{judge.Held, "UPDATE stock SET num = 0"},
		{judge.Held, "UPDATE orders SET remaining = remaining DIV 2"},
		{judge.Lost, "UPDATE stock SET num = 7"},
	} {
		labtest.Must(t, db.Exec(c.change).Error)
		var got judge.Report
		var err error
		live := peak("/gc/heap/live:bytes", func() { got, err = catalog.Audit(t.Context(), store, 1, rowSeller) })
		labtest.Must(t, err)
		e, err := catalog.Evidence(t.Context(), store, 1, rowSeller)
		labtest.Must(t, err)
		if want := judge.Judge(e); !reflect.DeepEqual(got, want) || got.Verdict != c.verdict {
			t.Errorf("after %s the audit says\n%+v, and the judge of a snapshot\n%+v", c.change, got, want)
		}
		t.Logf("%s: %d bytes for each order", c.change, live/orders)
		if live > orders*each {
			t.Errorf("after %s an audit took %d bytes for each order, want at most %d", c.change, live/orders, each)
		}
	}
}
