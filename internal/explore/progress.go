package explore

import (
	"context"
	"slices"
	"time"

	"seckill/internal/tap"
)

// A move is a command of an actor, or a fault. After some moves, a buyer in a back-off may succeed (see mayUnblock).
type move struct {
	actor   *actor // nil if the move is a fault
	attempt *attempt
	backend string
	hadLock bool // the actor had the lock before this move or has it now
}

// mayUnblock reports whether a buyer that backs off may succeed after the move m.
func (m move) mayUnblock() bool {
	if m.actor == nil {
		return true // a fault may have changed anything, so any buyer may succeed now
	}
	if m.attempt.failed {
		return false // the attempt ended in a back-off, so it changed nothing for other buyers
	}
	if !m.actor.run.world.hasLock() {
		// If an attempt only repeats the failed attempt before, it wakes no other buyer. Otherwise two buyers that wait
		// for a third one would wake each other for ever.
		return !m.attempt.repeats() || m.actor.isDone()
	}
	if m.hadLock {
		return true
	}
	// A command of a buyer that only tries to get the lock wakes no other buyer. If it did, two such buyers would wake
	// each other for ever. But a buyer that has left without the lock has freed its place in the queue, so its commands
	// may let other buyers succeed.
	return m.actor.isDone() && !m.actor.hadLock
}

// An attempt consists of the commands that a buyer sends between two back-offs.
type attempt struct {
	firstMove int             // index in run.moves of the first move after the attempt began
	used      map[string]bool // the backends to which the attempt has sent commands
	failed    bool            // the attempt ended in a back-off
	sent      []string        // the names of the commands in this attempt
	before    []string        // the names of the commands in the attempt before this one
}

// repeats reports whether the commands of the attempt so far have the same names as the first ones of the attempt
// before. That attempt ended in a back-off, so it changed nothing for other buyers.
func (t *attempt) repeats() bool {
	return len(t.sent) <= len(t.before) && slices.Equal(t.sent, t.before[:len(t.sent)])
}

// startAttempt starts an actor's first attempt, or the next one after a back-off.
func (r *run) startAttempt(a *actor) {
	var before []string
	if a.attempt != nil {
		before = a.attempt.sent
	}
	a.attempt = &attempt{firstMove: len(r.moves), used: map[string]bool{}, before: before}
}

func (r *run) recordFault() { r.moves = append(r.moves, move{}) }

// wakeBackOffs ends the back-off of each actor that may succeed now, because a move since the start of its attempt may
// have changed something. Without such a move, the actor would fail again. If wakeBackOffs finds no such actor, it
// returns false.
func (r *run) wakeBackOffs() bool {
	return r.wakeIf(func(a *actor) bool {
		return slices.ContainsFunc(r.moves[a.attempt.firstMove:], func(m move) bool {
			return m.mayUnblock() && m.actor != a && (m.actor == nil || a.attempt.used[m.backend])
		})
	})
}

// wakeIf ends the back-offs of the actors for which condition returns true. If there are none, wakeIf returns false.
func (r *run) wakeIf(condition func(*actor) bool) bool {
	woken := false
	for _, a := range r.actors {
		if c := a.program().sleepingCall(); c != nil && condition(a) {
			r.startAttempt(a)
			c.remove()
			c.answer <- nil
			woken = true
		}
	}
	return woken
}

// fireTimers ends every wait that has a limit, in a process or in a server. It is called after a
// lease has ended: no limit is longer than a lease, so all limits have passed.
func (r *run) fireTimers(ctx context.Context) (any bool, err error) {
	for _, a := range r.actors {
		a.eachCall(func(c *call) {
			if c.isUnanswered() && c.command.FireTimer != nil && !c.timerFired {
				c.timerFired = true
				c.command.FireTimer <- time.Time{}
				any = true
			}
		})
	}
	var ports []string
	for _, p := range r.world.processes {
		ports = append(ports, p.In.Dialer.LocalPorts(tap.Redis)...)
	}
	woke, err := r.world.probes.Wake(ctx, ports)
	return any || woke, err
}

// maxIdleTries limits how often the scheduler ends all back-offs and limited waits although nothing
// has changed. After that, the waiting buyers give up.
const maxIdleTries = 3

const gaveUp = "gives up: nothing will ever wake them"

// awaitLateReport waits up to maxSilence for another report, because a command that seems to wait may only be late. On
// a busy machine, the SQL server may list a thread as waiting after it has granted the row, until the thread runs. A
// goroutine that passes on events from a client library may be late, too. The result is false if no report comes.
func (r *run) awaitLateReport(ctx context.Context) bool {
	waits, commands := r.unanswered()
	return slices.ContainsFunc(append(waits, commands...), func(c *call) bool {
		return !c.thread.isBackground && (!c.isWait() || !c.command.FromServer)
	}) && r.awaitReport(ctx, maxSilence) == nil
}

// passTime lets time pass when no actor can continue and not all have finished. It does the first of these that lets
// an actor continue:
//
//  1. The servers end the sessions of a dead process.
//  2. A lease runs out (endLease).
//  3. All limited waits and back-offs end, at most maxIdleTries times.
//  4. The actors that wait give up.
func (r *run) passTime(ctx context.Context) error {
	r.forced = true
	for _, a := range r.actors {
		if a.outcome.Dead && !a.sessionsEnded && r.world.keepsSessions() {
			return r.giveUp(ctx, a)
		}
	}
	unserved := slices.DeleteFunc(slices.Clone(r.actors), (*actor).isDone)
	what, err := r.endLease(ctx, r.lastLeaseholder(), true)
	if what == "" && err == nil && r.idleTries < maxIdleTries {
		r.idleTries++
		var fired bool
		fired, err = r.fireTimers(ctx)
		if r.wakeIf(func(*actor) bool { return true }) || fired {
			what = "clocks move on by a lease, and those who wait look again"
		}
	}
	if err != nil {
		return err
	}
	if what != "" {
		r.addStep(Step{Choice: Choice{Fault: TimePasses}, Command: what})
		for _, a := range unserved {
			a.outcome.WaitedFor++
		}
		if r.settle(ctx) == nil && (r.wakeBackOffs() || len(r.runnable()) > 0 || r.allDone()) {
			return nil
		}
	}
	r.giveUpBuyers(unserved)
	return r.settle(ctx)
}

func (r *run) giveUpBuyers(list []*actor) {
	for _, a := range list {
		if a.outcome.Dead || a.outcome.GaveUp {
			continue
		}
		a.outcome.GaveUp = true
		a.process.tainted = true
		r.addStep(Step{Choice: Choice{Who: a.Name}, Result: gaveUp})
		a.cancel(timeIsUp{})
	}
}

// timeIsUp is context.DeadlineExceeded with a message that a schedule can show.
type timeIsUp struct{}

func (timeIsUp) Error() string { return "the buyer's time is up" }
func (timeIsUp) Unwrap() error { return context.DeadlineExceeded }
