package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Poll calls the function try until try acquires the lock. Poll calls it at once, then after each pause, and a last
// time at the end of the wait (Options.Wait). The errors of Poll are those of Locker.Acquire: seckill.ErrBusy at the
// end of the wait, ctx's error when ctx has ended, and seckill.ErrUnavailable if the outcome of try is unknown.
func Poll(
	ctx context.Context, wait time.Duration, pause func() time.Duration,
	try func() (bool, error),
) error {
	end := time.Now().Add(wait)
	for {
		ok, err := try()
		if err != nil {
			return AcquireError(ctx, err)
		}
		if ok {
			return nil
		}
		nap := pause()
		if wait >= 0 {
			nap = min(nap, time.Until(end))
		}
		if nap <= 0 {
			return seckill.ErrBusy
		}
		if err := tap.Sleep(ctx, nap); err != nil {
			return err
		}
	}
}

// Every returns a function that always returns the pause d.
func Every(d time.Duration) func() time.Duration {
	return func() time.Duration { return d }
}

// AcquireError returns the error of an Acquire whose command failed with err. The result is ctx's
// error if the buyer has left, seckill.ErrBusy if this process has no free connection, and
// seckill.ErrUnavailable if the backend did not answer.
func AcquireError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case seckill.NothingTaken(err):
		return err
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// ErrPlaceLost means that the contender has lost its place in the lock's queue, perhaps because its session has ended.
// LineUp then takes a new place.
var ErrPlaceLost = errors.New("the place in the lock's queue was lost")

// LineUp acquires a lock that has a queue. It calls the function attempt, which waits in the queue, and returns
// seckill.ErrBusy at the deadline, the end of the buyer's wait (Options.Wait). If attempt returns ErrPlaceLost, LineUp
// calls it again until the deadline, but at least once more, even for a buyer who does not wait.
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

// WaitContext returns the context of a wait in a lock's queue. When session ends, the context ends with ErrPlaceLost as
// its cause. At the deadline, it ends with seckill.ErrBusy, unless wait is negative, that is, without a limit.
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
