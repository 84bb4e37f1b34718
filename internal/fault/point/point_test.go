package point_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault/point"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

var everything = []backend.Capability{backend.SQL, backend.RowLocks, backend.Redis, backend.RedisQuorum,
	backend.ZooKeeper, backend.Etcd}

// writesBlind write the stock row without having read it, or do not touch it:
// what others do meanwhile cannot make that wrong, so there is nothing to stop
// them at.
var writesBlind = []string{"conditional", "conditional-scan", "one-trip", "queued", "merged", "merged-early",
	"unit-rows", "unit-rows-hasty", "redis-stream", "redis-stream-two-calls"}

// commitsAlone write nothing but the order, with one command.
var commitsAlone = []string{"redis-counter", "redis-multi"}

// Every strategy's purchase stops at each point, and sells when it is let go;
// those that have no such point are found out.
func TestEveryStrategyHasItsPoints(t *testing.T) {
	in := labtest.Instance(t, everything...)
	must(t, "migrate", ledger.Migrate(t.Context(), in.DB))
	store := ledger.NewStore(in.DB)
	user := int64(0)
	for _, info := range strategies.All() {
		s, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: store, Settings: catalog.DefaultSettings()})
		must(t, info.Name, err)
		_, err = store.Reset(t.Context(), 1, "x", 10)
		must(t, "reset", err)
		if r, ok := s.(seckill.Resetter); ok {
			must(t, "reset "+info.Name, r.Reset(t.Context(), 1, 10))
		}
		for _, at := range point.Names {
			t.Run(info.Name+"/"+string(at), func(t *testing.T) {
				user++
				buy(t, s, info, at, seckill.Purchase{SKU: 1, User: user, Quantity: 1, RequestID: t.Name()})
			})
		}
	}
}

func buy(t *testing.T, s seckill.Strategy, info catalog.Info, at point.Name, p seckill.Purchase) {
	var points point.Points
	armed, err := points.Arm(point.Order{Point: at, Strategy: info.Name, SKU: 1, For: 30_000})
	must(t, "arm", err)
	sold := make(chan error, 1)
	ctx := tap.With(t.Context(), points.Watch(&tap.Counter{}, info.Name, info.Key, p))
	go func() {
		_, err := s.Deduct(ctx, p)
		sold <- err
	}()
	waiting, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	trap, _ := points.Await(waiting, armed.ID)
	if slices.Contains(writesBlind, info.Name) {
		if trap.State != point.NoPoint {
			t.Errorf("the trap is %s, want %s", trap.State, point.NoPoint)
		}
	} else {
		h := trap.Holder
		if trap.State != point.Caught || h.RequestID != p.RequestID || h.User != p.User {
			t.Fatalf("the trap is %+v %+v, want the purchase", trap, h)
		}
		commits := h.Command == "COMMIT" || at == point.BeforeCommit && slices.Contains(commitsAlone, info.Name) && strings.HasPrefix(h.Command, "INSERT INTO orders")
		if commits != (at == point.BeforeCommit) {
			t.Errorf("it stands before %q", h.Command)
		}
		if info.Key != nil && h.LockKey != info.Key(1) {
			t.Errorf("it holds %q, want %q", h.LockKey, info.Key(1))
		}
		select {
		case err := <-sold:
			t.Errorf("it went on: %v", err)
		default:
		}
	}
	points.Remove(armed.ID)
	must(t, "the purchase that was let go", <-sold)
}

// One purchase is stopped, not those that come after it; it goes on by itself
// when its time is over.
func TestOneIsCaughtAndGoesOn(t *testing.T) {
	var points point.Points
	armed, err := points.Arm(point.Order{Point: point.BeforeWrite, Strategy: "x", SKU: 7, For: 50})
	must(t, "arm", err)
	purchase := func(sku int64) error {
		p := seckill.Purchase{SKU: sku, User: 1, RequestID: "a"}
		ctx := tap.With(t.Context(), points.Watch(&tap.Counter{}, "x", nil, p))
		for _, q := range []string{"SELECT num FROM stock WHERE id = 7", "UPDATE stock SET num = 1"} {
			verb, _, _ := strings.Cut(q, " ")
			if err := tap.Do(ctx, tap.SQL, func() *tap.Command { return &tap.Command{Name: verb, Text: q} },
				func(context.Context) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, "another SKU's", purchase(8))
	begun := time.Now()
	must(t, "the one", purchase(7))
	if held := time.Since(begun); held < 50*time.Millisecond {
		t.Errorf("it was held for %v, want 50 ms", held)
	}
	must(t, "the next", purchase(7))
	if now, _ := points.Await(t.Context(), armed.ID); now.State != point.LetGo {
		t.Errorf("the trap is %s, want %s", now.State, point.LetGo)
	}
	for range 16 {
		if _, err = points.Arm(point.Order{}); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("traps without end were armed")
	}
}

// A purchase with no watcher pays for one atomic load.
func TestNothingArmedCostsNothing(t *testing.T) {
	var points point.Points
	var counter tap.Counter
	var none *point.Points
	if n := testing.AllocsPerRun(1000, func() {
		if points.Watch(&counter, "x", nil, seckill.Purchase{SKU: 1}) != &counter ||
			none.Watch(&counter, "x", nil, seckill.Purchase{SKU: 1}) != &counter {
			t.Error("a watcher is left")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
