package explore

import (
	"context"
	"slices"
	"time"
)

// A move is a turn that may have changed something for buyers that back off.
type move struct {
	who     *actor // nil: a fault
	by      *attempt
	backend string
	holding bool // it had the lock already
}

// counts: it may have changed something for other buyers. What a buyer did to
// get the lock has not, unless it left without it: they would wake each other
// for ever.
func (m move) counts() bool {
	return m.who == nil || !m.by.failed && (m.who.run.world.info.Locker == nil || m.holding || m.who.done() && !m.who.passed)
}

// An attempt is what a buyer does between two back-offs.
type attempt struct {
	began  int // index in moves
	used   map[string]bool
	failed bool // it ended in a back-off, so it changed nothing for others
}

func (r *run) begin(a *actor) { a.attempt = &attempt{began: len(r.moves), used: map[string]bool{}} }

func (r *run) moved(a *actor, backend string) {
	a.attempt.used[backend] = true
	r.moves = append(r.moves, move{a, a.attempt, backend, a.passed})
}

// everythingMoved: a fault may have changed anything.
func (r *run) everythingMoved() { r.moves = append(r.moves, move{}) }

// wake lets actors that back off try again, if another may have changed something
// for them since their attempt began: otherwise a poll fails as the last one did.
func (r *run) wake() bool {
	return r.wakeThose(func(a *actor) bool {
		return slices.ContainsFunc(r.moves[a.attempt.began:], func(m move) bool {
			return m.counts() && m.who != a && (m.who == nil || a.attempt.used[m.backend])
		})
	})
}

// wakeThose lets back-offs end.
func (r *run) wakeThose(which func(*actor) bool) (any bool) {
	for _, a := range r.actors {
		if c := a.program().sleeper(); c != nil && which(a) {
			r.begin(a)
			c.drop()
			c.answer <- nil
			any = true
		}
	}
	return any
}

// ringTimers ends every wait that has a limit, here or in a server: a lease has
// ended, and those who wait no longer than that look again.
func (r *run) ringTimers(ctx context.Context) (any bool, err error) {
	for _, a := range r.actors {
		a.each(func(c *call) {
			if c.inside() && c.command.Ring != nil && !c.rung {
				c.rung = true
				c.command.Ring <- time.Time{}
				any = true
			}
		})
	}
	woke, err := r.world.probes.Wake(ctx, r.world.redisPorts())
	return any || woke, err
}

// When no actor can go and no lease is left to end, those who wait look again so
// often before they give up.
const maxIdleTries = 3

const gaveUp = "gives up: nothing will ever wake them"

// wakesLate reports whether a thread that seemed to wait goes on after all. A
// thread of the SQL server that was given its row counts as waiting until it runs,
// which takes a while on a busy machine. So does a goroutine that brings news from
// a library.
func (r *run) wakesLate(ctx context.Context) bool {
	waits, away := r.inside()
	return slices.ContainsFunc(append(waits, away...), func(c *call) bool {
		return c.helper == nil && (!c.local() || !c.command.Asks)
	}) && r.await(ctx, lateness) == nil
}

// stuck is called when no actor can go and not all have finished: time
// passes. First a lease that is still there ends, but no session or connection of a
// process that lives; when none is left, those who wait give up.
func (r *run) stuck(ctx context.Context) error {
	r.forced = true
	var unserved []*actor
	for _, a := range r.actors {
		if !a.done() {
			unserved = append(unserved, a)
		}
	}
	for _, a := range r.actors {
		if a.life == dead && r.world.keepsSessions() {
			return r.giveUp(ctx, a)
		}
	}
	what, err := r.endLease(ctx, r.leaseholder(), false)
	if err != nil {
		return err
	}
	if what == "" && r.idleTries < maxIdleTries {
		r.idleTries++
		rang, err := r.ringTimers(ctx)
		if err != nil {
			return err
		}
		if r.wakeThose(func(*actor) bool { return true }) || rang {
			what = "clocks move on by a lease, and those who wait look again"
		}
	}
	if what != "" {
		r.schedule.Steps = append(r.schedule.Steps, Step{Choice: Choice{Fault: TimePasses}, Command: what})
		for _, a := range unserved {
			a.outcome.WaitedFor++
		}
		if r.settle(ctx) == nil && (r.wake() || len(r.ready()) > 0 || r.finished()) { // it let an actor go on
			return nil
		}
	}
	for _, a := range unserved {
		if a.life != alive || a.outcome.GaveUp {
			continue
		}
		a.outcome.GaveUp = true
		a.process.tainted = true
		r.schedule.Steps = append(r.schedule.Steps, Step{Choice: Choice{Who: a.Name}, Result: gaveUp})
		a.cancel(timeIsUp{})
	}
	return r.settle(ctx)
}

// timeIsUp is a deadline that has passed, in the words of the schedule's reader.
type timeIsUp struct{}

func (timeIsUp) Error() string { return "the buyer's time is up" }
func (timeIsUp) Unwrap() error { return context.DeadlineExceeded }
