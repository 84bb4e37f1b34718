package lock

import (
	"context"
	"errors"
	"time"

	"seckill/internal/seckill"
)

// ErrPlaceLost means that the contender has lost its place in the lock's queue,
// or that the session of the place has ended. LineUp then takes a new place.
var ErrPlaceLost = errors.New("the place in the lock's queue was lost")

// LineUp acquires a lock that has a queue. It calls the function attempt, which waits in the queue until the deadline,
// when the buyer's wait (Options.Wait) is over, and then returns seckill.ErrBusy. After ErrPlaceLost LineUp calls
// attempt again until the wait is over. It makes at least one more attempt, even for a buyer who does not wait.
func LineUp(
	ctx context.Context, wait time.Duration,
	attempt func(deadline time.Time) (Lease, error),
) (Lease, error) {
	deadline := time.Now().Add(wait)
	for again := false; ctx.Err() == nil; again = true {
		lease, err := attempt(deadline)
		switch {
		case err == nil:
			return lease, nil
		case !errors.Is(err, ErrPlaceLost):
			return nil, AcquireError(ctx, err)
		case again && wait >= 0 && time.Now().After(deadline):
			return nil, seckill.ErrBusy
		}
	}
	return nil, context.Cause(ctx)
}

// WaitContext returns the context of a wait in a lock's queue. If wait is not negative, the context ends at the
// deadline, with seckill.ErrBusy as its cause. When session ends, the context ends with ErrPlaceLost.
func WaitContext(
	ctx, session context.Context, wait time.Duration, deadline time.Time,
) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopListening := context.AfterFunc(session, func() { cancel(ErrPlaceLost) })
	stopTimer := func() bool { return true }
	if wait >= 0 {
		stopTimer = time.AfterFunc(time.Until(deadline),
			func() { cancel(seckill.ErrBusy) }).Stop
	}
	return ctx, func() {
		stopListening()
		stopTimer()
		cancel(nil)
	}
}
