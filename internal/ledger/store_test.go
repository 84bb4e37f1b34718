package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// onServer returns a ledger on MySQL or MariaDB.
func onServer(t *testing.T) (*ledger.Store, *backend.Instance) {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	return migrated(t, in), in
}

func migrated(t *testing.T, in *backend.Instance) *ledger.Store {
	t.Helper()
	for range 2 { // the tables may exist already
		labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	}
	return ledger.NewStore(in.DB).For("test")
}

// onEachDatabase runs f on both kinds of database on which the ledger runs.
func onEachDatabase(t *testing.T, f func(t *testing.T, s *ledger.Store)) {
	t.Run("server", func(t *testing.T) {
		s, _ := onServer(t)
		f(t, s)
	})
	t.Run("sqlite", func(t *testing.T) {
		in := labtest.Open(t, backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
		f(t, migrated(t, in))
	})
}

const sku = 7001

func sell(ctx context.Context, s *ledger.Store, p seckill.Purchase, run int64) (r seckill.Receipt, err error) {
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.Exec(tx, "UPDATE stock SET num = LAST_INSERT_ID(num - ?) WHERE id = ?", p.Quantity, p.SKU)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrUnknownSKU
		}
		r, err = s.Record(tx, p, run, left)
		return err
	})
	return r, err
}

func TestResetsAtOnceOfANewSKU(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		s.DB(t.Context()).Exec("DELETE FROM stock WHERE id = ?", sku+1)
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				_, err := s.Schedule(t.Context(), sku+1, fmt.Sprint(i), 5, nil)
				return err
			})
		}
		labtest.Check(t, g.Wait(), nil, "resets at once")
	})
}

func TestUnknownCommitIsUnknown(t *testing.T) {
	loses := func(verb string) context.Context {
		return taptest.LoseReplies(t.Context(), func(c *tap.Command) bool { return c.Name == verb })
	}
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		st, _ := s.Schedule(t.Context(), sku, "", 5, nil)
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
		_, err := sell(loses("COMMIT"), s, p, st.Run)
		if !errors.Is(err, seckill.ErrUnknown) || seckill.NothingTaken(err) {
			t.Errorf("a COMMIT without an answer: %v, want %v", err, seckill.ErrUnknown)
		}
		labtest.Value(s.FindRequest(t.Context(), sku, 1, "a")).Check(t, nil,
			"finding the order that was committed")
		p = seckill.Purchase{SKU: sku, User: 2, Quantity: 1, RequestID: "b"}
		if _, err = sell(loses("INSERT"), s, p, st.Run); !seckill.NothingTaken(err) {
			t.Errorf("an INSERT without an answer is rolled back: %v, want one that proves it", err)
		}
		left, leave := context.WithCancel(t.Context())
		p = seckill.Purchase{SKU: sku, User: 3, Quantity: 1, RequestID: "c"}
		err = s.Tx(left, func(tx *gorm.DB) error {
			_, err := s.Record(tx, p, st.Run, 3)
			leave()
			return err
		})
		labtest.Same(t, seckill.NothingTaken(err), true, "%v proves that the COMMIT was not sent", err)
	})
}

