package catalog_test

import (
	"context"
	"errors"
	"fmt"
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

// A sale on a SQLite file of its own, whose orders leave the row alone.
type sale struct {
	*testing.T
	*ledger.Store
	db *gorm.DB
}

func newSale(t *testing.T) *sale {
	t.Helper()
	in := labtest.Open(t, backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
	labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	return &sale{t, ledger.NewStore(in.DB), in.DB}
}

// of begins a run of 10 units, of which each strategy sells one.
func (s *sale) of(strategies ...string) ledger.Stock {
	s.Helper()
	set, err := s.Reset(s.Context(), 1, "", 10)
	if err != nil {
		s.Fatal(err)
	}
	for i, strategy := range strategies {
		user := int64(i + 1)
		p := seckill.Purchase{SKU: 1, User: user, Quantity: 1, RequestID: fmt.Sprint("r", user)}
		if _, err := s.For(strategy, seckill.NopObserver{}).RecordAlone(s.Context(), p, set.Run, 10-user); err != nil {
			s.Fatal(err)
		}
	}
	return set
}

// The row is put back to an older state beneath its orders, as by a backup.
func TestAuditSeesOrdersOfHigherRuns(t *testing.T) {
	s := newSale(t)
	s.of()
	s.of("any")
	back := s.db.Exec("UPDATE stock SET run = run - 1 WHERE id = 1").Error
	r, err := catalog.Audit(t.Context(), s.Store, 1, nil)
	labtest.Must(t, errors.Join(back, err))
	if r.Verdict != ledger.NotValid || !slices.ContainsFunc(r.Violations, func(v ledger.Violation) bool { return v.Rule == ledger.RuleStraggler }) {
		t.Errorf("an order of a higher run: %+v", r)
	}
}

// Only the row of a sale that is sold aside from it follows the orders, when it is
// closed; any other row is what was sold from, and must stay the witness that it is.
func TestCloseWritesTheRowOfASaleAsideFromIt(t *testing.T) {
	four := []catalog.Seller{
		seller("row", ledger.InRow, plain{}), seller("front", ledger.InRowAndRedis, counting{left: 7}),
		seller("redis", ledger.InRedis, counting{left: 7}), seller("table", ledger.InLockTable, counting{left: 10}),
	}
	buckets := []catalog.Seller{seller("buckets", ledger.InBuckets, counting{left: 9})}
	units := []catalog.Seller{seller("units", ledger.InUnits, counting{left: 9})}
	s := newSale(t)
	for name, c := range map[string]struct {
		sellers []catalog.Seller
		orders  []string
		num     int64
		verdict ledger.Verdict
	}{
		"redis":                        {four, []string{"redis", "redis", "redis"}, 7, ledger.Held},
		"redis, too few":               {four, []string{"redis", "redis"}, 8, ledger.Lost},
		"row":                          {four, []string{"row"}, 10, ledger.Lost},
		"row and redis":                {four, []string{"row", "redis"}, 10, ledger.NotValid},
		"behind redis":                 {four, []string{"front", "front", "front"}, 10, ledger.Lost},
		"lock table":                   {four, []string{"table"}, 10, ledger.Lost},
		"unknown":                      {four, []string{"redis", "magic"}, 10, ledger.NotValid},
		"nobody, but the counter fell": {four, nil, 10, ledger.Lost},
		"buckets":                      {buckets, []string{"buckets"}, 9, ledger.Held},
		"units":                        {units, []string{"units"}, 9, ledger.Held},
	} {
		set := s.of(c.orders...)
		if r, err := catalog.Audit(t.Context(), s.Store, 1, c.sellers); err != nil || c.verdict == ledger.Held && r.Verdict != ledger.Held {
			t.Errorf("%s: before the close the judge says %+v, %v", name, r, err)
		}
		if now, err := s.SKU(t.Context(), 1); err != nil || now.Version != set.Version || now.Num != 10 {
			t.Errorf("%s: the audit left the row at %+v, %v", name, now, err)
		}
		labtest.Must(t, catalog.Close(t.Context(), s.Store, 1, c.sellers))
		snap, err := catalog.Snapshot(t.Context(), s.Store, 1, c.sellers)
		labtest.Must(t, err)
		r := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: 10, Run: set.Run, StockStoreOf: catalog.StockStoreOf(c.sellers), Closed: true})
		if snap.Stock.Num != c.num || r.Verdict != c.verdict {
			t.Errorf("%s: the row says %d, the judge %s; want %d and %s: %+v",
				name, snap.Stock.Num, r.Verdict, c.num, c.verdict, r.Violations)
		}
	}
	if _, err := catalog.Snapshot(t.Context(), s.Store, 2, four); !errors.Is(err, seckill.ErrUnknownSKU) {
		t.Errorf("a SKU that is not there: %v", err)
	}
}
