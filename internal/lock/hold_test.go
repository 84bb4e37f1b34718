package lock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// Release waits for a renewal in progress, which could otherwise extend the released lock.
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
			time.Sleep(time.Second) // meanwhile the release waits
			over = true
			return true, ctx.Err()
		})
		<-begun
		labtest.Must(t, h.Release(t.Context()))
	})
}

// During Release neither the deadline nor the end of the session ends the lease's context.
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

// The lease's context ends when the renewer finds the lock lost, or when the deadline has passed.
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
			labtest.Check(t, context.Cause(h.Context()), ErrLost, "%s: the end of the lease", name)
			<-h.renewerDone // without a release
			labtest.Check(t, h.Release(t.Context()), ErrNotHeld, "%s: Release", name)
		})
	}
}

// A gate deletes a key after its last user, and closes the shared value.
func TestGateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		g := Gate[int]{Close: func(int) { closed++ }}
		inside := labtest.Value(g.Acquire(t.Context(), "key", 0)).Must(t)
		labtest.Value(g.Acquire(t.Context(), "key", time.Second)).Check(t, seckill.ErrBusy,
			"Acquire of a held key, with a wait of a second")
		inside.Release()
		labtest.Same(t, closed, 1, "how often the value was closed")
		labtest.Same(t, len(g.permits), 0, "the permits that are kept")
	})
}
