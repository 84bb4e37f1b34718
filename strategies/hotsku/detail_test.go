package hotsku

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// detailsOf is a process of a sale by details.
func (s *sale) detailsOf(n int) *detailMerge { return s.processes[n].(*detailMerge) }

// forget has Redis lose the counter.
func (s *sale) forget(t *testing.T) {
	t.Helper()
	if err := s.detailsOf(0).redis.Del(t.Context(), counterKeys(s.sku)...).Err(); err != nil {
		t.Error(err)
	}
}

// rewind has Redis come back with an older number.
func (s *sale) rewind(t *testing.T) {
	t.Helper()
	if err := s.detailsOf(0).redis.HSet(t.Context(), counterKeys(s.sku)[0], "dealt", 0).Err(); err != nil {
		t.Error(err)
	}
}

// closed closes the sale, and judges it with a row that must have followed.
func (s *sale) closed(t *testing.T) ledger.Report {
	t.Helper()
	sellers := []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}}
	if err := catalog.Close(t.Context(), s.store, s.sku, sellers); err != nil {
		t.Fatal(err)
	}
	snap, err := catalog.Snapshot(t.Context(), s.store, s.sku, sellers)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run, StockStoreOf: catalog.StockStoreOf(sellers), Closed: true})
}

func (s *sale) wantClosed(t *testing.T, left int64) {
	t.Helper()
	if r := s.closed(t); r.Verdict != ledger.Held || r.Remaining != left {
		t.Errorf("the audit says %s, %d left, want held and %d: %+v", r.Verdict, r.Remaining, left, r.Violations)
	}
}

// A crowd buys in two processes and cancels, two mergers work beside it, and Redis
// loses its counter or comes back with an older number again and again.
func TestDetailsHoldWhateverRedisDoes(t *testing.T) {
	for name, misbehave := range map[string]func(*sale, *testing.T){"it forgets": (*sale).forget, "it goes back": (*sale).rewind} {
		t.Run(name, func(t *testing.T) {
			s := open(t, DetailMerge, 60)
			var buyers errgroup.Group
			buyers.SetLimit(16)
			var sold atomic.Int64
			for i := range int64(160) {
				buyers.Go(func() error {
					if i%20 == 5 {
						misbehave(s, t)
						return s.detailsOf(int(i/20)%2).Settle(t.Context(), s.sku)
					}
					p := s.purchase(i+1, 1+i%3, "")
					r, err := s.processes[i%2].Deduct(t.Context(), p)
					switch {
					case err == nil && i%9 == 0:
						return s.processes[1-i%2].Restore(t.Context(), r.OrderID)
					case err == nil:
						sold.Add(p.Quantity)
					case errors.Is(err, seckill.ErrBusy), errors.Is(err, seckill.ErrSoldOut), errors.Is(err, seckill.ErrConflict):
						return nil
					}
					return err
				})
			}
			if err := buyers.Wait(); err != nil {
				t.Error(err)
			}
			// What is left by the orders can be bought, whatever Redis says.
			left := s.stock - sold.Load()
			if left > 0 {
				if _, err := s.buy(t.Context(), 1000, left, ""); err != nil {
					t.Errorf("buying the last %d: %v", left, err)
				}
			}
			if _, err := s.buy(t.Context(), 1001, 1, ""); !errors.Is(err, seckill.ErrSoldOut) {
				t.Errorf("when all is sold: %v", err)
			}
			s.held(t)
			s.wantClosed(t, 0)
		})
	}
}

// Redis loses the counter while a sale of all units is about to commit. A rebuild
// waits for that.
func TestARebuildWaitsForSalesUnderWay(t *testing.T) {
	for _, c := range []struct {
		info    catalog.Info
		want    error
		verdict ledger.Verdict
	}{{DetailMerge, seckill.ErrSoldOut, ledger.Held}, {DetailMergeHasty, nil, ledger.Oversold}} {
		t.Run(c.info.Name, func(t *testing.T) {
			s := open(t, c.info, 2)
			second := make(chan error, 1)
			_, err := s.buy(taptest.Before(t.Context(), "COMMIT", func() {
				s.forget(t)
				buy := func() {
					_, err := s.processes[1].Deduct(t.Context(), s.purchase(2, 2, ""))
					second <- err
				}
				if c.want == nil {
					buy() // it waits for no one
					return
				}
				go buy()
				s.awaitStatement(t, "%FROM stock_epochs%FOR UPDATE%")
			}), 1, 2, "")
			if err != nil {
				t.Errorf("the sale under way: %v", err)
			}
			if err := <-second; !errors.Is(err, c.want) {
				t.Errorf("the second buyer is told %v, want %v", err, c.want)
			}
			if r := s.closed(t); r.Verdict != c.verdict {
				t.Errorf("the audit says %s, want %s: %+v", r.Verdict, c.verdict, r.Violations)
			}
		})
	}
}

