package hotsku

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// openLeases is open with settings: how long a buyer waits, and with that how
// long a lease lasts.
func openLeases(t *testing.T, i catalog.Info, stock int64, wait time.Duration) *sale {
	t.Helper()
	s := open(t, i, stock)
	for n := range s.processes {
		in := labtest.Instance(t, append(i.Needs, backend.RowLocks)...)
		settings := catalog.Settings{LockTimes: catalog.LockTimes{LockWait: wait, LockLease: time.Hour, LockPoll: time.Millisecond}, Retries: 8}
		built, err := catalog.Build(i, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Observe: &s.retried, Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		s.processes[n] = built
	}
	return s
}

// Far longer than a test takes.
const long = 10 * time.Minute

func (s *sale) buyIn(ctx context.Context, process int, user, quantity int64) (seckill.Receipt, error) {
	return s.processes[process].Deduct(ctx, s.purchase(user, quantity, ""))
}

func (s *sale) mustBuyIn(t *testing.T, process int, user, quantity int64) seckill.Receipt {
	t.Helper()
	r, err := s.buyIn(t.Context(), process, user, quantity)
	if err != nil {
		t.Fatalf("user %d wants %d in process %d: %v", user, quantity, process, err)
	}
	return r
}

// endLeases is what time does.
func (s *sale) endLeases(t *testing.T) {
	t.Helper()
	if _, err := s.store.Write(t.Context(), "UPDATE slot_lease SET ends_at = '2000-01-01' WHERE sku_id = ? AND ends_at IS NOT NULL", s.sku); err != nil {
		t.Error(err)
	}
}

// balanced judges the sale by its own equation: free slots and active orders
// make up what was set.
func (s *sale) balanced(t *testing.T, left int64) {
	t.Helper()
	r := s.judgeSlots(t)
	if r.Verdict != ledger.Held || r.Remaining != left || r.StockStore != ledger.InSlots && r.Orders > 0 {
		t.Errorf("the audit says %s with %d left, want held with %d: %+v", r.Verdict, r.Remaining, left, r)
	}
}

func (s *sale) judgeSlots(t *testing.T) ledger.Report {
	t.Helper()
	sellers := []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}}
	snap, err := catalog.Snapshot(t.Context(), s.store, s.sku, sellers)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: s.stock, Run: s.run, StockStoreOf: catalog.StockStoreOf(sellers)})
}

// A purchase does not touch the stock row: it goes through while others hold it.
func TestASlotIsSoldWithoutTheRow(t *testing.T) {
	s := openLeases(t, SlotLease, 100, long)
	s.mustBuyIn(t, 0, 1, 1) // leases more than one
	tx := s.store.DB(t.Context()).Begin()
	defer tx.Rollback()
	if err := tx.Exec("UPDATE stock SET name = 'held' WHERE id = ?", s.sku).Error; err != nil {
		t.Fatal(err)
	}
	for user := range int64(5) {
		s.mustBuyIn(t, 0, user+2, 1)
	}
}

// Leases get small towards the end: whichever process the buyers come to, all is
// sold, and sold out is said exactly then.
func TestAllSlotsAreSoldWhicheverProcessIsAsked(t *testing.T) {
	for _, stock := range []int64{1, 7, 100} {
		s := openLeases(t, SlotLease, stock, long)
		for user := range stock {
			s.mustBuyIn(t, int(user%2), user+1, 1)
		}
		for process := range 2 {
			if _, err := s.buyIn(t.Context(), process, stock+1, 1); !errors.Is(err, seckill.ErrSoldOut) {
				t.Errorf("one more than %d in process %d: %v", stock, process, err)
			}
		}
		s.balanced(t, 0)
		var rows int64
		s.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM slot_lease WHERE sku_id = ? AND run = ?", s.sku, s.run).Scan(&rows)
		if rows != 0 {
			t.Errorf("%d stretches are left of a sale that is sold out", rows)
		}
	}
}

