package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/internal/fault/point"
)

const (
	// PauseHolder: the whole process that holds the lock stands still.
	PauseHolder Name = "pause_holder"
	// HangHolder: the purchase that holds the lock stands still; its process
	// goes on, and renews leases and sessions.
	HangHolder Name = "hang_holder"
	// KillHolder: the process that holds the lock is gone.
	KillHolder Name = "kill_holder"
	// CutHolder: the process that holds the lock loses its connections to all
	// backends, or its session with ZooKeeper if the lock lives there, and the
	// purchase goes on a while later.
	CutHolder Name = "cut_holder"
)

var (
	pauseHolder = Fault{Name: PauseHolder, Question: leaseEnd, Holder: true, Lasts: true, missing: noPoints,
		Describe: "the process that holds the lock stands still before it commits",
		inject:   atHolder(point.BeforeCommit, (*catch).pause)}
	hangHolder = Fault{Name: HangHolder, Question: leaseEnd, Holder: true, Lasts: true, missing: noPoints,
		Describe: "the purchase that holds the lock stands still before it commits, while its process goes on",
		inject:   atHolder(point.BeforeCommit, (*catch).hang)}
	killHolder = Fault{Name: KillHolder, Question: deadHolder, Holder: true, missing: noPoints,
		Describe: "the process that holds the lock is killed between its read and its write",
		inject:   atHolder(point.BeforeWrite, (*catch).kill)}
	cutHolder = Fault{Name: CutHolder, Question: leaseEnd, Holder: true, Lasts: true, missing: noPoints,
		Describe: "the process that holds the lock loses its connections, or its ZooKeeper session if the lock is there",
		inject:   atHolder(point.BeforeCommit, (*catch).cut)}
)

func noPoints(e Env) *Lack {
	if why := e.NoPoints(); why != nil {
		return why
	}
	for _, p := range e.Services() {
		if p.Points() == nil {
			return NewLack(LackPoints, map[string]any{"process": p.Title()}, "%s was started without --fault-points", p.Title())
		}
	}
	return nil
}

// leastHold is how long a purchase is held at least: until its process has
// been stopped.
const leastHold = 500 * time.Millisecond

// atHolder catches a purchase and does harm to its process.
func atHolder(at point.Name, harm func(*catch, context.Context, Env, Aim) (*Injection, error)) func(context.Context, Env, Aim) (*Injection, error) {
	return func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		hold := longest
		if a.For > 0 {
			hold = max(a.For, leastHold)
		}
		c, err := catchOne(ctx, e, a, at, hold)
		if err != nil {
			return nil, err
		}
		if c.p == nil {
			return &Injection{Effect: c.seen}, nil
		}
		defer c.p.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), harming)
		defer cancel()
		i, err := harm(c, ctx, e, a)
		if err != nil {
			_ = c.remove(ctx)
			return nil, err
		}
		return i, nil
	}
}

// harming bounds what is done once a purchase is caught.
const harming = 20 * time.Second

// pause: the trap is over when the pause is. So when the process goes on, the
// purchase does, too, before a warning can reach it.
func (c *catch) pause(ctx context.Context, _ Env, _ Aim) (*Injection, error) {
	if c.p.Paused() {
		return nil, fmt.Errorf("%s is paused already", c.p.Title())
	}
	i, err := pause(ctx, c.p, c.seen)
	if err != nil {
		return nil, err
	}
	resume := i.undo
	i.undo = func(ctx context.Context, e *Effect) error {
		return errors.Join(resume(ctx, e), c.remove(ctx))
	}
	return i, nil
}

func (c *catch) hang(context.Context, Env, Aim) (*Injection, error) {
	begun := time.Now()
	c.seen.Took = true
	c.seen.weigh()
	return &Injection{c.seen, func(ctx context.Context, e *Effect) error {
		e.Stood = int(time.Since(begun).Milliseconds())
		if err := c.remove(ctx); err != nil && !c.p.Alive() {
			e.Took, e.Matters, e.Why = false, false, WentOn
		}
		return nil
	}}, nil
}

func (c *catch) kill(ctx context.Context, _ Env, _ Aim) (*Injection, error) {
	return kill(ctx, c.p, c.seen)
}

// cut leaves the purchase where it stands for a while: its successor is to
// come first.
func (c *catch) cut(ctx context.Context, e Env, a Aim) (*Injection, error) {
	said, err := c.p.Points().State(ctx, a.Strategy, a.SKU)
	if err != nil {
		return nil, err
	}
	if said.ZooKeeper {
		if err = endSession(ctx, e, c.p, said.Session); err != nil {
			return nil, err
		}
		return c.hang(ctx, e, a)
	}
	closed, err := c.p.Points().Cut(ctx)
	if err == nil && closed == 0 {
		err = fmt.Errorf("%s had no connection to cut", c.p.Title())
	}
	if err != nil {
		return nil, err
	}
	return c.hang(ctx, e, a)
}
