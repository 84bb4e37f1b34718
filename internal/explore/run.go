package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"seckill/internal/explore/policy"
	"seckill/internal/probe"
)

// A run is a schedule that is in progress. Only the scheduler's goroutine uses its fields, except
// those of inbox and the counter steps.
type run struct {
	world    *World
	scenario *Scenario
	schedule *Schedule
	actors   []*actor
	inbox
	turnState
	counters

	// steps is a copy of len(schedule.Steps), taken whenever settle begins. The actors' goroutines read this copy,
	// because only the scheduler may read schedule.Steps.
	steps  atomic.Int64
	moves  []move
	peek   bool // the servers' values are recorded after each step
	byHand bool // a person chooses the steps, and time passes only if the person chooses TimePasses
	// serverWaits are the commands that the servers listed as waiting after the last step.
	serverWaits []probe.Wait
}

// An inbox carries reports from the actors' goroutines to the scheduler. A report is a function that the
// scheduler runs.
type inbox struct {
	reports  chan func()
	handled  int            // the number of reports that were run
	stopped  chan struct{}  // closed when the scheduler runs no more reports
	programs sync.WaitGroup // counts the actors' goroutines that are still running
}

type turnState struct {
	lastThread  *thread  // the thread of the last step
	paused      *actor   // the actor that a fault has paused; nil after the actor's next command
	cutProcess  *process // the process whose connections the last fault may have closed
	portsBefore []string // the local ports of cutProcess's SQL connections before the fault
	forced      bool     // since the last choice, a step happened that nobody chose
}

type counters struct {
	faultCount   int // the number of faults so far; at most Scenario.MaxFaults
	renewalCount int // how often a renewer was woken; at most Scenario.Renewals
	idleTries    int // how often all limited waits were ended without a change; at most maxIdleTries
}

func (r *run) callReturned(c *call, err error) {
	c.remove()
	if c.command.Name == "CALL" {
		c.thread.inTransaction = false
	}
	if c.state == blocked {
		r.noteWoken(c.thread.actor)
	}
	if c.isWait() || c.state == passing {
		return
	}
	if c.thread.isBackground {
		c.thread.overlap = nil
		if others := r.othersHolding(c.thread.actor); len(others) > 0 && err == nil && !c.loseReply {
			c.thread.overlap = &Problem{RuleKept,
				fmt.Sprintf("after step %d the renewer of %s goes on, though %s has the lock",
					c.step+1, c.thread.Name, others[0].Name)}
		}
	}
	step := &r.schedule.Steps[c.step]
	if r.peek && !c.loseReply {
		step.Reply = r.world.names.NormalizeReply(c.command)
	}
	switch {
	case err != nil && r.peek:
		step.Result = r.world.names.Normalize(err.Error())
	case err != nil:
		step.Result = "error"
	case c.state != blocked:
		step.Result = ""
	}
}

// othersHolding returns the actors other than a that have the lock and whose lease has not ended.
func (r *run) othersHolding(a *actor) []*actor {
	var list []*actor
	for _, other := range r.actors {
		if other != a && other.lock == held && !other.expired {
			list = append(list, other)
		}
	}
	return list
}

// noteWoken records that the last step let an actor continue, unless the actor itself made this step.
func (r *run) noteWoken(a *actor) {
	if n := len(r.schedule.Steps); n > 0 {
		step := &r.schedule.Steps[n-1]
		own := step.Who == a.Name && step.Fault == ""
		if !own && !slices.Contains(step.Woke, a.Name) {
			step.Woke = append(step.Woke, a.Name)
		}
	}
}

// apply performs one choice. Before the call, settle must have returned.
func (r *run) apply(ctx context.Context, o policy.Option, chosen bool) error {
	if o.Preempts {
		r.schedule.Preemptions++
	}
	r.forced = r.forced || !chosen
	step := Step{Choice: o.Choice, ByItself: !chosen}
	switch o.Fault {
	case TimePasses:
		return r.passTime(ctx)
	case "":
		r.takeTurn(step)
		return nil
	}
	return r.applyFault(ctx, step)
}

// takeTurn sends the next command of the step's buyer, or wakes the buyer's renewer.
func (r *run) takeTurn(step Step) {
	c := r.targetCall(step.Choice)
	if c.state == asleep {
		r.renewalCount++
		r.lastThread = c.thread
		step.Command = timeHasCome
		r.addStep(step)
		c.remove()
	} else {
		r.send(c, step)
	}
	c.answer <- nil
}

func (r *run) applyFault(ctx context.Context, step Step) error {
	kind, a := faultKinds[step.Fault], r.actor(step.Who)
	if !slices.Contains(followUps, step.Fault) {
		r.faultCount++
	}
	if a != nil {
		r.cutProcess, r.portsBefore = a.process, a.process.sqlPorts()
	}
	if kind.applyToCall != nil {
		c := r.targetCall(step.Choice)
		r.send(c, step)
		c.answer <- kind.applyToCall(r, c)
		return nil
	}
	err := kind.apply(ctx, r, a, &step)
	r.addStep(step)
	r.recordFault()
	return err
}