// One process has what is left. A buyer of the other is told busy and never sold
// out, and buys when the lease has ended.
func TestLeasedToAnotherIsBusyAndNotSoldOut(t *testing.T) {
	s := openLeases(t, SlotLease, 40, long)
	s.processes[1] = openLeases(t, SlotLease, 1, 50*time.Millisecond).processes[0] // waits for less long
	s.mustBuyIn(t, 0, 1, 1)                                                        // leases five
	s.mustBuyIn(t, 1, 2, 35)
	if _, err := s.buyIn(t.Context(), 1, 3, 1); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("four slots are leased to the other process: got %v, want busy", err)
	}
	if _, err := s.buyIn(t.Context(), 1, 3, 5); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("four are left and five wanted: got %v, want sold out", err)
	}
	s.balanced(t, 4)
	s.endLeases(t)
	s.mustBuyIn(t, 1, 4, 4)
	// The first process does not know. It meets the key, and is told the truth.
	if _, err := s.buyIn(t.Context(), 0, 5, 1); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("got %v, want sold out", err)
	}
	s.balanced(t, 0)
}

// A sleeper wakes after its lease: with the key it gets another slot or a
// refusal, without it there are two buyers of one slot.
func TestAProcessSleepsWhileItsLeaseEnds(t *testing.T) {
	for _, c := range []struct {
		info catalog.Info
		want ledger.Verdict
	}{{SlotLease, ledger.Held}, {SlotLeaseUnfenced, ledger.Oversold}} {
		t.Run(c.info.Name, func(t *testing.T) {
			s := openLeases(t, c.info, 2, long)
			meanwhile := func() {
				s.endLeases(t)
				s.mustBuyIn(t, 1, 2, 1)
				s.mustBuyIn(t, 1, 3, 1)
			}
			_, err := s.buyIn(taptest.Before(t.Context(), "INSERT INTO orders", meanwhile), 0, 1, 1)
			if c.want == ledger.Held != errors.Is(err, seckill.ErrSoldOut) {
				t.Errorf("the sleeper was told %v", err)
			}
			if r := s.judgeSlots(t); r.Verdict != c.want {
				t.Errorf("the audit says %s, want %s: %+v", r.Verdict, c.want, r)
			}
		})
	}
}

// The sleeper finds another slot if there is one.
func TestASleeperSellsAnotherSlot(t *testing.T) {
	s := openLeases(t, SlotLease, 3, long)
	meanwhile := func() {
		s.endLeases(t)
		s.mustBuyIn(t, 1, 2, 1)
		s.mustBuyIn(t, 1, 3, 1)
	}
	if _, err := s.buyIn(taptest.Before(t.Context(), "INSERT INTO slot_sold", meanwhile), 0, 1, 1); err != nil || s.retried.n == 0 {
		t.Errorf("told %v after %d further attempts, want a sale after one", err, s.retried.n)
	}
	s.balanced(t, 0)
}

// What a buyer was refused for goes back to the shelf: the next gets it without
// a lease.
func TestSlotsOfARolledBackPurchaseAreSoldToTheNext(t *testing.T) {
	s := openLeases(t, SlotLease, 3, long)
	s.mustBuyIn(t, 0, 1, 1)
	s.mustBuyIn(t, 0, 2, 1)
	if _, err := s.processes[0].Deduct(t.Context(), s.purchase(1, 1, "again")); !errors.Is(err, seckill.ErrDuplicate) {
		t.Errorf("got %v, want duplicate", err)
	}
	s.balanced(t, 1)
	s.mustBuyIn(t, 0, 3, 1)
	s.balanced(t, 0)
}

