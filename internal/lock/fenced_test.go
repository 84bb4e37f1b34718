package lock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A granting lock grants every request at once, with these tokens. So only the fence protects the stock.
type granting struct {
	tokens []uint64
	above  []uint64 // the values of Options.Above in all requests
}

func (l *granting) Acquire(ctx context.Context, _ string, o lock.Options) (lock.Lease, error) {
	token := l.tokens[0]
	l.tokens, l.above = l.tokens[1:], append(l.above, o.Above)
	return lock.NewHold(ctx, token, func(context.Context) error { return nil }), nil
}

type fencedSale struct {
	*testing.T
	*lock.Guarded
	granting *granting
}

const sku = 1

func newFencedSale(t *testing.T, stock int64, tokens ...uint64) *fencedSale {
	in := labtest.Open(t, backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
	labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	l := &granting{tokens: tokens}
	s := &fencedSale{t, &lock.Guarded{Locker: l, Fenced: true,
		Key:    func(sku int64) string { return fmt.Sprint(sku) },
		Ledger: ledger.NewStore(in.DB).For("fenced")}, l}
	s.reset(stock)
	return s
}

func (s *fencedSale) reset(stock int64) {
	s.Helper()
	labtest.Value(s.Ledger.Schedule(s.Context(), sku, "", stock, nil)).Must(s)
}

func (s *fencedSale) buy(ctx context.Context, user, quantity int64) (seckill.Receipt, error) {
	return s.Deduct(ctx, seckill.Purchase{SKU: sku, User: user, Quantity: quantity, RequestID: fmt.Sprint("r", user)})
}

func (s *fencedSale) sells(user, quantity int64) seckill.Receipt {
	s.Helper()
	return labtest.Value(s.buy(s.Context(), user, quantity)).Must(s)
}

// has checks the units left, the fence, and the users who have active orders.
func (s *fencedSale) has(num, fence int64, orders ...int64) {
	s.Helper()
	snap := labtest.Value(s.Ledger.Snapshot(s.Context(), sku)).Must(s)
	var active []int64
	for _, o := range snap.Orders {
		if o.Status == judge.Active {
			active = append(active, o.UserID)
		}
	}
	if snap.Stock.Num != num || snap.Stock.Fence != fence || fmt.Sprint(active) != fmt.Sprint(orders) {
		s.Errorf("the row has %d left and fence %d, orders are of %v; want %d, %d and %v",
			snap.Stock.Num, snap.Stock.Fence, active, num, fence, orders)
	}
}

var points = []string{"UPDATE stock SET fence", "SELECT num", "BEGIN"}

// A later holder buys between two commands of an earlier holder, which buys or cancels. The earlier holder is
// refused, and no update is lost.
func TestLaterHolderIsNotOverwritten(t *testing.T) {
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			s := newFencedSale(t, 10, 1, 7, 8, 9, 10, 11)
			placed := s.sells(1, 3)
			ctx := taptest.Before(t.Context(), point, func() { s.sells(3, 1) })
			if _, err := s.buy(ctx, 2, 2); !errors.Is(err, seckill.ErrConflict) || !seckill.NothingTaken(err) {
				t.Errorf("the earlier holder buys: %v, want a conflict", err)
			}
			s.has(6, 8, 1, 3)
			ctx = taptest.Before(t.Context(), point, func() { s.sells(4, 1) })
			labtest.Check(t, s.Restore(ctx, placed.OrderID), seckill.ErrConflict, "the earlier holder cancels")
			s.has(5, 10, 1, 3, 4)
			labtest.Check(t, s.Restore(t.Context(), placed.OrderID), nil, "the cancellation is repeated")
			s.has(8, 11, 3, 4)
		})
	}
}

// A lock has granted the same token twice. The holder that raises the fence first succeeds, and the other one is
// refused.
func TestSameTokenTwice(t *testing.T) {
	for _, point := range points {
		s := newFencedSale(t, 5, 4, 4)
		var second error
		ctx := taptest.Before(t.Context(), point, func() { _, second = s.buy(t.Context(), 2, 1) })
		_, first := s.buy(ctx, 1, 2)
		raised, late := first, second // the result of the holder that raises the fence first, and of the other
		user, left := int64(1), int64(3)
		if point == points[0] {
			raised, late, user, left = second, first, 2, 4
		}
		if raised != nil || !errors.Is(late, seckill.ErrConflict) {
			t.Errorf("before %s: the first to raise the fence got %v, the other %v", point, raised, late)
		}
		s.has(left, 4, user)
	}
}

// A lock learns the last token from Options.Above. The row refuses a lock that counts from the start again, and a lock
// without tokens. After a reset it accepts smaller tokens.
func TestTokensOfAnotherLock(t *testing.T) {
	s := newFencedSale(t, 5, 1_000, 0, 3, 4)
	s.sells(1, 1)
	labtest.Value(s.buy(t.Context(), 2, 1)).Check(t, seckill.ErrUnavailable, "a lock without tokens")
	labtest.Value(s.buy(t.Context(), 2, 1)).Check(t, seckill.ErrConflict, "a smaller token")
	s.has(4, 1_000, 1)
	s.reset(8)
	s.has(8, 0)
	s.sells(2, 1)
	s.has(7, 4, 2)
	labtest.Same(t, fmt.Sprint(s.granting.above), "[0 1000 1000 0]", "Options.Above of the requests")
}

