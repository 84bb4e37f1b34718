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
