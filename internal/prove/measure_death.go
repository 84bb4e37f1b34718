package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// measureTimeAfterDeath repeats a purchase once for each of its commands, in real time. Each time, it kills the
// buyer's process before that command, and measures the time until the next buyer has bought.
func measureTimeAfterDeath(ctx context.Context, t *trial, c Cell) (Cell, error) {
	if c.Answer != Holds {
		return c, nil
	}
	other, sku, err := t.openSale(ctx)
	if err != nil {
		return c, err
	}
	defer other.In.Close()
	commands, err := other.undisturbedCommands(ctx, sku)
	if err != nil {
		return c, err
	}
	waits := make([]time.Duration, len(commands))
	deaths, ctx := errgroup.WithContext(ctx)
	deaths.SetLimit(10)
	for n, command := range commands {
		if command.Backend == tap.Waiting {
			continue
		}
		deaths.Go(func() (err error) {
			if waits[n], err = t.dieBefore(ctx, other, n); err != nil {
				return fmt.Errorf("a buyer's process dies before %s: %w", command.Text, err)
			}
			return nil
		})
	}
	if err := deaths.Wait(); err != nil {
		return c, err
	}
	c.Wait = slices.Max(waits).Seconds()
	if c.Wait < immediate.Seconds() {
		c.Wait, c.Text = 0, "the next gets through at once"
		return c, nil
	}
	c.Wait = roundSeconds(c.Wait)
	c.Text = fmt.Sprintf("the next gets through within %g s (leases of %v, sessions of %v)", c.Wait, realLease,
		realSession)
	return c, nil
}

// roundSeconds rounds n to one of a few numbers of seconds, so that two runs give the same text.
// The time that a server needs to notice a death varies from run to run.
func roundSeconds(n float64) float64 {
	for _, round := range []float64{1, 2, 3, 5, 10, 20} {
		if n <= 1.15*round {
			return round
		}
	}
	return 40
}

// immediate is much shorter than a lease or session. A buyer who waited for less than immediate did not wait for the
// end of a lease or session.
const immediate = realLease / 4

// dieBefore kills a process whose buyer is about to send command n, and lets the next buyer start at once. It
// returns the time until the next buyer has bought. The calls of the dead buyer reach no server any more. They may
// fail only after some time, so dieBefore does not wait for them before the next purchase.
func (t *trial) dieBefore(ctx context.Context, other *client, n int) (took time.Duration, err error) {
	sku, err := other.newSale(ctx, 10)
	if err != nil {
		return 0, err
	}
	victim, err := t.openClient(ctx)
	if err != nil {
		return 0, err
	}
	defer victim.In.Close()
	// The number n counts the commands of a client's second purchase (see undisturbedCommands). A first purchase has
	// more commands, because it opens sessions. So the victim, too, makes one purchase before the one that counts.
	if _, err := victim.Strategy.Deduct(ctx, measuredPurchase(sku, 8)); err != nil {
		return 0, fmt.Errorf("a purchase before the death: %w", err)
	}
	last := victim.stoppedBuyer(sku, 1, func(at int, _ *tap.Command) bool { return at == n })
	if err := last.startPurchase(tap.With(ctx, last.Gate)); err != nil {
		return 0, err
	}
	killed := time.Now()
	victim.In.Dialer.Kill()
	last.Open()
	defer func() {
		select {
		case <-last.result:
		case <-time.After(realWait):
			err = errors.Join(err, errors.New("the dead buyer's purchase does not end"))
		}
	}()
	for {
		_, err = other.Strategy.Deduct(ctx, measuredPurchase(sku, 2))
		took = time.Since(killed)
		if !errors.Is(err, seckill.ErrBusy) && !errors.Is(err, seckill.ErrConflict) || took > realWait {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("the next buyer is told: %w", err)
	}
	return took, nil
}
