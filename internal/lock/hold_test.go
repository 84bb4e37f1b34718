package lock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
)

// Released when the first renewal is just due: it comes before the release, or
// not at all.
func TestReleasedWhenRenewalIsDue(t *testing.T) {
	for range 300 {
		var over atomic.Bool
		h := NewHold(t.Context(), 0, func(context.Context) error {
			over.Store(true)
			return nil
		})
		h.Renew(50*time.Microsecond, 0, func(context.Context) (bool, error) {
			if over.Load() {
				t.Error("renewed after the lock was given back")
			}
			return true, nil
		})
		time.Sleep(50 * time.Microsecond)
		labtest.Must(t, h.Release(t.Context()))
	}
}

// The holder is told, by the renewer or by their own clock.
func TestLost(t *testing.T) {
	for name, watch := range map[string]func(*Hold){
		"renewer": func(h *Hold) {
			h.Renew(time.Millisecond, 0, func(context.Context) (bool, error) { return false, nil })
		},
		"clock, while a renewal hangs": func(h *Hold) {
			h.Until(time.Now().Add(20 * time.Millisecond))
			h.Renew(time.Millisecond, 0, func(ctx context.Context) (bool, error) {
				<-ctx.Done() // until the lease is lost
				return true, context.Cause(ctx)
			})
		},
	} {
		h := NewHold(t.Context(), 0, func(context.Context) error { return ErrNotHeld })
		watch(h)
		<-h.Context().Done()
		if !errors.Is(context.Cause(h.Context()), ErrLost) {
			t.Errorf("%s: the lease ended with %v, want %v", name, context.Cause(h.Context()), ErrLost)
		}
		if err := h.Release(t.Context()); !errors.Is(err, ErrNotHeld) {
			t.Errorf("%s: the release says %v, want %v", name, err, ErrNotHeld)
		}
	}
}
