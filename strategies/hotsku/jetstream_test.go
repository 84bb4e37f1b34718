package hotsku

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// jetOpen is open, with a clock that the test moves on.
func jetOpen(t *testing.T, info catalog.Info, stock int64) (s *sale, gate *jetGate, later *atomic.Int64) {
	t.Helper()
	s, later = open(t, info, stock), &atomic.Int64{}
	in := labtest.Instance(t, info.Uses()...)
	settings := catalog.DefaultSettings()
	settings.LockWait = 200 * time.Millisecond
	built, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Settings: settings,
		Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	s.processes[0] = built
	switch b := built.(type) {
	case *jetstream:
		gate = b.jetGate
	case *jetstreamWindow:
		gate = b.jetGate
	}
	return s, gate, later
}

// jetMessages are the ids in the stream of s.
func jetMessages(t *testing.T, s *sale, g *jetGate) (ids []string) {
	t.Helper()
	sale, err := g.sale(t.Context(), s.sku)
	if err != nil {
		t.Fatal(err)
	}
	all, err := g.nats.Messages(t.Context(), sale.stream(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestJetStreamKeepsAMessageForEachPurchase(t *testing.T) {
	s, g, _ := jetOpen(t, JetStream, 3)
	if _, err := s.buy(t.Context(), 1, 2, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.buy(t.Context(), 2, 2, ""); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("two of one: %v", err)
	}
	if _, err := s.buy(t.Context(), 1, 1, "again"); !errors.Is(err, seckill.ErrDuplicate) {
		t.Errorf("a second order: %v", err)
	}
	if _, err := s.buy(t.Context(), 1, 2, ""); !errors.Is(err, seckill.ErrDuplicate) {
		t.Errorf("a copy: %v", err)
	}
	r, err := s.buy(t.Context(), 3, 1, "")
	if err != nil || r.Remaining != 0 {
		t.Fatalf("the last unit: %+v, %v", r, err)
	}
	if ids := jetMessages(t, s, g); len(ids) != 2 {
		t.Errorf("two orders, and the messages %q: who was refused left one", ids)
	}
	for range 2 {
		if err := s.processes[1].Restore(t.Context(), r.OrderID); err != nil {
			t.Fatal(err)
		}
	}
	if ids := jetMessages(t, s, g); len(ids) != 1 {
		t.Errorf("one order is cancelled, and the messages are %q", ids)
	}
	s.held(t)
	s.reset(t, 2)
	if _, err := s.buy(t.Context(), 1, 1, ""); err != nil && !errors.Is(err, seckill.ErrConflict) {
		t.Errorf("after a reset: %v", err)
	}
	if ids := jetMessages(t, s, g); len(ids) > 1 {
		t.Errorf("the new run begins with the messages %q", ids)
	}
	names, err := g.nats.Streams(t.Context(), "seckill.stock.*.*.*")
	if err != nil {
		t.Fatal(err)
	}
	sale, _ := g.sale(t.Context(), s.sku)
	if old := (jetSale{sale.database, sale.sku, sale.run - 1}); slices.Contains(names, old.stream()) {
		t.Errorf("the reset left %s", old.stream())
	}
}

// Whatever NATS forgets, the row sells no unit twice.
func TestJetStreamMayForget(t *testing.T) {
	s, g, _ := jetOpen(t, JetStream, 2)
	for user := int64(1); user <= 4; user++ {
		want := error(nil)
		if user > 2 {
			want = seckill.ErrSoldOut
		}
		if _, err := s.buy(t.Context(), user, 1, ""); !errors.Is(err, want) {
			t.Errorf("buyer %d of two units: %v, want %v", user, err, want)
		}
		sale, err := g.sale(t.Context(), s.sku)
		if err == nil {
			err = g.nats.DeleteStream(t.Context(), sale.stream())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.held(t)
}

// A buyer who dies after the message holds a place for a lease, no longer, and
// meanwhile no buyer is told sold out.
func TestJetStreamTidiesUpAfterTheDead(t *testing.T) {
	s, g, later := jetOpen(t, JetStream, 1)
	if _, err := s.buy(tap.With(t.Context(), &dies{verb: "BEGIN"}), 1, 1, ""); err == nil {
		t.Fatal("a dead buyer bought")
	}
	if ids := jetMessages(t, s, g); len(ids) != 1 {
		t.Fatalf("the dead buyer's messages: %q", ids)
	}
	if _, err := s.buy(t.Context(), 2, 1, ""); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("while the place is taken: %v, want busy", err)
	}
	later.Store(int64(catalog.DefaultSettings().LockLease + time.Second))
	if _, err := s.buy(t.Context(), 2, 1, ""); err != nil {
		t.Errorf("a lease later: %v", err)
	}
	s.held(t)
}

func TestJetStreamInTwoProcesses(t *testing.T) {
	s := open(t, JetStream, 10)
	var sold atomic.Int64
	var buyers errgroup.Group
	for user := int64(1); user <= 30; user++ {
		buyers.Go(func() error {
			_, err := s.processes[user%2].Deduct(t.Context(), s.purchase(user, 1, ""))
			if err == nil {
				sold.Add(1)
			} else if !errors.Is(err, seckill.ErrSoldOut) {
				return err
			}
			return nil
		})
	}
	if err := buyers.Wait(); err != nil || sold.Load() != 10 {
		t.Errorf("%d of ten were sold; %v", sold.Load(), err)
	}
	s.held(t)
}

// jetForgetful loses the first answer to COMMIT, and in the pause that follows
// the time passes in which the stream knows ids again, if it should.
type jetForgetful struct {
	lost    bool
	forgets func()
}

func (*jetForgetful) Before(context.Context, *tap.Command) error { return nil }

func (f *jetForgetful) After(_ context.Context, c *tap.Command, err error) error {
	if c.Name == "COMMIT" && !f.lost {
		f.lost = true
		return errors.New("the answer is lost")
	}
	return err
}

func (*jetForgetful) Sleep(context.Context, time.Duration) error { return nil }

func (f *jetForgetful) Timer(*tap.Command, time.Duration) <-chan time.Time {
	f.forgets()
	now := make(chan time.Time, 1)
	now <- time.Now()
	return now
}

// The twin takes the units of a retry again once the window has passed.
func TestJetStreamWindow(t *testing.T) {
	for _, c := range []struct {
		info   catalog.Info
		passes bool
		rule   string
	}{
		{JetStream, true, ""},
		{JetStreamWindow, false, ""},
		{JetStreamWindow, true, ledger.RuleLostUnits},
	} {
		s, g, _ := jetOpen(t, c.info, 5)
		ctx := tap.With(t.Context(), &jetForgetful{forgets: func() {
			if !c.passes {
				return
			}
			probes, err := probe.Of(t.Context(), labtest.Instance(t, backend.SQL, backend.JetStream), c.info)
			if err == nil {
				_, err = probes.Expire(t.Context(), probe.Key(c.info, s.sku), nil)
			}
			if err != nil {
				t.Error(err)
			}
		}})
		if _, err := s.buy(ctx, 1, 2, ""); err != nil {
			t.Errorf("%s: %v", c.info.Name, err)
		}
		report, err := catalog.Audit(t.Context(), s.store, s.sku, []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}})
		if err != nil {
			t.Fatal(err)
		}
		var broken string
		for _, v := range report.Violations {
			broken += v.Rule
		}
		if broken != c.rule {
			t.Errorf("%s, the window passes: %t: the audit finds %q broken, want %q; messages %q",
				c.info.Name, c.passes, broken, c.rule, jetMessages(t, s, g))
		}
	}
}