func (r *run) addStep(step Step) int {
	r.schedule.Steps = append(r.schedule.Steps, step)
	return len(r.schedule.Steps) - 1
}

// send records that the command of c is sent. The caller must then send a value to c.answer: nil lets the command
// proceed, an error goes to the sender instead of a result.
func (r *run) send(c *call, step Step) {
	a := c.thread.actor
	if r.peek {
		step.Backend, step.Command = c.command.Backend, c.text(r.world.names)
	}
	for _, pair := range c.command.Sets {
		a.holder.Sets[pair.Key] = append(a.holder.Sets[pair.Key], pair.Value)
	}
	step.Result = "waits"
	c.step, c.state = r.addStep(step), sent
	r.lastThread = c.thread
	if r.paused == a {
		r.paused = nil
	}
	a.attempt.used[c.command.Backend] = true
	a.attempt.sent = append(a.attempt.sent, c.command.Name)
	r.moves = append(r.moves, move{a, a.attempt, c.command.Backend, a.hadLock})
	switch c.command.Name {
	case "BEGIN", "CALL": // CALL runs a stored procedure, which begins a transaction itself
		a.inTransaction, a.expired = true, a.expired && r.world.hasLock()
	case "COMMIT", "ROLLBACK":
		a.inTransaction = false
		if a.endsWithTx && a.lock == held {
			a.lock = releasing
			r.schedule.endHold(a.Name, c.step)
		}
	}
}

// runnable returns the threads that can send a command now. The thread of the last step comes first.
func (r *run) runnable() []*thread {
	var list []*thread
	for _, a := range r.actors {
		if a.outcome.Dead {
			continue
		}
		for _, t := range a.threads {
			if t.nextCall() != nil && (!t.isBackground || r.scenario.Renewals > 0 || !a.isDone()) {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *thread) int { return r.rank(a) - r.rank(b) })
	return list
}

// rank returns the place of t among the runnable threads. The thread of the last step comes first,
// and threads of a paused actor come last.
func (r *run) rank(t *thread) int {
	switch {
	case t == r.lastThread:
		return 0
	case t.actor == r.paused:
		return 2
	}
	return 1
}

func (t *thread) choice() Choice { return Choice{Who: t.Name, Renewer: t.isBackground} }

// preempts reports whether a step of t is a preemption: t is not the thread of the last step, and that thread could
// continue.
func (r *run) preempts(t *thread) bool {
	return t != r.lastThread && r.runnable()[0] == r.lastThread
}

func (r *run) options() []policy.Option {
	var list []policy.Option
	runnable := r.runnable()
	for _, t := range runnable {
		list = append(list, policy.Option{Choice: t.choice(), Preempts: r.preempts(t),
			Touches: r.touches(t), Process: t.actor.Process})
	}
	for _, f := range followUps {
		list = append(list, faultKinds[f].options(r)...)
	}
	if len(runnable) == 0 {
		return list
	}
	list = append(list, r.renewersToWake()...)
	if r.faultCount >= r.scenario.MaxFaults {
		return list
	}
	for _, f := range r.scenario.Faults {
		at := faultKinds[f].options(r)
		if f == NodeLost && at != nil { // the node is lost as soon as possible, so this is the only choice
			return at
		}
		list = append(list, at...)
	}
	return list
}

// renewersToWake returns choices that let a sleeping renewer continue. It returns at most one for each actor.
func (r *run) renewersToWake() []policy.Option {
	var list []policy.Option
	if r.renewalCount >= r.scenario.Renewals {
		return nil
	}
	for _, a := range r.actors {
		for _, t := range a.threads[1:] {
			if t.sleepingCall() != nil && !a.outcome.Dead {
				list = append(list, policy.Option{Choice: t.choice()})
				break
			}
		}
	}
	return list
}

func (r *run) actor(name string) *actor {
	for _, a := range r.actors {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// touches returns the backend that the next command of t may read or change; "" stands for any backend. It also returns
// "" if a buyer that backs off has used the backend. Every command to the backend wakes this buyer, so the order of
// these commands matters.
func (r *run) touches(t *thread) string {
	c := t.nextCall().command
	for _, a := range r.actors {
		if a.program().sleepingCall() != nil && a.attempt.used[c.Backend] {
			return ""
		}
	}
	switch {
	case c.Name == "BEGIN": // BEGIN alone reads and changes nothing, so it conflicts with nothing
		return "nothing of " + t.choice().String()
	case c.Backend == Work:
		return ""
	}
	return c.Backend
}
