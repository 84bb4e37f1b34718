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

	timer *time.Timer // warns the holder when the lease is over

	stop func() (stopped <-chan struct{}) // the renewer, if there is one
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
// count later, so the holder is told before anybody else can get the lock.
//
// It is not for two goroutines at once; the renewer may call it.
func (h *Hold) Until(deadline time.Time) {
	if h.timer == nil {
		h.timer = time.AfterFunc(time.Until(deadline), h.Lost)
		return
	}
	h.timer.Reset(time.Until(deadline))
}

// Lost ends the lease's context with ErrLost. What was called lost is not
// taken up again: the renewer ends with it.
func (h *Hold) Lost() { h.end(ErrLost) }

// Renew calls renew after each period until the lease is lost or released, in
// a goroutine of its own, which Release joins. renew says whether the lock is
// still ours: if not, it is lost. An error may pass; Until has the last word.
// A limit other than 0 ends the renewing after so long, for a holder that
// hangs.
func (h *Hold) Renew(
	period, limit time.Duration, renew func(context.Context) (ours bool, err error),
) {
	ctx, stop := context.WithCancel(tap.Background(context.WithoutCancel(h.ctx)))
	stopped := make(chan struct{})
	deaf := context.AfterFunc(h.ctx, func() {
		if context.Cause(h.ctx) == ErrLost { // not when only the buyer has gone
			stop()
		}
	})
	began := time.Now()
	work := func() {
		defer close(stopped)
		defer deaf()
		for ctx.Err() == nil && (limit <= 0 || time.Since(began) < limit) {
			ours, err := renew(ctx)
			if err == nil && !ours {
				h.Lost()
				return
			}
			if tap.Sleep(ctx, period) != nil {
				return
			}
		}
	}
	var asleep *time.Timer
	h.stop = func() <-chan struct{} {
		stop()
		if asleep != nil && asleep.Stop() { // it had nothing to do yet
			deaf()
			close(stopped)
		}
		return stopped
	}
	if tap.From(ctx) == nil {
		// Most leases are over before the first period is. A goroutine that
		// only sleeps until then would cost them two switches.
		asleep = time.AfterFunc(period, work)
		return
	}
	go func() {
		if tap.Sleep(ctx, period) != nil {
			deaf()
			close(stopped)
			return
		}
		work()
	}()
}

// Context ends with ErrLost as its cause when the lock is known to be lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Fence is the fencing token; 0 if the lock has none.
func (h *Hold) Fence() uint64 { return h.fence }

// Release gives the lock back. It joins the renewer first, or that could
// extend what is being freed. A second time there is nothing to give back.
func (h *Hold) Release(ctx context.Context) error {
	err := error(ErrNotHeld)
	h.once.Do(func() { err = h.release(ctx) })
	return err
}

func (h *Hold) release(ctx context.Context) error {
	defer h.end(context.Canceled)
	if h.stop != nil {
		if _, err := tap.Wait(ctx, "the lock's renewer", h.stop()); err != nil {
			return err // the lock ends with its lease
		}
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	return h.free(ctx)
}