// Another process has made the same id. A single order then gets another id. A batch goes without
// the purchase, which the caller then sells alone.
func TestTwoOrdersOfOneID(t *testing.T) {
	s, _ := onServer(t)
	st := labtest.Value(s.Schedule(t.Context(), sku, "", 5, nil)).Must(t)
	p := seckill.Purchase{SKU: sku, User: 3, Quantity: 1, RequestID: "a"}
	made := regexp.MustCompile(`VALUES \((\d+), 'o`)
	for way, write := range map[string]func(ctx context.Context) (seckill.Receipt, error){
		"Record":      func(ctx context.Context) (seckill.Receipt, error) { return sell(ctx, s, p, st.Run) },
		"RecordAlone": func(ctx context.Context) (seckill.Receipt, error) { return s.RecordAlone(ctx, p, st.Run, 4) },
		"PlaceAll": func(ctx context.Context) (r seckill.Receipt, err error) {
			others := p
			others.User, others.RequestID = 4, "b"
			batch := []*ledger.Entry{{Purchase: others}, {Purchase: p}} // the orders of a batch are written by user
			err = s.Tx(ctx, func(tx *gorm.DB) error {
				ok, err := s.PlaceAll(tx, st.Run, 5, batch)
				if err == nil && (ok || batch[0].Refused || !batch[1].Refused) {
					t.Errorf("PlaceAll: %t, refused are %t and %t, want the second alone", ok, batch[0].Refused, batch[1].Refused)
				}
				return err
			})
			return batch[0].Receipt, err
		},
	} {
		labtest.Must(t, s.DB(t.Context()).Exec("DELETE FROM orders WHERE sku_id = ?", sku).Error)
		var same int64
		r, err := write(tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) (err error) {
			if c.Name != "INSERT" || same != 0 {
				return nil
			}
			if found := made.FindStringSubmatch(c.Text); found != nil {
				same, err = strconv.ParseInt(found[1], 10, 64)
			} else {
				same = c.Args[0].(int64)
			}
			fill(t, s, sku, st.Run, same, 1)
			return err
		}}))
		if err != nil || same == 0 {
			t.Errorf("%s: %v, with the id %d of another's order", way, err, same)
		} else if o, err := s.Order(t.Context(), r.OrderID); err != nil || o.ID == same {
			t.Errorf("%s: the order is %+v (%v)", way, o, err)
		}
	}
}

// Processes that start at once on an empty database all find their tables. Tables of other programs
// or builds are refused. Only for those of another build does the error advise to drop them. Each
// database has an identity of its own.
func TestOtherBuildsTablesAreRefused(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		db := s.DB(t.Context())
		empty := func() {
			for _, table := range []string{"stock", "orders", "seckill_identity"} {
				labtest.Must(t, db.Migrator().DropTable(table))
			}
		}
		defer empty()
		empty()
		var g errgroup.Group
		for range 8 {
			g.Go(func() error { return ledger.Migrate(t.Context(), db) })
		}
		labtest.Must(t, g.Wait())
		identity := func() string {
			id, err := ledger.NewStore(db).Identity(t.Context())
			if err != nil || id == "" || strings.Contains(id, " ") {
				t.Errorf("the database is called %q (%v)", id, err)
			}
			return id
		}
		named := identity()
		labtest.Same(t, identity(), named, "the name of the database in another store")
		for what, statement := range map[string]string{
			"another schema": "UPDATE seckill_identity SET made_for = 'another'",
			"no row":         "DELETE FROM seckill_identity",
			"no such column": "ALTER TABLE seckill_identity DROP COLUMN made_for",
			"no such table":  "DROP TABLE seckill_identity",
		} {
			labtest.Must(t, db.Exec(statement).Error)
			err := ledger.Migrate(t.Context(), db)
			if !errors.Is(err, ledger.ErrOtherBuild) {
				t.Errorf("%s: %v, want it refused", what, err)
			} else if text := err.Error(); (strings.Contains(text, "DROP") || strings.Contains(text, "remove")) != (what == "another schema") {
				t.Errorf("%s: %v", what, err)
			}
			empty()
			labtest.Check(t, ledger.Migrate(t.Context(), db), nil, "%s, and dropped", what)
			if identity() == named {
				t.Error("another database has the same name")
			}
		}
	})
}

