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

// Poll calls try until it takes the lock: at once, and then after each pause,
// with one last attempt when the wait (Options.Wait) is over. It returns what
// Acquire has to: seckill.ErrBusy when the time is up, ctx's error when ctx
// ended, and seckill.ErrUnavailable for an attempt whose outcome is
// unknown.
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

// Every is the pause of a lock that polls in even steps.
func Every(d time.Duration) func() time.Duration {
	return func() time.Duration { return d }
}

// Unavailable is what Acquire says of a backend that did not answer: that the
// buyer left, that this process has no connection to spare (busy), or that the
// backend cannot be reached.
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