// Cancelled slots are sold again, one at a time and together with others, by any
// process, also after the sale was sold out.
func TestCancelledSlotsAreSoldAgain(t *testing.T) {
	s := openLeases(t, SlotLease, 6, long)
	var receipts []seckill.Receipt
	for user := range int64(3) {
		receipts = append(receipts, s.mustBuyIn(t, int(user%2), user+1, 2))
	}
	for range 2 { // a second cancellation changes nothing
		for _, i := range []int{0, 2} {
			if err := s.processes[1].Restore(t.Context(), receipts[i].OrderID); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.balanced(t, 4)
	if _, err := s.buyIn(t.Context(), 0, 4, 5); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("four are left and five wanted: %v", err)
	}
	s.mustBuyIn(t, 0, 5, 3)
	s.mustBuyIn(t, 1, 6, 1)
	s.balanced(t, 0)
}

// A stretch that was given back lies inside of one that is leased: its slots
// count once, and are sold once.
func TestASlotInTwoStretchesIsOneSlot(t *testing.T) {
	s := openLeases(t, SlotLease, 40, long)
	r := s.mustBuyIn(t, 0, 1, 1)
	if err := s.processes[0].Restore(t.Context(), r.OrderID); err != nil {
		t.Fatal(err)
	}
	s.balanced(t, 40)
	s.endLeases(t)
	if _, err := s.buyIn(t.Context(), 1, 2, 41); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("41 of 40: %v", err)
	}
	s.mustBuyIn(t, 1, 3, 40)
	s.balanced(t, 0)
}

// A process that stops gives back what it has not sold.
func TestAProcessThatStopsGivesItsLeasesBack(t *testing.T) {
	s := openLeases(t, SlotLease, 40, long)
	s.mustBuyIn(t, 0, 1, 1)
	s.mustBuyIn(t, 1, 2, 35)
	if err := s.processes[0].(seckill.Stopper).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.mustBuyIn(t, 1, 3, 4)
	s.balanced(t, 0)
}

// What was leased in an earlier run is of no use in the next.
func TestAResetEndsAllLeases(t *testing.T) {
	s := openLeases(t, SlotLease, 40, long)
	s.mustBuyIn(t, 0, 1, 1)
	s.reset(t, 3)
	s.mustBuyIn(t, 0, 2, 2)
	s.mustBuyIn(t, 1, 3, 1)
	s.balanced(t, 0)
	removed, err := s.store.SweepSKU(t.Context(), s.sku)
	if err != nil || removed != 1 {
		t.Errorf("the sweep removed %d orders, %v; want 1", removed, err)
	}
	for _, table := range []string{"slot_sold", "slot_lease"} {
		var old int64
		s.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM "+table+" WHERE sku_id = ? AND run < ?", s.sku, s.run).Scan(&old)
		if old != 0 {
			t.Errorf("%d rows of the earlier run are left in %s", old, table)
		}
	}
	s.balanced(t, 0)
}

// A reset between the look and the sale: the order stays out of the next run.
func TestAResetMeetsASlotPurchase(t *testing.T) {
	for _, at := range []string{"SELECT run, initial FROM", "INSERT INTO orders", "INSERT INTO slot_sold"} {
		s := openLeases(t, SlotLease, 3, long)
		_, err := s.buyIn(taptest.Before(t.Context(), at, func() { s.reset(t, 5) }), 0, 1, 1)
		if err != nil && !errors.Is(err, seckill.ErrConflict) {
			t.Errorf("%s: %v", at, err)
		}
		s.balanced(t, 5)
	}
}

// Many slots at once are written in several statements.
func TestAThousandSlotsInOnePurchase(t *testing.T) {
	s := openLeases(t, SlotLease, 1203, long)
	r := s.mustBuyIn(t, 0, 1, 1201)
	s.mustBuyIn(t, 1, 2, 2)
	if err := s.processes[1].Restore(t.Context(), r.OrderID); err != nil {
		t.Fatal(err)
	}
	s.balanced(t, 1201)
}

