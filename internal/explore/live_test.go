package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// chooseAll makes the choices one after the other.
func chooseAll(t *testing.T, l *explore.Live, v explore.View, choices ...explore.Choice) explore.View {
	t.Helper()
	for i, c := range choices {
		var err error
		if v, err = l.Choose(t.Context(), c); err != nil {
			t.Fatalf("choice %d, %s: %v", i+1, c, err)
		}
	}
	return v
}

// While a person thinks, no time passes: not for what a strategy does behind its
// purchase either.
func TestThinkingTakesNoTime(t *testing.T) {
	for _, c := range []struct {
		info catalog.Info
		at   []string // commands that a person thinks about
	}{
		{redislock.RedisSetNX, []string{"DEL"}},
		{zklock.ZK, []string{"DELETE"}},
		{etcdlock.Etcd, []string{"TXN IF CREATE", "TXN IF VALUE"}},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			l, v, err := open(t, c.info).Begin(t.Context(), two(explore.Buys))
			labtest.Must(t, err)
			defer l.End()
			for v.Actors[0].Next != nil {
				next := strings.ToUpper(v.Actors[0].Next.Text)
				if len(c.at) > 0 && strings.HasPrefix(next, c.at[0]) {
					c.at = c.at[1:]
					time.Sleep(2500 * time.Millisecond) // longer than a command or a release may take
				}
				v = chooseAll(t, l, v, explore.Choice{Who: "A"})
				if last := v.Steps[len(v.Steps)-1]; last.Result != "" {
					t.Errorf("%q came to %q", last.Command, last.Result)
				}
			}
			if len(c.at) > 0 {
				t.Errorf("it sends no %q", c.at)
			}
		})
	}
}

// A game that is given up with two delayed commands ends, though one of them waits
// for what the other ends.
func TestEndsWithTwoDelayedCommands(t *testing.T) {
	w := open(t, sqlrow.Conditional)
	buys := func(name string, process int) explore.Buyer {
		return explore.Buyer{Name: name, Quantity: 1, Process: process, Does: explore.Buys}
	}
	s := &explore.Scenario{Name: "by hand", Stock: 3, Buyers: []explore.Buyer{buys("A", 0), buys("B", 1), buys("C", 2)},
		Faults: []explore.Fault{explore.Delayed}, MaxFaults: 2}
	l, v, err := w.Begin(t.Context(), s)
	labtest.Must(t, err)
	late := func(who string) explore.Choice { return explore.Choice{Who: who, Fault: explore.Delayed} }
	b, a := explore.Choice{Who: "B"}, explore.Choice{Who: "A"}
	chooseAll(t, l, v, b, b, late("B"), a, late("A"))
	ended := make(chan bool)
	go func() { l.End(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// slow sends a command that takes a while with the row locked, and takes nothing.
type slow struct {
	seckill.Strategy
	store *ledger.Store
}

func (s slow) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	err := s.store.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE stock SET num = num WHERE id = ?", p.SKU).Error; err != nil {
			return err
		}
		if err := tx.Exec("SELECT num FROM stock WHERE id = ? FOR UPDATE", p.SKU).Error; err != nil {
			return err
		}
		return tx.Exec("DO SLEEP(0.1)").Error
	})
	return seckill.Receipt{}, errors.Join(err, seckill.ErrBusy)
}

// A waiter whose buyer has left still waits in the server. Another's command that is
// under way does not count as waiting for that.
func TestALeaverDoesNotHideACommand(t *testing.T) {
	info := sqlrow.ForUpdate
	info.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := sqlrow.ForUpdate.New(d)
		return slow{inner, d.Ledger}, err
	}
	w := open(t, info)
	s := two(explore.Buys)
	s.Faults, s.MaxFaults = []explore.Fault{explore.Leaves}, 1
	l, v, err := w.Begin(t.Context(), s)
	labtest.Must(t, err)
	defer l.End()
	v = chooseAll(t, l, v, turns("AABB")...)
	if v.Actors[1].State != explore.StateWaits {
		t.Fatalf("B does not wait: %+v", v.Actors[1])
	}
	v = chooseAll(t, l, v, explore.Choice{Who: "B", Fault: explore.Leaves}, explore.Choice{Who: "A"}, explore.Choice{Who: "A"})
	if last := v.Steps[len(v.Steps)-1]; v.Actors[0].State != explore.StateReady || last.Result != "" {
		t.Errorf("%q came to %q, and A %s", last.Command, last.Result, v.Actors[0].State)
	}
}

// Without a lock, the server may close any connection that is in a transaction.
func TestAnyTransactionMayEnd(t *testing.T) {
	for _, c := range []struct {
		who  string // whose ends; "": the last one's
		lost int
	}{{"", 1}, {"A", 0}} {
		w := open(t, sqlrow.ForUpdate)
		s := withFault(two(explore.Buys), explore.LeaseEnds)
		l, v, err := w.Begin(t.Context(), s)
		labtest.Must(t, err)
		v = chooseAll(t, l, v, turns("ABAB")...) // A has the row, and B waits for it
		v = chooseAll(t, l, v, explore.Choice{Who: c.who, Fault: explore.LeaseEnds})
		for n := 0; v.Judged == nil && n < 30; n++ {
			v = chooseAll(t, l, v, v.Options[0].Choice)
		}
		l.End()
		if v.Judged == nil || len(v.Judged.Problems) > 0 {
			t.Fatalf("%q: %+v", c.who, v.Judged)
		}
		for i, b := range v.Judged.Buyers {
			if (b.Err != nil) != (i == c.lost) {
				t.Errorf("the lease of %q has ended, and %s was told %v", c.who, b.Name, b.Err)
			}
		}
	}
}
