package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/reconcile"
	"seckill/internal/seckill"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A shop is the strategies on servers, and what reconcile looks at.
type shop struct {
	*testing.T
	reconcile.Place
	redis redis.UniversalClient
}

func open(t *testing.T) *shop {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	s := &shop{t, reconcile.Place{Store: ledger.NewStore(in.DB), Late: time.Minute, Rest: 50 * time.Millisecond}, in.Redis}
	for _, info := range strategies.All() {
		seller := catalog.Seller{Info: info}
		if len(info.Missing(in)) == 0 {
			strategy, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: s.Store, Settings: catalog.DefaultSettings()})
			if err != nil {
				t.Fatal(err)
			}
			seller.Strategy = strategy
		}
		s.Sellers = append(s.Sellers, seller)
	}
	s.exec("UPDATE stock SET num = initial")
	s.exec("DELETE FROM orders")
	s.exec("DELETE FROM reservations")
	s.exec("DELETE FROM distributed_lock")
	return s
}

func (s *shop) exec(statement string, args ...any) {
	s.Helper()
	if err := s.Store.DB(s.Context()).Exec(statement, args...).Error; err != nil {
		s.Fatal(err)
	}
}

func (s *shop) strategy(name string) seckill.Strategy {
	s.Helper()
	i := slices.IndexFunc(s.Sellers, func(o catalog.Seller) bool { return o.Info.Name == name })
	if i < 0 || s.Sellers[i].Strategy == nil {
		s.Fatalf("there is no %s", name)
	}
	return s.Sellers[i].Strategy
}

func (s *shop) set(sku, stock int64) {
	s.Helper()
	if _, err := s.Store.Reset(s.Context(), sku, "", stock); err != nil {
		s.Fatal(err)
	}
	for _, o := range s.Sellers {
		if r, ok := o.Strategy.(seckill.Resetter); ok {
			if err := r.Reset(s.Context(), sku, stock); err != nil {
				s.Fatal(err)
			}
		}
	}
}

func (s *shop) buy(name string, sku, user int64) {
	s.Helper()
	if _, err := s.strategy(name).Deduct(s.Context(), purchase(sku, user)); err != nil {
		s.Fatal(err)
	}
}

func purchase(sku, user int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: fmt.Sprintf("r%d-%d", sku, user)}
}

// finds looks, and wants findings of these kinds alone.
func (s *shop) finds(what string, want ...string) reconcile.Report {
	s.Helper()
	r, err := reconcile.Look(s.Context(), s.Place)
	if err != nil {
		s.Fatal(err)
	}
	kinds := []string{}
	for _, f := range r.Findings {
		kinds = append(kinds, f.Kind)
	}
	slices.Sort(kinds)
	slices.Sort(want)
	if !slices.Equal(kinds, want) {
		s.Errorf("%s: found %+v, want %v", what, r.Findings, want)
	}
	return r
}