// Two processes sell and cancel side by side, quantities of one to three: at the
// end all can be sold, and each slot has one order.
func TestSlotsInACrowd(t *testing.T) {
	s := openLeases(t, SlotLease, 120, 20*time.Second)
	var g errgroup.Group
	g.SetLimit(24)
	for i := range 90 {
		g.Go(func() error {
			r, err := s.buyIn(t.Context(), i%2, int64(i+1), int64(1+i%3))
			if err == nil && i%3 == 0 {
				err = s.processes[(i/2)%2].Restore(t.Context(), r.OrderID)
			}
			if errors.Is(err, seckill.ErrSoldOut) || errors.Is(err, seckill.ErrConflict) {
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	s.endLeases(t)
	left := s.judgeSlots(t).Remaining
	s.balanced(t, left)
	for user := range left {
		s.mustBuyIn(t, int(user%2), 1000+user, 1)
	}
	s.balanced(t, 0)
}

// A lease whose COMMIT got no answer took nothing of the purchase.
func TestALeaseWithoutAnAnswer(t *testing.T) {
	s := openLeases(t, SlotLease, 5, long)
	_, err := s.buyIn(tap.With(t.Context(), &loses{reply: "COMMIT"}), 0, 1, 1)
	if !errors.Is(err, seckill.ErrUnavailable) || errors.Is(err, seckill.ErrUnknown) {
		t.Errorf("got %v, want unavailable: no order was sent", err)
	}
	s.balanced(t, 5)
	s.endLeases(t)
	s.mustBuyIn(t, 0, 2, 5)
	s.balanced(t, 0)
}

// A sale whose COMMIT got no answer keeps its slots: they may be sold.
func TestASaleWithoutAnAnswer(t *testing.T) {
	s := openLeases(t, SlotLease, 100, long)
	s.mustBuyIn(t, 0, 1, 1)
	_, err := s.buyIn(tap.With(t.Context(), &loses{reply: "COMMIT"}), 0, 2, 1)
	if !errors.Is(err, seckill.ErrUnknown) {
		t.Errorf("got %v, want unknown", err)
	}
	shelf := s.processes[0].(*slotLease).shelves.of(s.sku, s.run)
	if slices.Contains(shelf.has(), 2) {
		t.Error("slot 2 may be sold, and is on the shelf again")
	}
	s.balanced(t, 98)
}

// Purchases of several stock stores in one run prove nothing.
func TestSlotsAndRowInOneRun(t *testing.T) {
	s := openLeases(t, SlotLease, 5, long)
	s.mustBuyIn(t, 0, 1, 1)
	in := labtest.Instance(t, OrderFirst.Needs...)
	row, err := catalog.Build(OrderFirst, catalog.Deps{Instance: in, Ledger: s.store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := row.Deduct(t.Context(), s.purchase(2, 1, "")); err != nil {
		t.Fatal(err)
	}
	sellers := []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}, {Info: OrderFirst, Strategy: row}}
	r, err := catalog.Audit(t.Context(), s.store, s.sku, sellers)
	if err != nil || r.Verdict != ledger.NotValid {
		t.Errorf("the audit says %s, %v; want not valid: %+v", r.Verdict, err, r.Violations)
	}
}

// The row follows the orders when the sale is closed.
func TestTheRowFollowsTheSlots(t *testing.T) {
	s := openLeases(t, SlotLease, 5, long)
	s.mustBuyIn(t, 0, 1, 3)
	sellers := []catalog.Seller{{Info: s.info, Strategy: s.processes[0]}}
	if err := catalog.Close(t.Context(), s.store, s.sku, sellers); err != nil {
		t.Fatal(err)
	}
	if row, err := s.store.SKU(t.Context(), s.sku); err != nil || row.Num != 2 {
		t.Errorf("the row says %d, %v; want 2", row.Num, err)
	}
	s.balanced(t, 2)
	s.mustBuyIn(t, 1, 2, 2)
	if r := s.judgeSlots(t); r.Verdict == ledger.Held {
		t.Error("something was sold after the close, and the audit does not see it: " + fmt.Sprint(r))
	}
}

// loses loses one reply.
type loses struct {
	reply string // to this command
	done  bool
}

func (*loses) Before(context.Context, *tap.Command) error { return nil }

func (l *loses) After(_ context.Context, c *tap.Command, err error) error {
	if c.Name != l.reply || l.done {
		return err
	}
	l.done = true
	return errors.New("reply lost")
}