// A reset comes between two commands of a holder with a great token. The holder is refused, and changes neither the
// new sale nor its fence, because the next sale may use a lock with small tokens.
func TestResetDuringPurchase(t *testing.T) {
	for _, point := range append([]string{"SELECT fence"}, points...) {
		t.Run(point, func(t *testing.T) {
			s := newFencedSale(t, 9, 1, 1_000_000, 2, 3, 1_000_001)
			placed := s.sells(1, 3)
			ctx := taptest.Before(t.Context(), point, func() { s.reset(5) })
			_, err := s.buy(ctx, 2, 2)
			if point == "SELECT fence" { // the purchase begins after the reset
				if err != nil {
					t.Error(err)
				}
				return
			}
			labtest.Check(t, err, seckill.ErrConflict, "a purchase with a reset in it")
			s.has(5, 0)
			s.sells(3, 1)
			s.has(4, 2, 3)
			labtest.Check(t, s.Restore(t.Context(), placed.OrderID), seckill.ErrUnknownOrder,
				"cancelling an order of the previous run")

			placed = s.sells(4, 1)
			ctx = taptest.Before(t.Context(), point, func() { s.reset(7) })
			if err := s.Restore(ctx, placed.OrderID); !errors.Is(err, seckill.ErrConflict) && !errors.Is(err, seckill.ErrUnknownOrder) {
				t.Errorf("a cancellation with a reset in it: %v", err)
			}
			s.has(7, 0)
		})
	}
}

// A heldLock is always held by another holder. If fails is set, every attempt to acquire it fails with that error.
type heldLock struct {
	fails   error
	cleared bool
}

func (l *heldLock) Acquire(ctx context.Context, _ string, o lock.Options) (lock.Lease, error) {
	return nil, lock.Poll(ctx, o.Wait, lock.Every(time.Millisecond), func() (bool, error) { return false, l.fails })
}

func (l *heldLock) Clear(context.Context, string) error {
	l.cleared = true
	return nil
}

// Reset clears a lock only after it has waited for the holder's maximum lifetime. A buyer who leaves while waiting for
// the lock has bought nothing.
func TestResetWaitsBeforeItClears(t *testing.T) {
	l := &heldLock{fails: redis.ErrPoolTimeout}
	g := &lock.Guarded{Locker: l, Key: func(int64) string { return "" }, MaxLifetime: time.Hour}
	if err := g.Reset(t.Context(), sku, 1); !errors.Is(err, seckill.ErrBusy) || l.cleared {
		t.Errorf("without a connection to spare: %v, cleared: %v", err, l.cleared)
	}
	l.fails, g.MaxLifetime = nil, 3*time.Millisecond
	if err := g.Reset(t.Context(), sku, 1); err != nil || !l.cleared {
		t.Errorf("after the wait: %v, cleared: %v", err, l.cleared)
	}
	gone, leave := context.WithCancel(t.Context())
	g.Options.Wait = time.Hour
	if leave(); !seckill.NothingTaken(g.RunLocked(gone, sku, nil)) {
		t.Error("the error of a buyer who left without the lock does not say that nothing was taken")
	}
}

// A losing lock grants a lease that the test ends.
type losing struct{ hold *lock.Hold }

func (l *losing) Acquire(ctx context.Context, _ string, _ lock.Options) (lock.Lease, error) {
	l.hold = lock.NewHold(ctx, 1, func(context.Context) error { return nil })
	return l.hold, nil
}

// If the lease is lost before COMMIT, the purchase is rolled back and is a conflict. If the reply to COMMIT is lost, the
// outcome is unknown, even though the lease is lost, too.
func TestPurchaseEndsWithItsLease(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		for at, left := range map[string]int64{"BEGIN": 5, "INSERT INTO orders": 5, "COMMIT": 4} {
			s, l := newFencedSale(t, 5), &losing{}
			s.Locker, s.Fenced = l, fenced
			_, err := s.buy(tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
				if !strings.HasPrefix(c.Text, at) {
					return err
				}
				l.hold.MarkLost()
				if at == "COMMIT" {
					return taptest.ErrLostReply
				}
				return err
			}}), 1, 1)
			want := seckill.ErrConflict
			if at == "COMMIT" {
				want = seckill.ErrUnknown
			}
			if !errors.Is(err, want) || seckill.NothingTaken(err) != (at != "COMMIT") {
				t.Errorf("fenced %v, lost at %s: %v, want %v", fenced, at, err, want)
			}
			snap := labtest.Value(s.Ledger.Snapshot(t.Context(), sku)).Must(t)
			labtest.Same(t, snap.Stock.Num, left, "fenced %v, lost at %s: the units left", fenced, at)
		}
	}
}
