package fault

import (
	"context"
	"fmt"
	"time"

	"seckill/internal/fault/point"
)

const (
	// releasing is how much longer than planned a purchase is held, for the
	// call that lets it go.
	releasing = 2 * time.Second
	longest   = time.Minute
	// lookAgain is how often a wait for a purchase checks whether
	// there is anything left to buy.
	lookAgain = 200 * time.Millisecond
)

// A catch is a purchase that stands at a point; its process is locked. Without
// a process none came, and seen says why.
type catch struct {
	p    Process
	id   string
	seen Effect
}

// catchOne waits until a purchase of any process stands at the point, or ctx
// ends, or there is nothing left to buy.
func catchOne(ctx context.Context, e Env, a Aim, at point.Name, hold time.Duration) (*catch, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan *catch)
	failed := make(chan error)
	n := 0
	for i, p := range e.Services() {
		if !p.Alive() || p.Paused() {
			continue
		}
		n++
		go func() {
			c, err := catchIn(waiting, p, i+1, a, point.Order{Point: at, Strategy: a.Strategy, SKU: a.SKU,
				For: int(min(hold, longest).Milliseconds())})
			if err != nil {
				failed <- err
				return
			}
			found <- c
		}()
	}
	if n == 0 {
		return nil, fmt.Errorf("no service process is alive and well")
	}
	var won, none *catch
	var err error
	for range n {
		select {
		case c := <-found:
			switch {
			case c.p == nil && (none == nil || c.seen.Why != NotReached):
				none = c
			case c.p == nil:
			case won == nil:
				won = c
			default: // two at once: one is enough
				_ = c.remove(ctx)
				c.p.Unlock()
			}
			stop()
		case failure := <-failed:
			err = failure
		}
	}
	switch {
	case won != nil:
		return won, nil
	case none != nil:
		return none, nil
	}
	return nil, err
}

// catchIn waits in one process.
func catchIn(ctx context.Context, p Process, number int, a Aim, o point.Order) (*catch, error) {
	client := p.Points()
	none := func(why Why, left *int64) *catch { return &catch{seen: Effect{Why: why, Left: left, At: o.Point}} }
	if said, err := client.State(ctx, a.Strategy, a.SKU); err == nil && said.Left != nil && *said.Left <= 0 {
		return none(NoUnits, said.Left), nil
	}
	trap, err := client.Arm(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("set a trap in %s: %w", p.Title(), err)
	}
	id := trap.ID
	remove := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), looking)
		defer cancel()
		_, err := client.Remove(ctx, id)
		return err
	}
	for {
		trap, err = client.Await(ctx, id, lookAgain)
		switch {
		case ctx.Err() != nil:
			left := leftOf(ctx, client, a)
			why := NotReached
			if left != nil && *left <= 0 {
				why = NoUnits
			}
			return none(why, left), remove()
		case err != nil:
			_ = remove()
			return nil, fmt.Errorf("wait for a purchase in %s: %w", p.Title(), err)
		case trap.State == point.NoPoint:
			return none(NoPoint, leftOf(ctx, client, a)), remove()
		case trap.State != point.Armed:
			p.Lock()
			seen := before(context.WithoutCancel(ctx), p, number, a)
			seen.Holder, seen.At = trap.Holder, o.Point
			return &catch{p, id, seen}, nil
		}
		if left := leftOf(ctx, client, a); left != nil && *left <= 0 {
			// A buyer that has just come may be taking the last unit.
			if trap, err = client.Await(ctx, id, 0); err == nil && trap.State == point.Armed {
				return none(NoUnits, left), remove()
			}
		}
	}
}

func leftOf(ctx context.Context, client *point.Client, a Aim) *int64 {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), looking)
	defer cancel()
	said, err := client.State(ctx, a.Strategy, a.SKU)
	if err != nil {
		return nil
	}
	return said.Left
}

// remove lets the purchase go on.
func (c *catch) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasing)
	defer cancel()
	_, err := c.p.Points().Remove(ctx, c.id)
	return err
}
