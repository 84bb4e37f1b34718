package contract

import (
	"context"
	"slices"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
)

// A flawed lock has one flaw that a test wants to see found.
type flawed struct {
	lock.Locker
	flaw  Promise
	lease time.Duration // of locks that are renewed
}

func (f *flawed) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	switch {
	case f.flaw == WaitLimit && o.Wait > 0:
		o.Wait = 0
	case f.flaw == Renewal && o.Lease == 0:
		o.Lease = f.lease
	case f.flaw == LeaseEnd:
		o.Lease *= 1000
	}
	l, err := f.Locker.Acquire(ctx, key, o)
	switch {
	case err != nil && f.flaw == Leaving:
		return nil, seckill.ErrBusy
	case err != nil:
		return nil, err
	}
	return flawedLease{l, f.flaw}, nil
}

type flawedLease struct {
	lock.Lease
	flaw Promise
}

func (l flawedLease) Fence() uint64 {
	if l.flaw == Fence {
		return 7
	}
	return l.Lease.Fence()
}

// A lock with a flaw fails by the promise that it breaks, and passes when the
// flaw is declared. The promises are those that no lock of the table breaks.
func TestFlawsAreFound(t *testing.T) {
	for flaw, lock := range map[Promise]string{WaitLimit: "redis-watchdog", Leaving: "redis-watchdog",
		LeaseEnd: "redis-watchdog", Renewal: "redis-watchdog", Fence: "redis-fenced"} {
		t.Run(string(flaw), func(t *testing.T) {
			t.Parallel()
			h := harness(t, lock)
			sound := h.Open
			h.Open = func(t testing.TB, s catalog.Settings) *locktest.Process {
				p := sound(t, s)
				p.Locker = &flawed{p.Locker, flaw, s.LockLease}
				return p
			}
			h.Renewed, h.only = 300*time.Millisecond, []Promise{flaw}
			h.Breaks = h.only
			if len(failed(ask(t, h))) > 0 {
				t.Error("it is declared, and the suite fails")
			}
			h.Patience, h.Breaks = 500*time.Millisecond, nil
			if len(failed(ask(t, h))) == 0 {
				t.Error("the suite does not see it")
			}
		})
	}
}

// A flaw that is declared and does not show fails the test as well.
func TestDeclaredFlawHasToShow(t *testing.T) {
	h := harness(t, "redis-watchdog")
	h.Breaks, h.only = []Promise{OtherKeys}, []Promise{OtherKeys}
	if got := failed(ask(t, h)); !slices.Equal(got, h.Breaks) {
		t.Errorf("%q is declared of a sound lock, and the suite fails by %q", OtherKeys, got)
	}
}

func failed(trials []*trial) (by []Promise) {
	for _, c := range trials {
		if len(c.failures()) > 0 {
			by = append(by, c.promise)
		}
	}
	return by
}