// The statement that writes an order checks the start by the database's clock. It refuses an order
// before the start, and accepts one at the start.
func TestNoOrderBeforeTheStart(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		buy := func(run int64) error {
			_, err := sell(t.Context(), s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "early"}, run)
			return err
		}
		clock := func() ledger.Start {
			return labtest.Value(s.Start(t.Context(), sku)).Must(t)
		}
		old := labtest.Value(s.Schedule(t.Context(), sku, "thing", 10, nil)).Must(t)
		if off := time.Since(clock().Now.Time()).Abs(); off > time.Minute {
			t.Errorf("the database's clock is read %s off this machine's", off)
		}
		starts := clock().Now + 60_000
		st, err := s.Schedule(t.Context(), sku, "thing", 10, &starts)
		if err != nil || st.StartsAt == nil || *st.StartsAt != starts || clock().Wait() <= 0 {
			t.Fatalf("scheduling at %d gave %+v, %v", starts, st, err)
		}
		labtest.Check(t, buy(old.Run), seckill.ErrConflict, "a purchase of the run before")
		for _, run := range []int64{st.Run, ledger.AnyRun} {
			labtest.Check(t, buy(run), seckill.ErrNotStarted, "a purchase a minute early")
		}
		labtest.Must(t, s.DB(t.Context()).Exec("UPDATE stock SET starts_at = ? WHERE id = ?", clock().Now, sku).Error)
		if err := buy(st.Run); err != nil || clock().Wait() > 0 {
			t.Errorf("a purchase at the start: %v", err)
		}
		snap, err := s.Snapshot(t.Context(), sku)
		if err != nil || snap.Stock.Num != 9 || len(snap.Orders) != 1 {
			t.Errorf("%d units and %d orders after the early purchases and one in time (%v)", snap.Stock.Num, len(snap.Orders), err)
		}
	})
}

func TestMomentsRoundUp(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-11-11T00:00:00Z"`:                `"2026-11-11T00:00:00.000Z"`,
		`"2026-11-11T08:00:00.000000001+08:00"`: `"2026-11-11T00:00:00.001Z"`,
		`"2026-11-11T08:00:00.999+08:00"`:       `"2026-11-11T00:00:00.999Z"`,
	} {
		var m judge.Moment
		labtest.Must(t, json.Unmarshal([]byte(text), &m))
		labtest.Same(t, string(labtest.Value(json.Marshal(m)).Must(t)), want, "%s is written as", text)
	}
}

// Every list and look-up reads the rows that it shows, and few besides.
func TestEveryListReadsLittle(t *testing.T) {
	s, _ := onServer(t)
	ctx := t.Context()
	labtest.Must(t, ledger.Sweep(ctx, s.DB(ctx)))
	for _, id := range []int64{sku, sku + 1} {
		set := labtest.Value(s.Schedule(ctx, id, "", 10_000, nil)).Must(t)
		fill(t, s, id, set.Run, id*100_000, 5000)
	}
	looking := -rowsRead(t, s)
	looking += rowsRead(t, s) // rows that the measurement itself reads
	refusals, before := &ledger.Refusals{Store: s}, rowsRead(t, s)
	for _, key := range []string{"k7", "new"} { // the server's statistics do not know yet how many orders there are
		now := labtest.Value(s.SKU(ctx, sku)).Must(t)
		r := ledger.Refusal{Purchase: seckill.Purchase{SKU: sku, User: 7, Quantity: 1, RequestID: key}, Run: now.Run, Reason: "sold_out"}
		o, err := refusals.Write(ctx, r)
		if err != nil || (o.Status == judge.Active) != (key == "k7") {
			t.Fatalf("the refusal of %s: %+v, %v", key, o, err)
		}
	}
	if n := rowsRead(t, s) - before - looking; n > 400 {
		t.Errorf("two refusals: the database reads %d rows", n)
	}
	labtest.Must(t, s.DB(ctx).Exec("ANALYZE TABLE orders, stock").Error)
	list := func(f ledger.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.Orders(ctx, f)
			return err
		}
	}
	for what, call := range map[string]func(context.Context) error{
		"a SKU's":              list(ledger.Filter{SKU: sku}),
		"a user's":             list(ledger.Filter{User: 7}),
		"a user's of a SKU":    list(ledger.Filter{User: 7, SKU: sku}),
		"a user's request":     list(ledger.Filter{RequestID: "k7", User: 7}),
		"an order":             func(ctx context.Context) error { return second1(s.Order(ctx, "o7001-700100007-A")) },
		"a request of a SKU":   func(ctx context.Context) error { return second1(s.FindRequest(ctx, sku, 7, "k7")) },
		"nothing to sweep":     func(ctx context.Context) error { return ledger.Sweep(ctx, s.DB(ctx)) },
		"a request of any SKU": func(ctx context.Context) error { return second1(s.FindRequest(ctx, 0, 7, "k7")) },
	} {
		before := rowsRead(t, s)
		if err := call(ctx); err != nil && !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Fatalf("%s: %v", what, err)
		}
		if n := rowsRead(t, s) - before - looking; n > 2*ledger.MaxOrders+400 { // including reservations
			t.Errorf("%s: the database reads %d rows", what, n)
		}
	}
}

