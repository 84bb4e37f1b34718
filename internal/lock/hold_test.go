package lock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// A release waits for the renewal that is under way, which could extend what is freed.
func TestReleaseWaitsForTheRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, begun := false, make(chan struct{})
		h := NewHold(t.Context(), 0, func(context.Context) error {
			if !over {
				t.Error("the lock was given back during a renewal")
			}
			return nil
		})
		h.Renew(time.Second, 0, func(ctx context.Context) (bool, error) {
			close(begun)
			<-ctx.Done()
			time.Sleep(time.Second) // the release waits meanwhile
			over = true
			return true, ctx.Err()
		})
		<-begun
		labtest.Must(t, h.Release(t.Context()))
	})
}

// A lock that is being given back is not lost by its time or session any more.
func TestReleaseStopsListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alive, end := context.WithCancel(t.Context())
		var h *Hold
		h = NewHold(t.Context(), 0, func(context.Context) error {
			end()
			time.Sleep(2 * time.Second)
			return h.Context().Err()
		})
		h.ExpireAt(time.Now().Add(time.Second))
		h.ExpireWith(alive)
		labtest.Must(t, h.Release(t.Context()))
	})
}

// The holder is told, by the renewer or by their own clock.
func TestLost(t *testing.T) {
	for name, watch := range map[string]func(*Hold){
		"renewer": func(h *Hold) {
			h.Renew(time.Millisecond, 0, func(context.Context) (bool, error) { return false, nil })
		},
		"clock, while a renewal hangs": func(h *Hold) {
			h.ExpireAt(time.Now().Add(20 * time.Millisecond))
			h.Renew(time.Millisecond, 0, func(ctx context.Context) (bool, error) {
				<-ctx.Done() // until the lease is lost
				return true, context.Cause(ctx)
			})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHold(t.Context(), 0, func(context.Context) error { return ErrNotHeld })
			watch(h)
			<-h.Context().Done()
			if !errors.Is(context.Cause(h.Context()), ErrLost) {
				t.Errorf("%s: the lease ended with %v, want %v", name, context.Cause(h.Context()), ErrLost)
			}
			<-h.renewerDone // without a release
			if err := h.Release(t.Context()); !errors.Is(err, ErrNotHeld) {
				t.Errorf("%s: the release says %v, want %v", name, err, ErrNotHeld)
			}
		})
	}
}

// A gate forgets a key with the last who was inside or gave up, and closes what they shared.
func TestGateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		g := Gate[int]{Close: func(int) { closed++ }}
		inside, err := g.Acquire(t.Context(), "key", 0)
		labtest.Must(t, err)
		if _, err := g.Acquire(t.Context(), "key", time.Second); !errors.Is(err, seckill.ErrBusy) {
			t.Errorf("one who waits for a second was told %v, want busy", err)
		}
		inside.Release()
		if closed != 1 || len(g.permits) != 0 {
			t.Errorf("closed %d times, %d permits are kept; want 1 and 0", closed, len(g.permits))
		}
	})
}
