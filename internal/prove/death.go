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

// timeAfterDeath kills a buyer's process before each of its commands in real
// time, and measures how long it takes from there until the next buyer is
// through.
func (b *bench) timeAfterDeath(ctx context.Context, c Cell) (Cell, error) {
	if c.Answer != Holds {
		return c, nil
	}
	other, sku, err := b.opened(ctx)
	if err != nil {
		return c, err
	}
	defer other.In.Close()
	commands, err := other.plan(ctx, sku)
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
			if waits[n], err = b.dieBefore(ctx, other, n); err != nil {
				return fmt.Errorf("a buyer's process dies before %s: %w", command.Text, err)
			}
			return nil
		})
	}
	if err := deaths.Wait(); err != nil {
		return c, err
	}
	c.Wait = slices.Max(waits).Seconds()
	if c.Wait < soon.Seconds() {
		c.Wait, c.Text = 0, "the next gets through at once"
		return c, nil
	}
	c.Wait = within(c.Wait)
	c.Text = fmt.Sprintf("the next gets through within %g s (leases of %v, sessions of %v)", c.Wait, realLease, realSession)
	return c, nil
}

// within is the least of a few round times, in seconds, that n is clearly below:
// what a server needs to notice a death varies from run to run.
func within(n float64) float64 {
	for _, round := range []float64{1, 2, 3, 5, 10, 20} {
		if n <= 1.15*round {
			return round
		}
	}
	return 40
}

// soon is at once: no lease and no session was waited for.
const soon = realLease / 4

// dieBefore kills a process whose buyer stands before command n, and has the
// next buyer come at that moment. What the dead buyer's calls do is of no
// account: they cannot reach any server, and take their time to fail.
func (b *bench) dieBefore(ctx context.Context, other *party, n int) (took time.Duration, err error) {
	sku, err := other.sale(ctx, 10)
	if err != nil {
		return 0, err
	}
	victim, err := b.party(ctx)
	if err != nil {
		return 0, err
	}
	defer victim.In.Close()
	// As the other's: with its sessions open, or command n would be another.
	if _, err := victim.Strategy.Deduct(ctx, buy(sku, 8)); err != nil {
		return 0, fmt.Errorf("a purchase before the death: %w", err)
	}
	last := victim.stopped(sku, 1, func(at int, _ *tap.Command) bool { return at == n })
	if err := last.buy(tap.With(ctx, last.Gate)); err != nil {
		return 0, err
	}
	killed := time.Now()
	victim.In.Kill()
	last.Open()
	defer func() {
		select {
		case <-last.over:
		case <-time.After(realWait):
			err = errors.Join(err, errors.New("the dead buyer's purchase does not end"))
		}
	}()
	for {
		_, err = other.Strategy.Deduct(ctx, buy(sku, 2))
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
