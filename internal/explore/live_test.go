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
	"seckill/internal/tap"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// chooseAll makes the choices one after another.
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

// While a person thinks, no time passes, also not for commands that a strategy sends after its purchase.
func TestThinkingTakesNoTime(t *testing.T) {
	for _, c := range []struct {
		info catalog.Info
		at   []string // the commands before which the person thinks
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
					time.Sleep(2500 * time.Millisecond) // longer than any command or release may take
				}
				v = chooseAll(t, l, v, explore.Choice{Who: "A"})
				last := v.Steps[len(v.Steps)-1]
				labtest.Same(t, last.Result, "", "%q came to", last.Command)
			}
			labtest.Same(t, len(c.at), 0, "the commands of %q that it does not send", c.at)
		})
	}
}

// A person gives up a schedule with two delayed commands. The schedule ends although one command
// waits for the transaction that the other command ends.
func TestEndsWithTwoDelayedCommands(t *testing.T) {
	w := open(t, sqlrow.Conditional)
	buys := func(name string, process int) explore.Buyer {
		return explore.Buyer{Name: name, Quantity: 1, Process: process, Action: explore.Buys}
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

// deducts is a strategy whose Deduct is one function.
type deducts struct {
	seckill.Strategy
	store  *ledger.Store
	deduct func(context.Context, *ledger.Store, int64) error
}

func (d deducts) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return seckill.Receipt{}, errors.Join(d.deduct(ctx, d.store, p.SKU), seckill.ErrBusy)
}

func deducting(deduct func(context.Context, *ledger.Store, int64) error) catalog.Info {
	return catalog.Info{Name: "of a test", New: func(d catalog.Deps) (seckill.Strategy, error) {
		return deducts{store: d.Ledger, deduct: deduct}, nil
	}}
}

// The command of a buyer that has left may still wait in the server. The running command of another
// buyer must not be mistaken for it.
func TestALeaverDoesNotHideACommand(t *testing.T) {
	w := open(t, deducting(func(ctx context.Context, store *ledger.Store, sku int64) error {
		return store.Tx(ctx, func(tx *gorm.DB) error {
			return errors.Join(tx.Exec("UPDATE stock SET num = num WHERE id = ?", sku).Error,
				tx.Exec("SELECT num FROM stock WHERE id = ? FOR UPDATE", sku).Error, tx.Exec("DO SLEEP(0.1)").Error)
		})
	}))
	l, v, err := w.Begin(t.Context(), withFault(two(explore.Buys), explore.Leaves))
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

// On a busy machine, a woken goroutine may run late. The buyer that waits for this goroutine does not count as stuck.
func TestNewsThatComeLate(t *testing.T) {
	w := open(t, deducting(func(ctx context.Context, _ *ledger.Store, _ int64) error {
		news := make(chan bool)
		time.AfterFunc(100*time.Millisecond, func() { close(news) })
		_, err := tap.Wait(ctx, "news", news)
		return err
	}))
	if o := again(t, w, two(explore.Buys)); o.Buyers[0].GaveUp || o.Buyers[0].WaitedFor > 0 || o.Buyers[1].WaitedFor > 0 {
		t.Errorf("a buyer whose news are late:\n%s", table(o))
	}
}

// If the strategy is not a lock, the server may close any connection that has an open transaction.
func TestAnyTransactionMayEnd(t *testing.T) {
	for _, c := range []struct {
		who  string // the buyer whose connection is closed; "" stands for the last buyer
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
			labtest.Same(t, b.Err != nil, i == c.lost, "%s was told %v: the lease of %q ended", b.Name, b.Err, c.who)
		}
	}
}
