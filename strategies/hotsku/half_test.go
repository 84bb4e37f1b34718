package hotsku

import (
	"context"
	"errors"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// settle has a process ask back and consume.
func (s *sale) settle(t *testing.T, process int) {
	t.Helper()
	if err := s.processes[process].(seckill.Settler).Settle(t.Context(), s.sku); err != nil {
		t.Error(err)
	}
}

func (s *sale) halfOf(n int) *halfMessage { return s.processes[n].(*halfMessage) }

// Whatever a process does not reach before it dies, the broker asks another about.
func TestTheBrokerAsksAboutTheDead(t *testing.T) {
	for _, c := range []struct {
		dies tap.Tap
		at   string
		left int64
	}{
		{&dies{verb: "BEGIN"}, "before its transaction", 5},
		{&dies{verb: "COMMIT"}, "before its COMMIT", 5},
		{&diesAfter{"COMMIT", false}, "after its COMMIT", 3},
	} {
		t.Run(c.at, func(t *testing.T) {
			s := open(t, HalfMessage, 5)
			_, _ = s.buy(tap.With(t.Context(), c.dies), 1, 2, "")
			s.held(t)
			s.settle(t, 1)
			s.held(t)
			s.wantClosed(t, c.left)
			if _, err := s.processes[1].Deduct(t.Context(), s.purchase(9, c.left, "")); err != nil {
				t.Errorf("buying what is left: %v", err)
			}
			s.wantClosed(t, 0)
		})
	}
}

// The canceller dies: before the COMMIT the order is active, and can be cancelled
// again; after it the units come back.
func TestTheBrokerAsksAboutCancellations(t *testing.T) {
	for _, c := range []struct {
		dies tap.Tap
		at   string
		left int64
	}{{&dies{verb: "COMMIT"}, "before its COMMIT", 3}, {&diesAfter{"COMMIT", false}, "after its COMMIT", 5}} {
		t.Run(c.at, func(t *testing.T) {
			s := open(t, HalfMessage, 5)
			r, err := s.buy(t.Context(), 1, 2, "")
			if err != nil {
				t.Fatal(err)
			}
			_ = s.processes[0].Restore(tap.With(t.Context(), c.dies), r.OrderID)
			s.held(t)
			s.wantClosed(t, c.left)
			if err := s.processes[1].Restore(t.Context(), r.OrderID); err != nil {
				t.Error(err)
			}
			s.wantClosed(t, 5)
		})
	}
}

// The broker asks while a transaction is open. The one waits for its end; the twin
// says rolled back, and the row never hears of the sale.
func TestACheckBackOfAnOpenTransaction(t *testing.T) {
	for _, c := range []struct {
		info    catalog.Info
		waits   bool
		verdict ledger.Verdict
	}{{HalfMessage, true, ledger.Held}, {HalfMessageHasty, false, ledger.Lost}} {
		t.Run(c.info.Name, func(t *testing.T) {
			s := open(t, c.info, 5)
			s.halfOf(1).settles = 0 // a lease has ended
			settled := make(chan struct{})
			_, err := s.buy(taptest.Before(t.Context(), "COMMIT", func() {
				ask := func() {
					defer close(settled)
					s.settle(t, 1)
				}
				if !c.waits {
					ask()
					return
				}
				go ask()
				s.awaitStatement(t, "INSERT INTO stock_details%VALUES%")
			}), 1, 2, "")
			if <-settled; err != nil {
				t.Error(err)
			}
			snap, err := catalog.Snapshot(t.Context(), s.store, s.sku, []catalog.Seller{{Info: s.info, Strategy: s.processes[1]}})
			if err != nil {
				t.Fatal(err)
			}
			r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: 5, Run: s.run,
				StockStoreOf: func(string) (ledger.StockStore, bool) { return ledger.InDetails, true }})
			if r.Verdict != c.verdict || s.closed(t).Verdict != c.verdict {
				t.Errorf("the audit says %s, want %s: %+v", r.Verdict, c.verdict, r.Violations)
			}
		})
	}
}

// The broker was told rolled back of a sale that had not begun yet. It begins, and
// has to take other units.
func TestASaleThatWasRolledBackTakesAnew(t *testing.T) {
	s := open(t, HalfMessage, 5)
	_, err := s.buy(taptest.Before(t.Context(), "INSERT INTO stock_details", func() { s.settle(t, 1) }), 1, 2, "")
	if err != nil || s.retried.n != 1 {
		t.Errorf("%v after %d further attempts, want 1", err, s.retried.n)
	}
	s.wantClosed(t, 3)
}

