package lock

import (
	"context"
	"sync"
	"time"
)

// alarms is the process's timer for leases and time-outs.
var alarms alarmClock

// An alarmClock serves many alarms with one timer of the runtime. A timer that
// is due before all others makes the runtime wake a thread. Nearly all of ours
// are stopped long before they are due, and taking and freeing a lock in Redis
// costs no more than waking a thread.
//
// Stopping an alarm does not rearm the timer; it may fire spuriously.
type alarmClock struct {
	mu    sync.Mutex
	set   map[*alarm]struct{}
	timer *time.Timer
	rings time.Time // zero: the timer is not armed
}

// An alarm calls f, in a goroutine of its own, when it is due.
type alarm struct {
	clock *alarmClock
	f     func()
	due   time.Time
}

func (c *alarmClock) at(due time.Time, f func()) *alarm {
	a := &alarm{clock: c, f: f}
	a.reset(due)
	return a
}

// reset makes it due at another time, also when it has been due already.
func (a *alarm) reset(due time.Time) {
	c := a.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		c.set = map[*alarm]struct{}{}
	}
	a.due = due
	c.set[a] = struct{}{}
	c.ringBy(due)
}

// stop reports whether it has kept f from being called.
func (a *alarm) stop() bool {
	c := a.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	_, early := c.set[a]
	delete(c.set, a)
	return early
}

func (c *alarmClock) ringBy(due time.Time) {
	switch {
	case !c.rings.IsZero() && !due.Before(c.rings):
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(time.Until(due), c.ring)
	default:
		c.timer.Reset(time.Until(due))
	}
	c.rings = due
}

func (c *alarmClock) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.rings = time.Time{}
	for a := range c.set {
		if a.due.After(now) {
			c.ringBy(a.due)
			continue
		}
		delete(c.set, a)
		go a.f()
	}
}

// Within is context.WithTimeoutCause for one command, with a timer that costs
// nothing if the answer comes in time. The context has no
// deadline that could be read from it, and ends with context.Canceled; cause
// says why.
func Within(ctx context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	over := alarms.at(time.Now().Add(limit), func() { end(cause) })
	return ctx, func() {
		over.stop()
		end(context.Canceled)
	}
}
