package httpapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// Four audits of a large sale at once: all succeed, two at a time, and none
// changes anything.
func TestAuditOfALargeSale(t *testing.T) {
	const orders = 20_000
	in := labtest.Instance(t, backend.SQL)
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in, PurchaseTimeout: time.Second})
	if r := ask(t, s, "PUT", "/api/v1/skus/500", fmt.Sprintf(`{"stock":%d}`, orders)); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	store := ledger.NewStore(in.DB)
	set, err := store.SKU(t.Context(), 500)
	if err != nil {
		t.Fatal(err)
	}
	const piece = 2000
	for from := 0; from < orders; from += piece {
		var values []string
		for n := from; n < from+piece; n++ {
			values = append(values, fmt.Sprintf("(%d,'large-%d','large-%d',%d,500,1,%d,'conditional',%d,'active')", n+1, n, n, n+1, orders-n-1, set.Run))
		}
		if err := in.DB.Exec("INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) VALUES " +
			strings.Join(values, ",")).Error; err != nil {
			t.Fatal(err)
		}
	}
	if err := in.DB.Exec("UPDATE stock SET num = 0 WHERE id = 500").Error; err != nil {
		t.Fatal(err)
	}
	before, err := store.SKU(t.Context(), 500)
	if err != nil {
		t.Fatal(err)
	}

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			r := ask(t, s, "GET", "/api/v1/audit?sku_id=500", "")
			var report ledger.Report
			if r.into(t, &report); report.Verdict != ledger.Held || report.Orders != orders || report.Remaining != 0 {
				t.Errorf("%d: %+v", r.status, report)
			}
		})
	}
	all.Wait()
	if now, err := store.SKU(t.Context(), 500); err != nil || now != before {
		t.Errorf("the audits changed the row from %+v to %+v, %v", before, now, err)
	}
}
