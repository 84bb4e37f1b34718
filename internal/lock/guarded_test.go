package lock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// A heldLock is always held by somebody else. If fails is set, every attempt to acquire it fails with that error.
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
			snap, err := s.Ledger.Snapshot(t.Context(), sku)
			labtest.Must(t, err)
			if snap.Stock.Num != left {
				t.Errorf("fenced %v, lost at %s: %d are left, want %d", fenced, at, snap.Stock.Num, left)
			}
		}
	}
}
