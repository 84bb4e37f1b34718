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

// A held lock is never free: asking for it fails, or is answered that it is held.
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

// A reset takes a lock away only from a holder for whom it has waited. One who has left
// meanwhile has bought nothing.
func TestResetClearsOnlyWhatItHasWaitedFor(t *testing.T) {
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
		t.Error("who left without the lock is not told that nothing was taken")
	}
}

// A losing lock grants a lease that its test ends.
type losing struct{ hold *lock.Hold }

func (l *losing) Acquire(ctx context.Context, _ string, _ lock.Options) (lock.Lease, error) {
	l.hold = lock.NewHold(ctx, 1, func(context.Context) error { return nil })
	return l.hold, nil
}

// A purchase whose lease is lost before COMMIT is rolled back, and a conflict.
// When COMMIT was sent and not answered, its outcome is unknown, whatever
// became of the lease.
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
