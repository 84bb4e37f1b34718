package catalog_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// counting is a strategy of which only the counter matters.
type counting struct {
	seckill.Strategy
	left  int64
	err   error
	asked *int
}

func (c counting) Count(context.Context, int64) (int64, error) {
	if c.asked != nil {
		*c.asked++
	}
	return c.left, c.err
}

type plain struct{ seckill.Strategy }

func seller(name string, stockStore ledger.StockStore, s seckill.Strategy) catalog.Seller {
	return catalog.Seller{Info: catalog.Info{Name: name, Stock: stockStore}, Strategy: s}
}

func TestHomes(t *testing.T) {
	down := errors.New("down")
	asked := 0
	for name, c := range map[string]struct {
		sellers []catalog.Seller
		want    map[ledger.StockStore]int64
	}{
		"none": {nil, map[ledger.StockStore]int64{}},
		"the row is no counter": {[]catalog.Seller{seller("conditional", ledger.InRow, plain{})},
			map[ledger.StockStore]int64{}},
		"strategies of one home are asked once": {[]catalog.Seller{
			seller("a", ledger.InRedis, counting{left: 3, asked: &asked}),
			seller("b", ledger.InRowAndRedis, counting{left: 4, asked: &asked}),
			seller("c", ledger.InLockTable, counting{left: 5})},
			map[ledger.StockStore]int64{ledger.InRedis: 3, ledger.InLockTable: 5}},
		"one that fails is missing": {[]catalog.Seller{
			seller("a", ledger.InRedis, counting{err: down}), seller("c", ledger.InLockTable, counting{left: 5})},
			map[ledger.StockStore]int64{ledger.InLockTable: 5}},
		"the next of the same home may know": {[]catalog.Seller{
			seller("a", ledger.InRedis, counting{err: down}), seller("b", ledger.InRedis, counting{left: 2})},
			map[ledger.StockStore]int64{ledger.InRedis: 2}},
		"one that cannot run here": {[]catalog.Seller{seller("a", ledger.InRedis, nil)}, map[ledger.StockStore]int64{}},
	} {
		if got := catalog.StockStores(t.Context(), 1, c.sellers); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if asked != 1 {
		t.Errorf("one home was asked %d times", asked)
	}
}

// Only the row of a sale from Redis follows the orders; any other row is what
// was sold from, and must stay the witness that it is.
// A sale in pieces is closed like one from Redis: no purchase touched the row.
func TestCloseWritesTheRowOfASaleInPieces(t *testing.T) {
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	store := ledger.NewStore(in.DB)
	for _, stock := range []ledger.StockStore{ledger.InBuckets, ledger.InUnits} {
		sellers := []catalog.Seller{seller("pieces", stock, counting{left: 9})}
		set, err := store.Reset(t.Context(), 1, "pieces", 10)
		if err != nil {
			t.Fatal(err)
		}
		s := store.For("pieces", seckill.NopObserver{})
		if err := s.Tx(t.Context(), func(tx *gorm.DB) error {
			_, err := s.Record(tx, seckill.Purchase{SKU: 1, User: 1, Quantity: 1, RequestID: "r"}, set.Run, 9)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		before, err := catalog.Audit(t.Context(), store, 1, sellers)
		closed := catalog.Close(t.Context(), store, 1, sellers)
		after, again := catalog.Audit(t.Context(), store, 1, sellers)
		now, read := store.SKU(t.Context(), 1)
		if err := errors.Join(err, closed, again, read); err != nil {
			t.Fatal(err)
		}
		if before.Verdict != ledger.Held || after.Verdict != ledger.Held || now.Num != 9 {
			t.Errorf("%s: the judge says %s, and after the close %s, with %d in the row", stock, before.Verdict, after.Verdict, now.Num)
		}
	}
}

// The row is put back to an older state beneath its orders, as by a backup.
func TestAuditSeesOrdersOfHigherRuns(t *testing.T) {
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	store := ledger.NewStore(in.DB)
	_, first := store.Reset(t.Context(), 1, "", 10)
	set, second := store.Reset(t.Context(), 1, "", 10)
	sold := store.Tx(t.Context(), func(tx *gorm.DB) error {
		_, err := store.Record(tx, seckill.Purchase{SKU: 1, User: 1, Quantity: 1, RequestID: "r"}, set.Run, 9)
		return err
	})
	back := in.DB.Exec("UPDATE stock SET run = run - 1 WHERE id = 1").Error
	r, err := catalog.Audit(t.Context(), store, 1, nil)
	if err := errors.Join(first, second, sold, back, err); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != ledger.NotValid || !slices.ContainsFunc(r.Violations, func(v ledger.Violation) bool { return v.Rule == ledger.RuleStraggler }) {
		t.Errorf("an order of a higher run: %+v", r)
	}
}

func TestCloseWritesTheRowOfASaleFromRedisOnly(t *testing.T) {
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	store := ledger.NewStore(in.DB)
	sellers := []catalog.Seller{
		seller("row", ledger.InRow, plain{}), seller("front", ledger.InRowAndRedis, counting{left: 7}),
		seller("redis", ledger.InRedis, counting{left: 7}), seller("table", ledger.InLockTable, counting{left: 10}),
	}
	for name, c := range map[string]struct {
		orders  []string // strategies, each of which sells one unit and leaves the row alone
		num     int64
		verdict ledger.Verdict
	}{
		"redis":                        {[]string{"redis", "redis", "redis"}, 7, ledger.Held},
		"redis, too few":               {[]string{"redis", "redis"}, 8, ledger.Lost},
		"row":                          {[]string{"row"}, 10, ledger.Lost},
		"row and redis":                {[]string{"row", "redis"}, 10, ledger.NotValid},
		"behind redis":                 {[]string{"front", "front", "front"}, 10, ledger.Lost},
		"lock table":                   {[]string{"table"}, 10, ledger.Lost},
		"unknown":                      {[]string{"redis", "magic"}, 10, ledger.NotValid},
		"nobody, but the counter fell": {nil, 10, ledger.Lost},
	} {
		set, err := store.Reset(t.Context(), 1, name, 10)
		if err != nil {
			t.Fatal(err)
		}
		for i, strategy := range c.orders {
			s := store.For(strategy, seckill.NopObserver{})
			p := seckill.Purchase{SKU: 1, User: int64(i + 1), Quantity: 1, RequestID: name + strategy + string(rune('a'+i))}
			if err := s.Tx(t.Context(), func(tx *gorm.DB) error {
				_, err := s.Record(tx, p, set.Run, 9-int64(i))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := catalog.Audit(t.Context(), store, 1, sellers); err != nil {
			t.Fatal(err)
		}
		if now, err := store.SKU(t.Context(), 1); err != nil || now.Version != set.Version || now.Num != 10 {
			t.Errorf("%s: the audit left the row at %+v, %v", name, now, err)
		}
		if err := catalog.Close(t.Context(), store, 1, sellers); err != nil {
			t.Fatal(err)
		}
		snap, err := catalog.Snapshot(t.Context(), store, 1, sellers)
		if err != nil {
			t.Fatal(err)
		}
		r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: 10, Run: set.Run, StockStoreOf: catalog.StockStoreOf(sellers), Closed: true})
		if snap.Stock.Num != c.num || r.Verdict != c.verdict {
			t.Errorf("%s: the row says %d, the judge %s; want %d and %s: %+v",
				name, snap.Stock.Num, r.Verdict, c.num, c.verdict, r.Violations)
		}
	}
	if _, err := catalog.Snapshot(t.Context(), store, 2, sellers); !errors.Is(err, seckill.ErrUnknownSKU) {
		t.Errorf("a SKU that is not there: %v", err)
	}
}