// A sale of an old counter comes late: its INSERT finds another epoch, and takes
// units of the new one.
func TestASaleOfAnOldCounterTakesAnew(t *testing.T) {
	s := open(t, DetailMerge, 2)
	r, err := s.buy(taptest.Before(t.Context(), "INSERT INTO stock_details", func() {
		s.forget(t)
		if _, err := s.processes[1].Deduct(t.Context(), s.purchase(2, 1, "")); err != nil {
			t.Error(err)
		}
	}), 1, 1, "")
	if err != nil || r.Remaining != 0 {
		t.Errorf("the late one: %+v, %v", r, err)
	}
	if s.retried.n != 1 {
		t.Errorf("%d further attempts, want 1", s.retried.n)
	}
	s.wantClosed(t, 0)
}

// Without the unique key of the units, a number that comes back sells twice.
func TestDetailsNeedTheirUniqueKey(t *testing.T) {
	s := open(t, DetailMerge, 3)
	other := int64(0)
	s.detailsOf(0).enter = func(tx *gorm.DB, p seckill.Purchase, d dealt) (int64, error) {
		other += 100
		return s.detailsOf(0).enterUnasked(tx, p, dealt{run: d.run, epoch: d.epoch, upTo: d.upTo + other})
	}
	for user := range int64(6) {
		if user == 3 {
			s.rewind(t)
		}
		if _, err := s.buy(t.Context(), user+1, 1, ""); err != nil {
			t.Errorf("user %d: %v", user+1, err)
		}
	}
	if r := s.closed(t); r.Verdict != ledger.Oversold {
		t.Errorf("the audit says %s: %+v", r.Verdict, r.Violations)
	}
}

// Units that were dealt out to the dead, or for a purchase that was refused, are
// sold to others.
func TestUnitsOfTheDeadAreDealtOutAgain(t *testing.T) {
	s := open(t, DetailMerge, 3)
	for user, verb := range []string{"BEGIN", "COMMIT"} {
		if _, err := s.buy(tap.With(t.Context(), &dies{verb: verb}), int64(user+1), 1, ""); err == nil {
			t.Errorf("the dead before %s bought", verb)
		}
	}
	if r, err := s.processes[1].Deduct(t.Context(), s.purchase(9, 3, "")); err != nil || r.Remaining != 0 {
		t.Errorf("buying all: %+v, %v", r, err)
	}
	s.wantClosed(t, 0)
}

// A process that ends lets the row follow what it has sold; what the dead have
// left, others find.
func TestWorkersLetTheRowFollow(t *testing.T) {
	s := open(t, DetailMerge, 9)
	want := func(what string, left int64) {
		t.Helper()
		if row, err := s.store.SKU(t.Context(), s.sku); err != nil || row.Num != left {
			t.Errorf("%s: the row has %d, %v; want %d", what, row.Num, err, left)
		}
	}
	ends := func(n int) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		s.detailsOf(n).Work(ctx)
	}
	r, err := s.buy(t.Context(), 1, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	want("before its worker ends", 9)
	ends(0)
	want("when its worker has ended", 7)
	if err := s.processes[0].Restore(t.Context(), r.OrderID); err != nil {
		t.Error(err)
	}
	s.detailsOf(1).searchDetails(t.Context())
	ends(1)
	want("when another has found the cancellation", 9)
	s.wantClosed(t, 9)
	if _, err := s.buy(t.Context(), 2, 9, ""); err != nil {
		t.Errorf("buying all, after a cancellation: %v", err)
	}
	s.wantClosed(t, 0)
}

// A row that is written by others besides, or followed twice, is seen once the sale
// is closed.
func TestTheRowMustHaveFollowed(t *testing.T) {
	s := open(t, DetailMerge, 5)
	if _, err := s.buy(t.Context(), 1, 2, ""); err != nil {
		t.Fatal(err)
	}
	s.wantClosed(t, 3)
	if err := s.store.DB(t.Context()).Exec("UPDATE stock SET num = num - 2 WHERE id = ?", s.sku).Error; err != nil {
		t.Fatal(err)
	}
	if r := s.closed(t); r.Verdict != ledger.Lost {
		t.Errorf("the audit says %s: %+v", r.Verdict, r.Violations)
	}
}

// mergesUnmarked merges what it has read before, without a lock: two workers merge
// the same.
type mergesUnmarked struct{ *detailMerge }

func (m mergesUnmarked) Settle(ctx context.Context, sku int64) error {
	var list []detail
	err := m.store.DB(ctx).Raw("SELECT run, epoch, unit, change_by FROM stock_details "+
		"WHERE sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?) AND merged = 0", sku, sku).Scan(&list).Error
	if err != nil || len(list) == 0 {
		return err
	}
	return m.apart.Tx(ctx, func(tx *gorm.DB) error {
		return errors.Join(m.mark(tx, sku, list), m.follow(tx, sku, list))
	})
}

// mergesInTwo marks and follows in two transactions.
type mergesInTwo struct{ *detailMerge }

