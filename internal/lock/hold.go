package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"seckill/internal/tap"
)

// A Hold is a Lease that calls a function to release its lock. It can also end at a deadline (ExpireAt), end with a
// session (ExpireWith), and renew its lock (Renew).
type Hold struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func(context.Context) error
	fence   uint64
	once    sync.Once

	deadline      *time.Timer // calls MarkLost when the lease ends; nil before ExpireAt
	stopListening func() bool // stops listening to the session; nil if there is no session

	stopRenewing context.CancelFunc // ends the renewals; nil if the lock is not renewed
	renewerDone  chan struct{}      // closed when the goroutine that renews has returned
}

// NewHold returns a lease under ctx. The first call of its Release calls release.
func NewHold(
	ctx context.Context, fence uint64, release func(context.Context) error,
) *Hold {
	h := &Hold{release: release, fence: fence}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	return h
}

// ExpireAt ends the lease's context with ErrLost at deadline. Another call replaces the deadline. Compute the deadline
// from the time just before the command that takes or renews the lock was sent. The server begins to count later, so
// the holder learns of the end before another buyer can get the lock.
//
// Two calls must not run at the same time. The renewer (see Renew) may call ExpireAt.
func (h *Hold) ExpireAt(deadline time.Time) {
	if h.deadline == nil {
		h.deadline = time.AfterFunc(time.Until(deadline), h.MarkLost)
		return
	}
	h.deadline.Reset(time.Until(deadline))
}

// ExpireWith ends the lease's context with ErrLost when session ends. It is for
// a lock that ends with its session. Release stops listening to the session.
func (h *Hold) ExpireWith(session context.Context) {
	h.stopListening = context.AfterFunc(session, h.MarkLost)
}

// Renew starts a goroutine, the renewer, that calls the function renew after each period, until the lease is lost or
// released. If renew returns ours = false, the lock belongs to someone else, and the lease is lost. The renewer ignores
// an error of renew, because the lease ends at its deadline anyway (ExpireAt). If limit is above 0, the renewals end
// after this time, in case the holder hangs. The renewals go on when the buyer's context ends, because the buyer has
// the lock until Release. Release waits for the renewer's end.
//
// A tap.Tap sees the renewer's pauses (tap.Background), so the explorer can decide when the renewer acts. Call Renew
// once.
func (h *Hold) Renew(
	period, limit time.Duration, renew func(context.Context) (ours bool, err error),
) {
	began := time.Now()
	ctx, end := tap.Background(context.WithoutCancel(h.ctx))
	ctx, h.stopRenewing = context.WithCancel(ctx)
	stop, done := h.stopRenewing, make(chan struct{})
	h.renewerDone = done
	context.AfterFunc(h.ctx, func() {
		if errors.Is(context.Cause(h.ctx), ErrLost) {
			stop()
		}
	})
	go func() {
		defer end() // runs last, because it tells the tap that this goroutine sends no more commands
		defer close(done)
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

// MarkLost ends the lease's context with ErrLost, which also ends the renewer. A lost lease stays lost.
func (h *Hold) MarkLost() { h.cancel(ErrLost) }

// Context returns the lease's context. It ends with ErrLost as its cause when the lock is known to be lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Fence returns the fencing token, or 0 if the lock has none.
func (h *Hold) Fence() uint64 { return h.fence }

// Release gives the lock back. A second call returns ErrNotHeld and sends nothing.
func (h *Hold) Release(ctx context.Context) error {
	err := ErrNotHeld
	h.once.Do(func() { err = h.releaseOnce(ctx) })
	return err
}

// releaseOnce first waits for the renewer's end, because the renewer could extend the lock during its release.
func (h *Hold) releaseOnce(ctx context.Context) error {
	defer h.cancel(context.Canceled)
	if h.stopRenewing != nil {
		h.stopRenewing()
		if _, err := tap.Wait(ctx, "the lock's renewer", h.renewerDone); err != nil {
			return err // the lock is not released, so it stays until its lease ends
		}
	}
	if h.deadline != nil {
		h.deadline.Stop()
	}
	if h.stopListening != nil {
		h.stopListening()
	}
	return h.release(ctx)
}

// ReleaseByToken calls release up to three times, until a call succeeds or ctx has ended. It is
// safe to repeat the call, because no other holder has the token by which the lock is released. If
// a later call returns ErrNotHeld, an earlier call whose reply was lost has released the lock.
func ReleaseByToken(ctx context.Context, release func() error) error {
	err := release()
	for try := 1; try < 3 && err != nil && !errors.Is(err, ErrNotHeld) && ctx.Err() == nil; try++ {
		if err = release(); errors.Is(err, ErrNotHeld) {
			return nil
		}
	}
	return err
}

// UndoUnclear releases a lock that an attempt may have taken although its reply was lost. It sends the release even
// when the buyer has left, because the reply may be lost for that very reason. If the server cannot be reached, the
// lock ends with its lease.
func UndoUnclear(ctx context.Context, release func(context.Context) error) {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = release(ctx)
}
