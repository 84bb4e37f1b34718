package lock

import (
	"context"
	"errors"
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

	warning *time.Timer // rings when the lease is over; nil: there is no deadline
	deaf    func() bool // stops listening to what the lock lives by; nil: to nothing

	stopRenewing context.CancelFunc // nil: it is not renewed
	renewerOver  chan struct{}      // closed when the renewer has ended
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
func (h *Hold) ExpireAt(deadline time.Time) {
	if h.warning == nil {
		h.warning = time.AfterFunc(time.Until(deadline), h.MarkLost)
		return
	}
	h.warning.Reset(time.Until(deadline))
}

// EndsWith ends the lease's context with ErrLost when alive ends: the session
// that the lock lives by. Release stops listening.
func (h *Hold) ExpireWith(alive context.Context) {
	h.deaf = context.AfterFunc(alive, h.MarkLost)
}

// Renew calls renew after each period until the lease is lost or released, in
// a goroutine of its own, which Release joins. renew says whether the lock is
// still ours: if not, it is lost. An error may pass; Until has the last word.
// A limit other than 0 ends the renewing after so long, for a holder that
// hangs. The renewer goes on when only the buyer has gone: the lock is theirs
// until it is released.
//
// A tap sees it as a helper that backs off between two commands, so a proof
// decides when it acts. It is called once.
func (h *Hold) Renew(
	period, limit time.Duration, renew func(context.Context) (ours bool, err error),
) {
	began := time.Now()
	ctx, helper := tap.Background(context.WithoutCancel(h.ctx))
	ctx, h.stopRenewing = context.WithCancel(ctx)
	stop, over := h.stopRenewing, make(chan struct{})
	h.renewerOver = over
	context.AfterFunc(h.ctx, func() {
		if errors.Is(context.Cause(h.ctx), ErrLost) {
			stop()
		}
	})
	go func() {
		defer helper.Over() // last: until then the tap knows that there may be news
		defer close(over)
		defer stop()
		for tap.Sleep(ctx, period) == nil && ctx.Err() == nil {
			if limit > 0 && time.Since(began) >= limit {
				return
			}
			if ours, err := renew(ctx); err == nil && !ours {
				h.MarkLost()
				return
			}
		}
	}()
}

// FreeByToken frees a lock by a token that no other holder has, and so may do it again when
// the connection breaks: three times, while ctx lasts. That the lock is not held any more
// says then that an earlier try freed it.
func FreeByToken(ctx context.Context, free func() error) error {
	err := free()
	for try := 1; try < 3 && err != nil && !errors.Is(err, ErrNotHeld) && ctx.Err() == nil; try++ {
		if err = free(); errors.Is(err, ErrNotHeld) {
			return nil
		}
	}
	return err
}

// Lost ends the lease's context with ErrLost. What was called lost is not
// taken up again: the renewer ends with it.
func (h *Hold) MarkLost() { h.end(ErrLost) }

// Context ends with ErrLost as its cause when the lock is known to be lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Fence is the fencing token; 0 if the lock has none.
func (h *Hold) Fence() uint64 { return h.fence }

// Release gives the lock back. It joins the renewer first, or that could
// extend what is being freed. A second time there is nothing to give back.
func (h *Hold) Release(ctx context.Context) error {
	err := ErrNotHeld
	h.once.Do(func() { err = h.releaseOnce(ctx) })
	return err
}

func (h *Hold) releaseOnce(ctx context.Context) error {
	defer h.end(context.Canceled)
	if h.stopRenewing != nil {
		h.stopRenewing()
		if _, err := tap.Wait(ctx, "the lock's renewer", h.renewerOver); err != nil {
			return err // the lock ends with its lease
		}
	}
	if h.warning != nil {
		h.warning.Stop()
	}
	if h.deaf != nil {
		h.deaf()
	}
	return h.free(ctx)
}
