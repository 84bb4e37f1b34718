package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies"
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
		labtest.Same(t, catalog.StockStores(t.Context(), 1, c.sellers), c.want, "%s", name)
	}
	labtest.Same(t, asked, 1, "how often one home was asked")
}

// A sale is a sale in a SQLite file of its own. Its orders leave the stock row unchanged.
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

// of begins a run of 10 units. Each of the strategies sells one unit.
func (s *sale) of(strategies ...string) judge.Stock {
	s.Helper()
	set := labtest.Value(s.Schedule(s.Context(), 1, "", 10, nil)).Must(s)
	for i, strategy := range strategies {
		user := int64(i + 1)
		p := seckill.Purchase{SKU: 1, User: user, Quantity: 1, RequestID: fmt.Sprint("r", user)}
		labtest.Value(s.For(strategy).RecordAlone(s.Context(), p, set.Run, 10-user)).Must(s)
	}
	return set
}

// The stock row returns to an older state than its orders, as it does when a backup is restored.
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
		r := labtest.Value(catalog.Audit(t.Context(), s.Store, 1, sellers)).Must(t)
		labtest.Same(t, r.Verdict, c.verdict, "%s: the judge says", name)
		if now, err := s.SKU(t.Context(), 1); err != nil || now.Version != set.Version || now.Num != 10 {
			t.Errorf("%s: the audit left the row at %+v, %v", name, now, err)
		}
	}
	labtest.Value(catalog.Audit(t.Context(), s.Store, 2, sellers)).Check(t, seckill.ErrUnknownSKU,
		"a SKU that is not there")
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

func TestNamesThatPeopleTypeLeadToAStrategy(t *testing.T) {
	all := strategies.All()
	for typed, want := range map[string]string{
		"conditional": "conditional", "Version": "version", "for_update": "for-update", " FOR UPDATE": "for-update",
		"optimistic": "version", "乐观锁": "version", "pessimistic": "for-update", "悲观锁": "for-update",
		"redis": "redis-lua", "redis_lock": "redis-lua", "zookeeper": "zk", "ZooKeeper": "zk", "setnx": "redis-setnx", "redisson": "redis-watchdog",
		"": "", "luck": "", "版本": "",
	} {
		if i, found := catalog.Find(all, typed); i.Name != want || found != (want != "") {
			t.Errorf("%q leads to %q (%t), want %q", typed, i.Name, found, want)
		}
	}
}

// If two strategies shared a name, in any form or as another name, the second could not be chosen.
func TestNoNameLeadsToTwoStrategies(t *testing.T) {
	all, names, leads := strategies.All(), []string{}, map[string]string{}
	for _, i := range all {
		names = append(names, i.Name)
		for _, known := range append([]string{i.Name}, i.OtherNames()...) {
			if leads[known] != "" {
				t.Errorf("%s and %s are both called %s", leads[known], i.Name, known)
			}
			leads[known] = i.Name
			found, _ := catalog.Find(all, known)
			labtest.Same(t, found.Name, i.Name, "%q leads to", known)
		}
	}
	for name := range catalog.OtherNames {
		if !slices.Contains(names, name) {
			t.Errorf("other names of %s, which is no strategy", name)
		}
	}
	for _, name := range catalog.SixWays {
		if !slices.Contains(names, name) {
			t.Errorf("of the six, %s is no strategy", name)
		}
	}
}

func TestAWrongNameIsAnsweredWithTheNearest(t *testing.T) {
	for wrong, want := range map[string]string{
		//nolint:misspell // these are the wrong names that people type
		"conditonal": "conditional", "optimisitc": "version", "zookeper": "zk", "redislua": "redis-lua", "乐观": "version",
		"redis-loc": "redis-lua, ", "xyzzy": "", "a": "", "": "", strings.Repeat("version", 100): "",
	} {
		if said := catalog.DidYouMean(strategies.All(), wrong); want == "" && said != "" || !strings.HasPrefix(strings.TrimPrefix(said, " Did you mean "), want) {
			t.Errorf("%q is answered with %q, want %q", wrong, said, want)
		}
	}
}

var rowSeller = []catalog.Seller{seller("conditional", seckill.InRow, plain{})}

// largeSales makes the given number of SKUs. Each is sold out in n orders of one unit.
func largeSales(t testing.TB, skus, n int) (*ledger.Store, *gorm.DB) {
	t.Helper()
	config := labtest.Config(t, backend.SQL, backend.RowLocks)
	config.RowLockWait = 10 * time.Minute // how long the driver waits for an answer
	db := labtest.Open(t, config).DB
	labtest.Must(t, ledger.Migrate(t.Context(), db))
	store := ledger.NewStore(db)
	for sku := 1; sku <= skus; sku++ {
		set := labtest.Value(store.Schedule(t.Context(), int64(sku), "", int64(n), nil)).Must(t)
		labtest.Must(t, db.Exec("UPDATE stock SET num = 0 WHERE id = ?", sku).Error)
		labtest.Must(t, db.Exec("INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity, "+
			"remaining, strategy, run, status) WITH RECURSIVE digits AS (SELECT 0 AS n UNION ALL SELECT n + 1 "+
			"FROM digits WHERE n < 999) SELECT i, CONCAT('o', ?, '-', i + 1800000000000000000, '-JBSWY3DPEHPK3'), "+
			"CONCAT('load-1234567890abcdef-1-1-', i), i * 2000, ?, 1, ? - i, 'conditional', ?, 'active' FROM "+
			"(SELECT 1 + a.n * 1000 + b.n AS i FROM digits AS a, digits AS b) AS numbers "+
			"WHERE i <= ?", sku, sku, n, set.Run, n).Error)
	}
	return store, db
}

// peak returns by how much f raises a metric of the runtime at most.
func peak(metric string, f func()) (most uint64) {
	live := []metrics.Sample{{Name: metric}}
	runtime.GC()
	metrics.Read(live)
	before, over, tick := live[0].Value.Uint64(), make(chan struct{}), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	go func() {
		defer close(over)
		f()
	}()
	for {
		metrics.Read(live)
		most = max(most, live[0].Value.Uint64())
		select {
		case <-over:
			return most - before
		case <-tick.C:
		}
	}
}

// An audit keeps a user's number for each order, but no order. It finds what the judge finds in a
// snapshot, even if two orders hold the same unit.
func TestAuditTakesLittleMemory(t *testing.T) {
	const orders, each = 50_000, 120
	store, db := largeSales(t, 1, orders)
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // collect often, so that garbage does not count
	for _, c := range []struct {
		verdict judge.Verdict
		change  string
	}{
		{judge.Held, "UPDATE stock SET num = 0"},
		{judge.Held, "UPDATE orders SET remaining = remaining DIV 2"},
		{judge.Lost, "UPDATE stock SET num = 7"},
	} {
		labtest.Must(t, db.Exec(c.change).Error)
		var got judge.Report
		var err error
		live := peak("/gc/heap/live:bytes", func() { got, err = catalog.Audit(t.Context(), store, 1, rowSeller) })
		labtest.Must(t, err)
		e := labtest.Value(catalog.Evidence(t.Context(), store, 1, rowSeller)).Must(t)
		if want := judge.Judge(e); !reflect.DeepEqual(got, want) || got.Verdict != c.verdict {
			t.Errorf("after %s the audit says\n%+v, and the judge of a snapshot\n%+v", c.change, got, want)
		}
		t.Logf("%s: %d bytes for each order", c.change, live/orders)
		if live > orders*each {
			t.Errorf("after %s an audit took %d bytes for each order, want at most %d", c.change, live/orders, each)
		}
	}
}