// rowsRead returns how many rows the server has read since it started.
func rowsRead(t *testing.T, s *ledger.Store) (sum int64) {
	t.Helper()
	var rows []struct{ Value int64 }
	labtest.Must(t, s.DB(t.Context()).Raw("SHOW GLOBAL STATUS LIKE 'Handler_read%'").Scan(&rows).Error)
	for _, r := range rows {
		sum += r.Value
	}
	return sum
}

// fill writes count orders into a run, by the users 1 to count. Their ids begin with first.
func fill(t testing.TB, s *ledger.Store, sku, run, first, count int64) {
	t.Helper()
	const piece = 1000
	for done := int64(0); done < count; done += piece {
		var rows []string
		for i := done; i < min(done+piece, count); i++ {
			rows = append(rows, fmt.Sprintf("(%d,'o%d-%d','k%d',%d,%d,%d,1,0,'active','test')", first+i, sku, first+i, i+1, run, i+1, sku))
		}
		err := s.DB(t.Context()).Exec("INSERT INTO orders (id, public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy) VALUES " +
			strings.Join(rows, ",")).Error
		labtest.Must(t, err)
	}
}

// An order is found only by its whole id. A reset does not touch the orders of the run before, but
// no query finds them. In the new run an old key is a new request.
func TestOrdersBelongToTheirRun(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx := t.Context()
		first := labtest.Value(s.Schedule(ctx, sku, "", 5, nil)).Must(t)
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
		old := labtest.Value(sell(ctx, s, p, first.Run)).Must(t)
		for at := 1; at < len(old.OrderID); at++ { // half of an id is random, so that no guess finds an order
			guess := []byte(old.OrderID)
			if guess[at]++; second1(s.Order(ctx, string(guess))) == nil {
				t.Errorf("%s is found as %s", old.OrderID, guess)
			}
		}
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET fence = 9 WHERE id = ?", sku).Error)
		second, err := s.Schedule(ctx, sku, "", 8, nil)
		if err != nil || second.Run <= first.Run || second.Version <= first.Version || second.Num != 8 || second.Initial != 8 || second.Fence != 0 {
			t.Fatalf("reset from %+v to %+v, %v: run and version must grow", first, second, err)
		}
		rows := func() (n int64) {
			s.DB(ctx).Raw("SELECT COUNT(*) FROM orders WHERE sku_id = ?", sku).Scan(&n)
			return n
		}
		for what, err := range map[string]error{
			"Order":       second1(s.Order(ctx, old.OrderID)),
			"FindRequest": second1(s.FindRequest(ctx, sku, 1, "a")),
			"of any SKU":  second1(s.FindRequest(ctx, 0, 1, "a")),
			"Cancel": s.Tx(ctx, func(tx *gorm.DB) error {
				_, _, err := s.Cancel(tx, old.OrderID)
				return err
			}),
		} {
			labtest.Check(t, err, seckill.ErrUnknownOrder, "%s of an order of an earlier run", what)
		}
		again, err := sell(ctx, s, p, second.Run)
		if err != nil || again.OrderID == old.OrderID {
			t.Errorf("an old key in a new run: %+v, %v, want an order of its own", again, err)
		}
		if list, err := s.Orders(ctx, ledger.Filter{SKU: sku}); err != nil || len(list) != 1 || list[0].PublicID != again.OrderID {
			t.Errorf("listed are %+v, %v, want the new order", list, err)
		}
		labtest.Must(t, ledger.Sweep(ctx, s.DB(ctx)))
		labtest.Same(t, rows(), 1, "the rows that a sweep has left")
		// as if an older backup had been restored
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET run = run - 1 WHERE id = ?", sku).Error)
		snap := labtest.Value(s.Snapshot(ctx, sku)).Must(t)
		labtest.Same(t, len(snap.Orders), 1, "the orders seen beside an older row of stock")
		// restores the run for other tests
		labtest.Must(t, s.DB(ctx).Exec("UPDATE stock SET run = run + 1 WHERE id = ?", sku).Error)
	})
}