// Everything that does not fit is found, a look changes nothing, and a fix mends
// what it says and no more.
func TestFindsAndMends(t *testing.T) {
	s := open(t)
	s.set(1, 10)
	s.set(2, 10)
	s.set(3, 10)
	s.set(4, 10)
	s.buy("conditional", 1, 1)
	s.buy("redis-counter", 2, 1)
	s.buy("redis-counter-mysql", 3, 1)
	s.finds("after sales", reconcile.NotClosed)

	s.exec("UPDATE stock SET num = 12 WHERE id = 1")
	if err := s.redis.Incr(t.Context(), "seckill:stock:3").Err(); err != nil {
		t.Fatal(err)
	}
	held, err := s.strategy("reserve").(seckill.Reserver).Reserve(t.Context(), purchase(4, 1), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.exec("UPDATE reservations SET ends_at = UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE")
	for _, row := range []string{
		"('seckill:lock:stock:1', 'dead', NOW(6) - INTERVAL 1 SECOND, NOW(6))",
		"('seckill:lock:stock:2', 'alive', NOW(6) + INTERVAL 1 HOUR, NOW(6))",
		"('seckill:lock:stock:3', '', NULL, NOW(6) - INTERVAL 1 HOUR)",
		"('seckill:lock:stock:4', '', NULL, NOW(6))",
		"('nightly', '', NULL, NOW(6) - INTERVAL 1 DAY)",
	} {
		s.exec("INSERT INTO distributed_lock (name, owner, expire, updated_at) VALUES " + row)
	}
	s.exec("INSERT INTO orders (id, public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy) " +
		"VALUES (7, 'old', 'old', 0, 9, 1, 1, 0, 'active', 'conditional')")
	want := []string{reconcile.NotClosed, reconcile.Row, reconcile.Counter, reconcile.Reservations, reconcile.LockRows, reconcile.LockRows, reconcile.OldOrders}
	s.finds("what was broken", want...)
	r := s.finds("a look changes nothing", want...)
	r.Fix(t.Context())
	for _, f := range r.Findings {
		if f.Error != "" || f.Fixed != (f.Would != "") {
			t.Errorf("%+v: fixed %t, error %q", f.What, f.Fixed, f.Error)
		}
	}
	s.finds("after the fix", reconcile.Counter)
	var rows []string
	if err := s.Store.DB(t.Context()).Raw("SELECT name FROM distributed_lock ORDER BY name").Scan(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows, []string{"nightly", "seckill:lock:stock:2", "seckill:lock:stock:4"}) {
		t.Errorf("after the fix the locks are %v", rows)
	}
	if o, err := s.Store.Reservation(t.Context(), held.OrderID); err != nil || o.Reservation.State != seckill.ReservationExpired || o.Reservation.Released != 1 {
		t.Errorf("the reservation is %+v, %v", o.Reservation, err)
	}
	if b, err := s.Store.Balance(t.Context(), 1); err != nil || b.Num != 9 {
		t.Errorf("the row is %+v, %v; want 9 left", b, err)
	}
}

// A lock that is taken anew between the look and the fix is not freed.
func TestFixSparesALockTakenAnew(t *testing.T) {
	s := open(t)
	s.exec("INSERT INTO distributed_lock (name, owner, expire) VALUES ('seckill:lock:stock:1', 'dead', NOW(6) - INTERVAL 1 SECOND)")
	r := s.finds("a dead lock", reconcile.LockRows)
	s.exec("UPDATE distributed_lock SET owner = 'next', expire = NOW(6) + INTERVAL 1 HOUR")
	r.Fix(t.Context())
	var n int
	if err := s.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM distributed_lock WHERE owner = 'next'").Scan(&n).Error; err != nil || n != 1 {
		t.Errorf("%d rows of the next holder are left, %v; want 1", n, err)
	}
}

// While buyers buy, pay late and cancel, a look finds no difference that is none,
// and a fix of a real one loses nothing: in the end the judge finds that all adds up.
func TestBesideASale(t *testing.T) {
	for _, name := range []string{"conditional", "order-first", "one-trip", "version", "merged", "reserve"} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			const stock, buyers, each = 150, 6, 30
			s.set(1, stock)
			strategy := s.strategy(name)
			ctx := t.Context()
			var buying sync.WaitGroup
			for b := range int64(buyers) {
				buying.Go(func() {
					for i := range int64(each) {
						r, err := strategy.Deduct(ctx, purchase(1, 1+b*each+i))
						switch {
						case errors.Is(err, seckill.ErrSoldOut), errors.Is(err, seckill.ErrConflict), errors.Is(err, seckill.ErrBusy):
						case err != nil:
							t.Errorf("buyer %d: %v", b, err)
						case i%7 == 0:
							err := strategy.Restore(ctx, r.OrderID)
							for tries := 1; errors.Is(err, seckill.ErrConflict) && tries < 50; tries++ {
								err = strategy.Restore(ctx, r.OrderID)
							}
							if err != nil {
								t.Errorf("cancel: %v", err)
							}
						}
					}
				})
			}
			done := make(chan struct{})
			go func() { buying.Wait(); close(done) }()
			looks := s.mendUntil(ctx, done)
			report, err := catalog.Audit(context.WithoutCancel(ctx), s.Store, 1, s.Sellers)
			if err != nil || report.Verdict != ledger.Held || report.Orders == 0 {
				t.Errorf("after %d looks the judge says %+v, %v", looks, report, err)
			}
		})
	}
}

// mendUntil breaks the row and mends it, again and again.
func (s *shop) mendUntil(ctx context.Context, done <-chan struct{}) (looks int) {
	for {
		select {
		case <-done:
			return looks
		default:
		}
		s.finds("beside the sale")
		s.exec("UPDATE stock SET num = num - 3, version = version + 1 WHERE id = 1") // fewer: more could be sold meanwhile
		r := s.finds("beside the sale, broken", reconcile.Row)
		if r.Fix(ctx); r.Left() > 0 {
			s.Errorf("the fix: %+v", r.Findings)
		}
		looks++
	}
}
