package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// fill writes count orders into a run, by the users 1 to count. Their ids begin with first.
func fill(t testing.TB, s *ledger.Store, sku, run, first, count int64) {
	t.Helper()
	const piece = 1000
	for done := int64(0); done < count; done += piece {
		var rows []string
		for i := done; i < min(done+piece, count); i++ {
			rows = append(rows, fmt.Sprintf("(%d,'o%d-%d','k%d',%d,%d,%d,1,0,'active','test')", first+i, sku, first+i, i+1, run, i+1, sku))
		}
		err := s.DB(t.Context()).Exec("INSERT INTO orders (id, public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy) VALUES " +
			strings.Join(rows, ",")).Error
		labtest.Must(t, err)
	}
}

// An order is found only by its whole id. A reset does not touch the orders of the run before, but
// no query finds them. In the new run an old key is a new request.
func TestOrdersBelongToTheirRun(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx := t.Context()
		first := labtest.Value(s.Reset(ctx, sku, "", 5)).Must(t)
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
		old := labtest.Value(sell(ctx, s, p, first.Run)).Must(t)
		for at := 1; at < len(old.OrderID); at++ { // half of an id is random, so that no guess finds an order
			guess := []byte(old.OrderID)
			if guess[at]++; second1(s.Order(ctx, string(guess))) == nil {
				t.Errorf("%s is found as %s", old.OrderID, guess)
			}
		}
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET fence = 9 WHERE id = ?", sku).Error)
		second, err := s.Reset(ctx, sku, "", 8)
		if err != nil || second.Run <= first.Run || second.Version <= first.Version || second.Num != 8 || second.Initial != 8 || second.Fence != 0 {
			t.Fatalf("reset from %+v to %+v, %v: run and version must grow", first, second, err)
		}
		rows := func() (n int64) {
			s.DB(ctx).Raw("SELECT COUNT(*) FROM orders WHERE sku_id = ?", sku).Scan(&n)
			return n
		}
		for what, err := range map[string]error{
			"Order":       second1(s.Order(ctx, old.OrderID)),
			"FindRequest": second1(s.FindRequest(ctx, sku, 1, "a")),
			"of any SKU":  second1(s.FindRequest(ctx, 0, 1, "a")),
			"Cancel": s.Tx(ctx, func(tx *gorm.DB) error {
				_, _, err := s.Cancel(tx, old.OrderID)
				return err
			}),
		} {
			labtest.Check(t, err, seckill.ErrUnknownOrder, "%s of an order of an earlier run", what)
		}
		again, err := sell(ctx, s, p, second.Run)
		if err != nil || again.OrderID == old.OrderID {
			t.Errorf("an old key in a new run: %+v, %v, want an order of its own", again, err)
		}
		if list, err := s.Orders(ctx, ledger.Filter{SKU: sku}); err != nil || len(list) != 1 || list[0].PublicID != again.OrderID {
			t.Errorf("listed are %+v, %v, want the new order", list, err)
		}
		if n, err := ledger.Sweep(ctx, s.DB(ctx)); err != nil || n < 1 || rows() != 1 {
			t.Errorf("swept %d (%v), %d rows left; want 1 and 1", n, err, rows())
		}
		// as if an older backup had been restored
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET run = run - 1 WHERE id = ?", sku).Error)
		snap := labtest.Value(s.Snapshot(ctx, sku)).Must(t)
		labtest.Same(t, len(snap.Orders), 1, "the orders seen beside an older row of stock")
		// restores the run for other tests
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET run = run + 1 WHERE id = ?", sku).Error)
	})
}

func second1(_ judge.Order, err error) error { return err }

// A reset comes between reading an order and giving its units back. The units go nowhere, and the order stays.
func TestNothingIsGivenBackToTheNextRun(t *testing.T) {
	s, _ := onServer(t) // in SQLite nothing can come between the two steps
	ctx := t.Context()
	set, _ := s.Reset(ctx, sku, "", 5)
	r, err := sell(ctx, s, seckill.Purchase{SKU: sku, User: 1, Quantity: 2, RequestID: "a"}, set.Run)
	labtest.Must(t, err)
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := s.Cancel(tx, r.OrderID)
		if err != nil || !back {
			t.Errorf("cancelling: %v, %v", back, err)
		}
		labtest.Value(s.Reset(ctx, sku, "", 5)).Check(t, nil, "a reset meanwhile")
		return s.GiveBack(tx, "UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run)
	})
	labtest.Check(t, err, seckill.ErrUnknownOrder, "giving back to a run that is over")
	now, _ := s.SKU(ctx, sku)
	labtest.Same(t, now.Num, 5, "the units of the new sale")
}

// A snapshot shows one moment, even if purchases run while it is read.
func TestASnapshotIsOfOneMoment(t *testing.T) {
	s, _ := onServer(t)
	set := labtest.Value(s.Reset(t.Context(), sku, "", 5)).Must(t)
	ctx := tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if !strings.Contains(c.Text, "request_id FROM orders") {
			return nil
		}
		_, err := sell(t.Context(), s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}, set.Run)
		return err
	}})
	if snap, err := s.Snapshot(ctx, sku); err != nil || snap.Stock.Num != 5 || len(snap.Orders) > 0 {
		t.Errorf("%d units and %d orders (%v), want the 5 and none of before", snap.Stock.Num, len(snap.Orders), err)
	}
}

// Sweep removes the orders of earlier runs of every SKU in pieces, and no other orders.
func TestSweep(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx := t.Context()
		for _, table := range []string{"stock", "orders"} { // removes the rows that other tests left
			labtest.Must(t, s.DB(ctx).Exec("DELETE FROM "+table).Error)
		}
		for _, id := range []int64{sku, sku + 1} {
			set := labtest.Value(s.Reset(ctx, id, "", 10_000)).Must(t)
			fill(t, s, id, set.Run-1, id*100_000, 2500)
			fill(t, s, id, set.Run, id*100_000+50_000, 700)
		}
		others := map[string]string{"stock_units": "(id, sku_id, run) VALUES (1",
			"reservations": "(id, strategy, state, quantity, ends_at, sku_id, run) VALUES (1, 'reserve', 'paid', 1, '2000-01-01'"}
		for table, row := range others {
			labtest.Must(t, s.DB(ctx).Exec("INSERT INTO "+table+" "+row+", ?, 0)", sku).Error)
		}
		labtest.Same(t, len(labtest.Value(s.SKUs(ctx, 1)).Must(t)), 1, "the number of SKUs, of two")
		labtest.Value(ledger.Sweep(ctx, s.DB(ctx))).Same(t, 5000, "swept orders")
		for table := range others {
			var n int64
			if s.DB(ctx).Raw("SELECT COUNT(*) FROM "+table+" WHERE sku_id = ? AND run = 0", sku).Scan(&n); n > 0 {
				t.Errorf("%d of %s are left", n, table)
			}
		}
		for _, id := range []int64{sku, sku + 1} {
			var n int64
			s.DB(ctx).Raw("SELECT COUNT(*) FROM orders WHERE sku_id = ?", id).Scan(&n)
			if list, err := s.Orders(ctx, ledger.Filter{SKU: id}); err != nil || len(list) != 700 || n != 700 {
				t.Errorf("SKU %d: %d listed (%v), %d rows, want 700", id, len(list), err, n)
			}
		}
	})
}
