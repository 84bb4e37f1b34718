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

// A run is one schedule on its way.
type run struct {
	world    *World
	scenario *Scenario
	schedule *Schedule
	actors   []*actor
	notes    chan func()   // what actors tell
	heard    int           // notes that were taken in
	over     chan struct{} // closed when the scheduler has gone
	programs sync.WaitGroup

	steps    atomic.Int64 // that were taken when the actors were last let go
	last     *thread      // whose turn it was
	paused   *actor       // whose lease has ended, until it goes on
	faults   int
	renewals int
	cut      *process // whose connections a fault has cut, perhaps
	open     []string // the ports of those before
	moves    []move
	peek     bool // look at the servers' values after each step
	byHand   bool // a person chooses: no time passes before they say so

	waits []probe.Wait // that the servers showed when this step had settled

	idleTries int
	forced    bool // a step came by itself since the last choice
}

// drop forgets the call, which is over.
func (c *call) drop() {
	if c.thread != nil {
		c.thread.drop(c)
	}
}

// left: a command or a wait is over.
func (r *run) left(c *call, err error) {
	c.drop()
	if c.command.Name == "CALL" {
		c.actor.inTransaction = false
	}
	if c.state == blocked {
		r.woke(c.actor)
	}
	if c.local() || c.state == passing {
		if c.command.Name == "wakes" {
			r.schedule.Steps[c.step].Result = ""
		}
		return
	}
	if c.helper != nil {
		c.thread.foreign = nil
		if others := r.othersHolding(c.actor); len(others) > 0 && err == nil && !c.loseReply {
			c.thread.foreign = &Problem{RuleKept,
				fmt.Sprintf("after step %d the renewer of %s goes on, though %s has the lock", c.step+1, c.actor.Name, others[0].Name)}
		}
	}
	step := &r.schedule.Steps[c.step]
	if r.peek && !c.loseReply {
		step.Reply = r.world.names.Reply(c.command)
	}
	switch {
	case err != nil && r.peek:
		step.Result = r.world.names.Plain(err.Error())
	case err != nil:
		step.Result = "error"
	case c.state != blocked:
		step.Result = ""
	}
}

// othersHolding are the buyers beside a who have the lock, and do not only believe so.
func (r *run) othersHolding(a *actor) (list []*actor) {
	for _, other := range r.actors {
		if other != a && other.lock == held && !other.expired {
			list = append(list, other)
		}
	}
	return list
}

// woke notes that the last step let a go on. A turn of their own does not.
func (r *run) woke(a *actor) {
	n := len(r.schedule.Steps)
	if n == 0 {
		return
	}
	step := &r.schedule.Steps[n-1]
	if step.Who == a.Name && step.Fault == "" {
		return
	}
	if !slices.Contains(step.Woke, a.Name) {
		step.Woke = append(step.Woke, a.Name)
	}
}

// take makes one choice. The servers have settled before.
func (r *run) take(ctx context.Context, o policy.Option, chosen bool) error {
	if o.Preempts {
		r.schedule.Preemptions++
	}
	step := Step{Choice: o.Choice, ByItself: !chosen}
	r.forced = r.forced || !chosen
	if o.Fault == TimePasses {
		return r.stuck(ctx)
	}
	a := r.actor(o.Who)
	if kind := faultKinds[o.Fault]; o.Fault != "" {
		if !slices.Contains(follow, o.Fault) {
			r.faults++
		}
		if a != nil {
			r.cut, r.open = a.process, a.process.ports()
		}
		if kind.strikes != nil {
			kind.strikes(r, r.aimed(o.Choice), step)
			return nil
		}
		err := kind.happens(ctx, r, a, &step)
		r.schedule.Steps = append(r.schedule.Steps, step)
		r.everythingMoved()
		return err
	}
	if c := r.aimed(o.Choice); c != nil {
		r.send(c, step)
		c.answer <- nil
		return nil
	}
	for _, t := range a.threads[1:] {
		if c := t.sleeper(); o.Renewer && c != nil {
			r.renewals++
			r.last = t
			step.Command = renewerMark + "its time has come"
			r.schedule.Steps = append(r.schedule.Steps, step)
			c.drop()
			c.answer <- nil
			return nil
		}
	}
	return fmt.Errorf("%w: %s cannot go", ErrDiverged, o.Choice)
}

// send notes that a call goes. Answering it lets it go.
func (r *run) send(c *call, step Step) {
	a := c.actor
	c.step, c.state = len(r.schedule.Steps), sent
	if r.peek {
		step.Backend, step.Command = c.command.Backend, c.text(r.world.names)
	}
	for _, pair := range c.command.Sets {
		a.wrote[pair.Key] = append(a.wrote[pair.Key], pair.Value)
	}
	step.Result = "waits"
	r.schedule.Steps = append(r.schedule.Steps, step)
	r.last = c.thread
	if r.paused == a {
		r.paused = nil
	}
	r.moved(a, c.command.Backend)
	switch c.command.Name {
	case "BEGIN", "CALL": // a procedure begins and ends a transaction by itself
		a.inTransaction, a.expired = true, a.expired && a.run.world.info.Locker != nil
	case "COMMIT", "ROLLBACK":
		a.inTransaction = false
	case "CLAIM", "GIVE UP":
		a.claims = c.command.Name == "CLAIM"
	}
	if a.commits && (c.command.Name == "COMMIT" || c.command.Name == "ROLLBACK") && a.lock == held {
		a.lock = releasing
		r.schedule.givesBack(a.Name, c.step)
	}
}