func (m mergesInTwo) Settle(ctx context.Context, sku int64) error {
	var list []detail
	err := m.apart.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Raw("SELECT run, epoch, unit, change_by FROM stock_details FORCE INDEX (stock_details_open) "+
			"WHERE sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?) AND merged = 0 FOR UPDATE SKIP LOCKED", sku, sku).Scan(&list).Error
		if err != nil || len(list) == 0 {
			return err
		}
		return m.mark(tx, sku, list)
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return m.apart.Tx(ctx, func(tx *gorm.DB) error { return m.follow(tx, sku, list) })
}

// givesBackAlways writes a detail for each cancellation that it is asked for.
type givesBackAlways struct{ *detailMerge }

func (m givesBackAlways) Restore(ctx context.Context, orderID string) error {
	return m.apart.Tx(ctx, func(tx *gorm.DB) error {
		o, _, err := m.store.Cancel(tx, orderID)
		if err != nil {
			return err
		}
		return tx.Exec("INSERT INTO stock_details (sku_id, run, epoch, unit, change_by, merged) VALUES (?, ?, 0, ?, ?, 0)",
			o.SKUID, o.Run, time.Now().UnixNano(), o.Quantity).Error
	})
}

// The explorer finds each guard that is missing, and the original clean.
func TestMutantsOfDetailMergeAreCaught(t *testing.T) {
	actors := func(does ...explore.Does) (list []explore.Buyer) {
		for i, d := range does {
			list = append(list, explore.Buyer{Name: string(rune('A' + i)), Process: i, Quantity: int64(2 - i%2), Does: d})
		}
		return list
	}
	workers := &explore.Scenario{Name: "two workers", Stock: 4, Next: true, Buyers: actors(explore.Cancels, explore.Settles, explore.Settles)}
	dies := &explore.Scenario{Name: "a worker may die", Stock: 4, Next: true, Buyers: actors(explore.Cancels, explore.Settles),
		Faults: []explore.Fault{fault.Dies}, MaxFaults: 1}
	twice := &explore.Scenario{Name: "two cancel the same", Stock: 4, Next: true, Buyers: actors(explore.Cancels, explore.Cancels)}
	twice.Buyers[1].Same, twice.Buyers[1].Quantity = "A", 2
	two := &explore.Scenario{Name: "two buyers", Stock: 2, Next: true, Buyers: actors(explore.Buys, explore.Buys)}
	clean := map[*explore.Scenario]bool{}
	for _, m := range []struct {
		without  string
		scenario *explore.Scenario
		mutate   func(*detailMerge) seckill.Strategy
	}{
		{"a lock on what it merges", workers, func(s *detailMerge) seckill.Strategy { return mergesUnmarked{s} }},
		{"one transaction for mark and sum", dies, func(s *detailMerge) seckill.Strategy { return mergesInTwo{s} }},
		{"a look whether it was cancelled before", twice, func(s *detailMerge) seckill.Strategy { return givesBackAlways{s} }},
		{"the epoch in the sale", two, func(s *detailMerge) seckill.Strategy { s.enter = s.enterUnasked; return s }},
	} {
		t.Run("without "+m.without, func(t *testing.T) {
			if !clean[m.scenario] {
				if r := exploredWithin(t, DetailMerge, m.scenario); r.First != nil || r.Schedules == 0 {
					t.Fatalf("the original: %+v", r)
				}
				clean[m.scenario] = true
			}
			mutant := DetailMerge
			mutant.New = func(d catalog.Deps) (seckill.Strategy, error) {
				s := newDetailMerge(d)
				s.enter = s.enterEpoch
				return m.mutate(s), nil
			}
			if r := exploredWithin(t, mutant, m.scenario); r.First == nil {
				t.Fatalf("the mutant passes: %+v", r)
			} else {
				t.Log(fmt.Sprint(r.Schedules, " schedules: "), r.First.Problems)
			}
		})
	}
}

// exploredWithin searches schedules with two preemptions at most.
func exploredWithin(t *testing.T, info catalog.Info, s *explore.Scenario) explore.Result {
	t.Helper()
	w, err := explore.Open(t.Context(), info, labtest.Config(t, info.Uses()...), explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := w.Search(t.Context(), s, explore.Limits{Preemptions: 2, Schedules: 300, Stop: explore.LedgerRule})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever fails before the order is written, nothing was taken, and the buyer is
// told so.
func TestWhatFailsBeforeTheOrderTookNothing(t *testing.T) {
	for _, info := range []catalog.Info{DetailMerge, HalfMessage} {
		for verb, want := range map[string]error{"EVALSHA": seckill.ErrUnavailable, "BEGIN": seckill.ErrUnavailable} {
			s := open(t, info, 3)
			if _, err := s.buy(tap.With(t.Context(), &diesAfter{verb, false}), 1, 1, ""); !errors.Is(err, want) || !seckill.NothingTaken(err) {
				t.Errorf("%s, gone after %s: told %v, want %v", info.Name, verb, err, want)
			}
			if snap := s.held(t); len(snap.Orders) > 0 {
				t.Errorf("%s, gone after %s: %d orders", info.Name, verb, len(snap.Orders))
			}
		}
	}
}