// A message that comes twice moves the row once.
func TestAMessageMayComeTwice(t *testing.T) {
	s := open(t, HalfMessage, 5)
	if _, err := s.buy(t.Context(), 1, 2, ""); err != nil {
		t.Fatal(err)
	}
	_, messages, err := s.halfOf(0).lookAt(t.Context(), s.sku, 0, everyMessage)
	if err != nil || len(messages) != 1 {
		t.Fatalf("%v, %v", messages, err)
	}
	for range 2 {
		if err := s.halfOf(0).consume(t.Context(), s.sku, s.run, messages); err != nil {
			t.Error(err)
		}
	}
	s.wantClosed(t, 3)
}

// Redis loses its messages: the row is too high, and the audit says so. No unit is
// sold twice for that.
func TestLostMessagesSellNothingTwice(t *testing.T) {
	s := open(t, HalfMessage, 3)
	if _, err := s.buy(t.Context(), 1, 2, ""); err != nil {
		t.Fatal(err)
	}
	s.halfOf(0).redis.Del(t.Context(), counterKeys(s.sku)...)
	if _, err := s.buy(t.Context(), 2, 2, ""); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("two of one: %v", err)
	}
	if _, err := s.buy(t.Context(), 3, 1, ""); err != nil {
		t.Errorf("the last one: %v", err)
	}
	if r := s.closed(t); r.Verdict != ledger.Lost || r.Sold != 3 {
		t.Errorf("the audit says %s, %d sold, want lost and 3: %+v", r.Verdict, r.Sold, r.Violations)
	}
}

// A process that ends consumes what there is. A half message that is too young stays.
func TestTheConsumerEndsWithItsProcess(t *testing.T) {
	s := open(t, HalfMessage, 9)
	for user, ctx := range []context.Context{t.Context(), tap.With(t.Context(), &diesAfter{"COMMIT", false})} {
		_, _ = s.buy(ctx, int64(user+1), 2, "")
	}
	ends := func() int64 {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		s.processes[0].(seckill.Worker).Work(ctx)
		row, err := s.store.SKU(t.Context(), s.sku)
		if err != nil {
			t.Fatal(err)
		}
		return row.Num
	}
	if num := ends(); num != 7 {
		t.Errorf("the row has %d, want 7", num)
	}
	s.halfOf(0).deps.Settings.LockLease = 0
	if num := ends(); num != 5 {
		t.Errorf("when a lease has ended the row has %d, want 5", num)
	}
	s.wantClosed(t, 5)
}

// acknowledgesFirst deletes messages before the COMMIT.
type acknowledgesFirst struct{ *halfMessage }

func (m acknowledgesFirst) Settle(ctx context.Context, sku int64) error {
	_, messages, err := m.lookAt(ctx, sku, 0, mostMessages)
	for _, one := range messages {
		err = errors.Join(err, m.redis.XDel(ctx, brokerKeys(sku)[1], one.id).Err())
	}
	var run int64
	err = errors.Join(err, m.store.Read(ctx, &run, "SELECT run FROM stock WHERE id = ?", sku))
	if err != nil {
		return err
	}
	return m.consume(ctx, sku, run, messages)
}

// The explorer finds each guard that is missing, and the original clean.
func TestMutantsOfHalfMessageAreCaught(t *testing.T) {
	actors := func(does ...explore.Does) (list []explore.Buyer) {
		for i, d := range does {
			list = append(list, explore.Buyer{Name: string(rune('A' + i)), Process: i, Quantity: 2, Does: d})
		}
		return list
	}
	beside := &explore.Scenario{Name: "a worker beside a buyer", Stock: 4, Next: true, Buyers: actors(explore.Buys, explore.Settles)}
	dies := &explore.Scenario{Name: "a worker may die", Stock: 4, Next: true, Buyers: actors(explore.Cancels, explore.Settles),
		Faults: []explore.Fault{fault.Dies}, MaxFaults: 1}
	for _, m := range []struct {
		without  string
		scenario *explore.Scenario
		mutate   func(*halfMessage) seckill.Strategy
	}{
		{"an answer that binds", beside, func(s *halfMessage) seckill.Strategy { s.ask = s.lookForSale; return s }},
		{"half a message", beside, func(s *halfMessage) seckill.Strategy { s.half = false; return s }},
		{"the message until the COMMIT", dies, func(s *halfMessage) seckill.Strategy { return acknowledgesFirst{s} }},
	} {
		t.Run("without "+m.without, func(t *testing.T) {
			if r := exploredWithin(t, HalfMessage, m.scenario); r.First != nil || r.Schedules == 0 {
				t.Fatalf("the original: %+v", r)
			}
			mutant := HalfMessage
			mutant.New = func(d catalog.Deps) (seckill.Strategy, error) {
				s := newHalfMessage(d)
				s.ask = s.decideSale
				return m.mutate(s), nil
			}
			r := exploredWithin(t, mutant, m.scenario)
			if r.First == nil {
				t.Fatalf("the mutant passes: %+v", r)
			}
			t.Log(r.Schedules, "schedules:", r.First.Problems)
		})
	}
}
