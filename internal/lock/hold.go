package lock

import (
	"context"
	"sync"
	"time"

	"seckill/internal/tap"
)

// A Hold is the Lease of a lock that is freed by one function. It has a
// context, and, if it is told to, a deadline and a renewer.
type Hold struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	free  func(context.Context) error
	fence uint64
	once  sync.Once

	warning *alarm // when the lease is over

	renewer *renewer // nil: it is not renewed
}

// NewHold is a lease under ctx. free gives the lock back; it is called once.
func NewHold(ctx context.Context, fence uint64, free func(context.Context) error) *Hold {
	h := &Hold{free: free, fence: fence}
	h.ctx, h.end = context.WithCancelCause(ctx)
	return h
}

// Until ends the lease's context with ErrLost at deadline, and sets that anew
// when it is called again. Count the deadline from the moment before the
// command was sent, with time.Now (its monotonic clock): the server began to
// count later, so the holder is told before another can get the lock.
//
// It is not for two goroutines at once; the renewer may call it.
func (h *Hold) Until(deadline time.Time) {
	if h.warning == nil {
		h.warning = alarms.at(deadline, h.Lost)
		return
	}
	h.warning.reset(deadline)
}

// Lost ends the lease's context with ErrLost. What was called lost is not
// taken up again: the renewer ends with it.
func (h *Hold) Lost() { h.end(ErrLost) }

// Context ends with ErrLost as its cause when the lock is known to be lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Fence is the fencing token; 0 if the lock has none.
func (h *Hold) Fence() uint64 { return h.fence }

// Release gives the lock back. It joins the renewer first, or that could
// extend what is being freed. A second time there is nothing to give back.
func (h *Hold) Release(ctx context.Context) error {
	err := ErrNotHeld
	h.once.Do(func() { err = h.release(ctx) })
	return err
}

func (h *Hold) release(ctx context.Context) error {
	defer h.end(context.Canceled)
	if h.renewer != nil {
		if stopped := h.renewer.stop(); stopped != nil {
			if _, err := tap.Wait(ctx, "the lock's renewer", stopped); err != nil {
				return err // the lock ends with its lease
			}
		}
	}
	if h.warning != nil {
		h.warning.stop()
	}
	return h.free(ctx)
}
