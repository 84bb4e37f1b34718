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
	"seckill/internal/judge"
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

func seller(name string, stockStore seckill.StockStore, s seckill.Strategy) catalog.Seller {
	return catalog.Seller{Info: catalog.Info{Name: name, Stock: stockStore}, Strategy: s}
}

func TestHomes(t *testing.T) {
	down := errors.New("down")
	asked := 0
	for name, c := range map[string]struct {
		sellers []catalog.Seller
		want    map[seckill.StockStore]int64
	}{
		"none": {nil, map[seckill.StockStore]int64{}},
		"the row is no counter": {[]catalog.Seller{seller("conditional", seckill.InRow, plain{})},
			map[seckill.StockStore]int64{}},
		"strategies of one home are asked once": {[]catalog.Seller{
			seller("a", seckill.InRedis, counting{left: 3, asked: &asked}),
			seller("b", seckill.InRowAndRedis, counting{left: 4, asked: &asked}),
			seller("c", seckill.InLockTable, counting{left: 5})},
			map[seckill.StockStore]int64{seckill.InRedis: 3, seckill.InLockTable: 5}},
		"one that fails is missing": {[]catalog.Seller{
			seller("a", seckill.InRedis, counting{err: down}), seller("c", seckill.InLockTable, counting{left: 5})},
			map[seckill.StockStore]int64{seckill.InLockTable: 5}},
		"the next of the same home may know": {[]catalog.Seller{
			seller("a", seckill.InRedis, counting{err: down}), seller("b", seckill.InRedis, counting{left: 2})},
			map[seckill.StockStore]int64{seckill.InRedis: 2}},
		"one that cannot run here": {[]catalog.Seller{seller("a", seckill.InRedis, nil)}, map[seckill.StockStore]int64{}},
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
func (s *sale) of(strategies ...string) judge.Stock {
	s.Helper()
	set, err := s.Reset(s.Context(), 1, "", 10)
	if err != nil {
		s.Fatal(err)
	}
	for i, strategy := range strategies {
		user := int64(i + 1)
		p := seckill.Purchase{SKU: 1, User: user, Quantity: 1, RequestID: fmt.Sprint("r", user)}
		if _, err := s.For(strategy).RecordAlone(s.Context(), p, set.Run, 10-user); err != nil {
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
	if r.Verdict != judge.NotValid || !slices.ContainsFunc(r.Violations, func(v judge.Violation) bool { return v.Rule == judge.RuleStraggler }) {
		t.Errorf("an order of a higher run: %+v", r)
	}
}

// The audit knows where each strategy keeps its stock, asks the counter, and leaves the
// row alone. (What the judge makes of that is tested in package ledger.)
func TestAuditReadsTheCounters(t *testing.T) {
	sellers := []catalog.Seller{
		seller("row", seckill.InRow, plain{}), seller("redis", seckill.InRedis, counting{left: 7}), seller("table", seckill.InLockTable, counting{left: 10}),
	}
	s := newSale(t)
	for name, c := range map[string]struct {
		orders  []string
		verdict judge.Verdict
	}{
		"redis":                          {[]string{"redis", "redis", "redis"}, judge.Held},
		"redis, too few":                 {[]string{"redis", "redis"}, judge.Lost},
		"unknown":                        {[]string{"redis", "magic"}, judge.NotValid},
		"no order, but the counter fell": {nil, judge.Lost},
	} {
		set := s.of(c.orders...)
		if r, err := catalog.Audit(t.Context(), s.Store, 1, sellers); err != nil || r.Verdict != c.verdict {
			t.Errorf("%s: the judge says %+v, %v; want %s", name, r, err, c.verdict)
		}
		if now, err := s.SKU(t.Context(), 1); err != nil || now.Version != set.Version || now.Num != 10 {
			t.Errorf("%s: the audit left the row at %+v, %v", name, now, err)
		}
	}
	if _, err := catalog.Audit(t.Context(), s.Store, 2, sellers); !errors.Is(err, seckill.ErrUnknownSKU) {
		t.Errorf("a SKU that is not there: %v", err)
	}
}

func TestBrokenFollowsFromTheQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		says        catalog.Guarantees
		broken, in2 bool
	}{
		"nothing":         {nil, false, false},
		"sound":           {catalog.Sound, false, false},
		"unsound":         {catalog.Unsound, true, true},
		"loses updates":   {catalog.Sound.Breaks(catalog.LostUpdate), true, true},
		"oversells":       {catalog.Unsound.Holds(catalog.LostUpdate), true, true},
		"one process":     {catalog.Sound.Breaks(catalog.Processes), false, true},
		"other questions": {catalog.Guarantees{}.Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.OtherSKUs), false, false},
	} {
		i := catalog.Info{Guarantees: c.says}
		if i.Broken() != c.broken || i.BreaksIn(1) != c.broken || i.BreaksIn(2) != c.in2 {
			t.Errorf("%s: broken %t, in two processes %t", name, i.Broken(), i.BreaksIn(2))
		}
	}
}
