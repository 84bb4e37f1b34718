package lock

import (
	"context"
	"errors"
	"time"

	"seckill/internal/seckill"
)

// ErrPlaceLost: the contender's place in the lock's queue is gone, or the
// session that the place belongs to has ended. LineUp takes a new place then.
var ErrPlaceLost = errors.New("the place in the lock's queue was lost")

// LineUp makes attempts to get a lock that has a queue, until one succeeds or
// the wait (Options.Wait) is over at end. An attempt ends with seckill.ErrBusy
// when its time is up. After ErrPlaceLost there is another attempt, at least
// one, also for a buyer who does not wait.
func LineUp(
	ctx context.Context, wait time.Duration,
	attempt func(end time.Time) (Lease, error),
) (Lease, error) {
	end := time.Now().Add(wait)
	for again := false; ctx.Err() == nil; again = true {
		lease, err := attempt(end)
		switch {
		case err == nil:
			return lease, nil
		case !errors.Is(err, ErrPlaceLost):
			return nil, AcquireError(ctx, err)
		case again && wait >= 0 && time.Now().After(end):
			return nil, seckill.ErrBusy
		}
	}
	return nil, context.Cause(ctx)
}

// WaitContext returns the context of a wait in a lock's queue. It ends with
// seckill.ErrBusy as its cause at end, unless wait is negative, and with
// ErrPlaceLost when session ends.
func WaitContext(
	ctx, session context.Context, wait time.Duration, end time.Time,
) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopListening := context.AfterFunc(session, func() { cancel(ErrPlaceLost) })
	stopTimer := func() bool { return true }
	if wait >= 0 {
		stopTimer = time.AfterFunc(time.Until(end),
			func() { cancel(seckill.ErrBusy) }).Stop
	}
	return ctx, func() {
		stopListening()
		stopTimer()
		cancel(nil)
	}
}
