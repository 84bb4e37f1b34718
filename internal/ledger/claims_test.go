package ledger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// A claim finds its own order and reads no others, also while the server's
// statistics do not know yet how many there are.
func TestClaimsReadTheirOwnOrders(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	s := ledger.NewStore(in.DB)
	set, err := s.Reset(t.Context(), sku+7, "", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	const first, orders, sent = 9_000_000, 20_000, 200
	fill(t, s, sku+7, set.Run, first, orders)
	rowsRead := func() (sum int64) {
		rows, err := in.KeyDB.QueryContext(t.Context(), "SHOW SESSION STATUS LIKE 'Handler_read%'")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var n int64
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		return sum
	}
	claims := ledger.NewClaims(s, in.KeyDB, time.Minute)
	before := rowsRead()
	var all sync.WaitGroup
	for n := range sent { // every second one has an order
		all.Go(func() {
			key, user := fmt.Sprint("k", n+1), int64(n+1)
			if n%2 == 1 {
				key = fmt.Sprint("new-", n)
			}
			order, release, err := claims.Take(t.Context(), user, key)
			defer release()
			switch {
			case err != nil:
				t.Error(err)
			case (order != nil) != (n%2 == 0):
				t.Errorf("key %s: order %v", key, order)
			case order != nil && (order.PublicID != fmt.Sprintf("o%d-%d", sku+7, first+n) || order.UserID != user || order.RequestID != key):
				t.Errorf("key %s: the order of another: %+v", key, order)
			}
		})
	}
	all.Wait()
	order, release, err := claims.Take(t.Context(), 1, "last") // sent after those that only give up claims
	release()
	if err != nil || order != nil {
		t.Errorf("one more: %v, %v", order, err)
	}
	if read := rowsRead() - before; read > orders/2 { // one scan, by any of the statements, reads them all
		t.Errorf("%d claims read %d rows of %d orders", sent, read, orders)
	}
}
