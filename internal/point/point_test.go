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
	"seckill/internal/lab/labtest"
	"seckill/internal/point"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var everything = []backend.Capability{backend.SQL, backend.RowLocks, backend.Redis, backend.RedisQuorum,
	backend.ZooKeeper, backend.Etcd}

// writesBlind lists the strategies that write the stock row without reading it, or do not touch it.
// Other buyers cannot make such a write wrong, so there is no point at which to stop it.
var writesBlind = []string{"conditional", "conditional-scan", "one-trip", "queued", "merged", "merged-early",
	"unit-rows", "unit-rows-hasty", "redis-stream", "redis-stream-two-calls"}

// commitsAlone lists the strategies that write only the order, with one command.
var commitsAlone = []string{"redis-counter", "redis-multi"}

// A purchase of every strategy stops at each point, and sells when it continues. A strategy without
// such a point is reported.
func TestEveryStrategyHasItsPoints(t *testing.T) {
	d := catalog.Deps{Instance: labtest.Instance(t, everything...), Settings: catalog.DefaultSettings()}
	for _, info := range strategies.All() {
		s := saletest.Open(t, info, 10, d)
		for i, at := range point.Names {
			t.Run(info.Name+"/"+string(at), func(t *testing.T) { buy(t, s, at, s.Purchase(int64(i+1), 1)) })
		}
	}
}

// hold waits for a purchase of a strategy in the background, until letGo is called.
func hold(t *testing.T, points *point.Points, o point.Order) (caught chan point.Catch, letGo func()) {
	t.Helper()
	ctx, letGo := context.WithTimeout(t.Context(), 20*time.Second)
	caught = make(chan point.Catch, 1)
	go func() {
		defer close(caught)
		points.Hold(ctx, o, func(c point.Catch) { caught <- c })
	}()
	for points.Watch(ctx, catalog.Info{Name: o.Strategy}, seckill.Purchase{SKU: o.SKU}) == ctx {
		if ctx.Err() != nil {
			t.Fatal("the trap is not set")
		}
		time.Sleep(time.Millisecond)
	}
	return caught, letGo
}

func buy(t *testing.T, s *saletest.Sale, at point.Name, p seckill.Purchase) {
	var points point.Points
	info := s.Info
	caught, letGo := hold(t, &points, point.Order{Point: at, Strategy: info.Name, SKU: p.SKU, For: 30_000})
	defer letGo()
	sold := make(chan error, 1)
	ctx := points.Watch(t.Context(), info, p)
	go func() {
		_, err := s.Processes[0].Deduct(ctx, p)
		sold <- err
	}()
	switch c, came := <-caught; {
	case !came:
		t.Fatal("no purchase came")
	case slices.Contains(writesBlind, info.Name):
		if c.Holder != nil {
			t.Errorf("%+v was caught, and has no such point", c.Holder)
		}
	default:
		h := c.Holder
		if h == nil || h.RequestID != p.RequestID || h.User != p.User {
			t.Fatalf("%+v was caught, want the purchase", h)
		}
		commits := h.Command == "COMMIT" || at == point.BeforeCommit && slices.Contains(commitsAlone, info.Name) && strings.HasPrefix(h.Command, "INSERT INTO orders")
		labtest.Same(t, commits, at == point.BeforeCommit, "it stands before COMMIT: %q", h.Command)
		if info.Key != nil && h.LockKey != info.Key(p.SKU) {
			t.Errorf("it holds %q, want %q", h.LockKey, info.Key(p.SKU))
		}
		select {
		case err := <-sold:
			t.Errorf("it went on: %v", err)
		default:
		}
	}
	letGo()
	labtest.Must(t, <-sold)
}

// Only one purchase is stopped, not those after it. It continues by itself when its time has passed.
func TestOneIsCaughtAndGoesOn(t *testing.T) {
	var points point.Points
	caught, letGo := hold(t, &points, point.Order{Point: point.BeforeWrite, Strategy: "x", SKU: 7, For: 50})
	defer letGo()
	info := catalog.Info{Name: "x", Stored: catalog.Stored{Reads: "SELECT num", Writes: "UPDATE stock"}}
	purchase := func(sku int64) error {
		p := seckill.Purchase{SKU: sku, User: 1, RequestID: "a"}
		ctx := points.Watch(t.Context(), info, p)
		for _, q := range []string{"SELECT num FROM stock WHERE id = 7", "UPDATE stock SET num = 1"} {
			verb, _, _ := strings.Cut(q, " ")
			if _, err := tap.Do(ctx, tap.SQL, func() *tap.Command { return &tap.Command{Name: verb, Text: q} },
				func(context.Context) (any, error) { return nil, nil }, nil); err != nil {
				return err
			}
		}
		return nil
	}
	labtest.Must(t, purchase(8))
	begun := time.Now()
	labtest.Must(t, purchase(7))
	if held := time.Since(begun); held < 50*time.Millisecond {
		t.Errorf("it was held for %v, want 50 ms", held)
	}
	labtest.Must(t, purchase(7))
	if c := <-caught; c.Holder == nil || c.Holder.User != 1 {
		t.Errorf("caught: %+v", c.Holder)
	}
	if _, more := <-caught; more {
		t.Error("it waits still")
	}
}
