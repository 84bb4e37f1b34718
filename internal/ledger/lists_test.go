package ledger_test

import (
	"context"
	"errors"
	"testing"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Every list and look-up reads the rows that it shows, and few besides.
func TestEveryListReadsLittle(t *testing.T) {
	s, _ := onServer(t)
	ctx := t.Context()
	if _, err := s.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{sku, sku + 1} {
		set, err := s.Reset(ctx, id, "", 10_000)
		labtest.Must(t, err)
		fill(t, s, id, set.Run, id*100_000, 5000)
	}
	looking := -rowsRead(t, s)
	looking += rowsRead(t, s) // what the look itself reads
	refusals, before := ledger.NewRefusals(s), rowsRead(t, s)
	for _, key := range []string{"k7", "new"} { // while the server's statistics do not know yet how many orders there are
		now, err := s.SKU(ctx, sku)
		labtest.Must(t, err)
		r := ledger.Refusal{Purchase: seckill.Purchase{SKU: sku, User: 7, Quantity: 1, RequestID: key}, Run: now.Run, Reason: "sold_out"}
		o, err := refusals.Write(ctx, r)
		if err != nil || (o.Status == judge.Active) != (key == "k7") {
			t.Fatalf("the refusal of %s: %+v, %v", key, o, err)
		}
	}
	if n := rowsRead(t, s) - before - looking; n > 400 {
		t.Errorf("two refusals: the database reads %d rows", n)
	}
	labtest.Must(t, s.DB(ctx).Exec("ANALYZE TABLE orders, stock").Error)
	list := func(f ledger.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.Orders(ctx, f)
			return err
		}
	}
	for what, call := range map[string]func(context.Context) error{
		"a SKU's":              list(ledger.Filter{SKU: sku}),
		"a user's":             list(ledger.Filter{User: 7}),
		"a user's of a SKU":    list(ledger.Filter{User: 7, SKU: sku}),
		"a user's request":     list(ledger.Filter{RequestID: "k7", User: 7}),
		"an order":             func(ctx context.Context) error { return second1(s.Order(ctx, "o7001-700100007-A")) },
		"a request of a SKU":   func(ctx context.Context) error { return second1(s.FindRequest(ctx, sku, 7, "k7")) },
		"nothing to sweep":     func(ctx context.Context) error { _, err := s.Sweep(ctx); return err },
		"a request of any SKU": func(ctx context.Context) error { return second1(s.FindRequest(ctx, 0, 7, "k7")) },
	} {
		before := rowsRead(t, s)
		if err := call(ctx); err != nil && !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Fatalf("%s: %v", what, err)
		}
		if n := rowsRead(t, s) - before - looking; n > 2*ledger.MaxOrders+400 { // with reservations
			t.Errorf("%s: the database reads %d rows", what, n)
		}
	}
}

// rowsRead returns how many rows the server has read since it started.
func rowsRead(t *testing.T, s *ledger.Store) (sum int64) {
	t.Helper()
	var rows []struct{ Value int64 }
	labtest.Must(t, s.DB(t.Context()).Raw("SHOW GLOBAL STATUS LIKE 'Handler_read%'").Scan(&rows).Error)
	for _, r := range rows {
		sum += r.Value
	}
	return sum
}