func second1(_ judge.Order, err error) error { return err }

// A reset comes between reading an order and giving its units back. The units go nowhere, and the order stays.
func TestNothingIsGivenBackToTheNextRun(t *testing.T) {
	s, _ := onServer(t) // in SQLite nothing can come between the two steps
	ctx := t.Context()
	set, _ := s.Schedule(ctx, sku, "", 5, nil)
	r, err := sell(ctx, s, seckill.Purchase{SKU: sku, User: 1, Quantity: 2, RequestID: "a"}, set.Run)
	labtest.Must(t, err)
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := s.Cancel(tx, r.OrderID)
		if err != nil || !back {
			t.Errorf("cancelling: %v, %v", back, err)
		}
		labtest.Value(s.Schedule(ctx, sku, "", 5, nil)).Check(t, nil, "a reset meanwhile")
		return s.GiveBack(tx, "UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run)
	})
	labtest.Check(t, err, seckill.ErrUnknownOrder, "giving back to a run that is over")
	now, _ := s.SKU(ctx, sku)
	labtest.Same(t, now.Num, 5, "the units of the new sale")
}

// A snapshot shows one moment, even if purchases run while it is read.
func TestASnapshotIsOfOneMoment(t *testing.T) {
	s, _ := onServer(t)
	set := labtest.Value(s.Schedule(t.Context(), sku, "", 5, nil)).Must(t)
	ctx := tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if !strings.Contains(c.Text, "request_id FROM orders") {
			return nil
		}
		_, err := sell(t.Context(), s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}, set.Run)
		return err
	}})
	if snap, err := s.Snapshot(ctx, sku); err != nil || snap.Stock.Num != 5 || len(snap.Orders) > 0 {
		t.Errorf("%d units and %d orders (%v), want the 5 and none of before", snap.Stock.Num, len(snap.Orders), err)
	}
}

// Sweep removes the orders of earlier runs of every SKU in pieces, and no other orders.
func TestSweep(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx := t.Context()
		for _, table := range []string{"stock", "orders"} { // removes the rows that other tests left
			labtest.Must(t, s.DB(ctx).Exec("DELETE FROM "+table).Error)
		}
		for _, id := range []int64{sku, sku + 1} {
			set := labtest.Value(s.Schedule(ctx, id, "", 10_000, nil)).Must(t)
			fill(t, s, id, set.Run-1, id*100_000, 2500)
			fill(t, s, id, set.Run, id*100_000+50_000, 700)
		}
		others := map[string]string{"stock_units": "(id, sku_id, run) VALUES (1",
			"reservations": "(id, strategy, state, quantity, ends_at, sku_id, run) VALUES (1, 'reserve', 'paid', 1, '2000-01-01'"}
		for table, row := range others {
			labtest.Must(t, s.DB(ctx).Exec("INSERT INTO "+table+" "+row+", ?, 0)", sku).Error)
		}
		labtest.Same(t, len(labtest.Value(s.SKUs(ctx, 1)).Must(t)), 1, "the number of SKUs, of two")
		labtest.Must(t, ledger.Sweep(ctx, s.DB(ctx)))
		for table := range others {
			var n int64
			s.DB(ctx).Raw("SELECT COUNT(*) FROM "+table+" WHERE sku_id = ? AND run = 0", sku).Scan(&n)
			labtest.Same(t, n, 0, "the rows of %s that are left", table)
		}
		for _, id := range []int64{sku, sku + 1} {
			var n int64
			s.DB(ctx).Raw("SELECT COUNT(*) FROM orders WHERE sku_id = ?", id).Scan(&n)
			if list, err := s.Orders(ctx, ledger.Filter{SKU: id}); err != nil || len(list) != 700 || n != 700 {
				t.Errorf("SKU %d: %d listed (%v), %d rows, want 700", id, len(list), err, n)
			}
		}
	})
}
