//go:build verify

package httpapi_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// fillRun writes count orders into a SKU's current run, of the users 1 to count.
func fillRun(t *testing.T, db *gorm.DB, sku, count int64) {
	t.Helper()
	const piece = 2000
	for first := int64(1); first <= count; first += piece {
		var rows strings.Builder
		for user := first; user < min(first+piece, count+1); user++ {
			if user > first {
				rows.WriteByte(',')
			}
			fmt.Fprintf(&rows, "(%d,'o%d-%d','key-%d',@run,%d,%d,1,%d,'active','conditional')", user, sku, user, user, user, sku, count-user)
		}
		err := db.Connection(func(tx *gorm.DB) error {
			if err := tx.Exec("SET @run = (SELECT run FROM stock WHERE id = ?)", sku).Error; err != nil {
				return err
			}
			return tx.Exec("INSERT INTO orders (id, public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy) VALUES " + rows.String()).Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Exec("UPDATE stock SET num = initial - ? WHERE id = ?", count, sku).Error; err != nil {
		t.Fatal(err)
	}
}

// peak samples the heap while f runs, in MB.
func peak(f func()) (mb uint64) {
	var most atomic.Uint64
	done := make(chan struct{})
	var sampler sync.WaitGroup
	sampler.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapInuse))
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	f()
	close(done)
	sampler.Wait()
	return most.Load() >> 20
}

// A sale of a million orders: four audits at once, every list, and the next
// sale, in less than 200 MB.
func TestASaleOfAMillion(t *testing.T) {
	const million = 1_000_000
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in})
	ask(t, s, "PUT", "/api/v1/skus/1", fmt.Sprintf(`{"stock":%d}`, million))
	if _, err := s.Ledger.Sweep(t.Context()); err != nil { // what earlier tests have left
		t.Fatal(err)
	}
	fillRun(t, in.DB, 1, million)
	runtime.GC()

	timed := func(what string, f func()) {
		begun := time.Now()
		used := peak(f)
		t.Logf("%s: %s, %d MB of heap at most", what, time.Since(begun).Round(time.Millisecond), used)
		if used > 200 {
			t.Errorf("%s took %d MB, want 200 at most", what, used)
		}
	}
	timed("four audits at once", func() {
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() {
				r := ask(t, s, "GET", "/api/v1/audit?sku_id=1", "")
				var report ledger.Report
				if r.into(t, &report); r.status != http.StatusOK || report.Verdict != ledger.Held || report.Sold != million {
					t.Errorf("an audit is answered %d %.300s", r.status, r.body)
				}
			})
		}
		g.Wait()
	})
	for _, query := range []string{"", "?sku_id=1", "?user_id=777777", "?sku_id=1&user_id=777777", "?user_id=777777&request_id=key-777777", "?request_id=key-777777"} {
		timed("GET /orders"+query, func() {
			if r := ask(t, s, "GET", "/api/v1/orders"+query, ""); r.status != http.StatusOK {
				t.Errorf("%s is answered %d %.300s", query, r.status, r.body)
			}
		})
	}
	deleted := func() (n int64) {
		var row struct{ Value int64 }
		if err := in.DB.Raw("SHOW GLOBAL STATUS LIKE 'Innodb_rows_deleted'").Scan(&row).Error; err != nil {
			t.Fatal(err)
		}
		return row.Value
	}
	before := deleted()
	timed("the next sale", func() {
		if r := ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`); r.status != http.StatusOK {
			t.Fatalf("a reset is answered %d %s", r.status, r.body)
		}
	})
	if n := deleted() - before; n > 100 {
		t.Errorf("the reset removed %d rows, want it to leave the orders alone", n)
	}
	if r := ask(t, s, "POST", "/api/v1/seckill", purchase(5, 1), "Idempotency-Key: key-5"); r.status != http.StatusOK {
		t.Errorf("an old key buys in the next sale: %d %s", r.status, r.body)
	}
	timed("removing a million orders", func() {
		if n, err := s.Ledger.Sweep(t.Context()); err != nil || n != million {
			t.Errorf("swept %d orders, %v, want a million", n, err)
		}
	})
}
