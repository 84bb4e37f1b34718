package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"seckill/internal/explore/policy"
	"seckill/internal/probe"
	"seckill/internal/tap"
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
	went     string       // what was let go last
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
	if n := len(r.schedule.Steps); n > 0 {
		step := &r.schedule.Steps[n-1]
		own := step.Who == a.Name && step.Fault == ""
		if !own && !slices.Contains(step.Woke, a.Name) {
			step.Woke = append(step.Woke, a.Name)
		}
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
	r.went = o.Choice.String()
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
	c := r.aimed(o.Choice)
	if c.state == asleep {
		r.renewals++
		r.last = c.thread
		step.Command = timeHasCome
		r.schedule.Steps = append(r.schedule.Steps, step)
		c.drop()
	} else {
		r.send(c, step)
	}
	c.answer <- nil
	return nil
}

// send notes that a call goes. Answering it lets it go.
func (r *run) send(c *call, step Step) {
	a := c.actor
	c.step, c.state = len(r.schedule.Steps), sent
	r.went += " " + c.command.Text
	if r.peek {
		step.Backend, step.Command = c.command.Backend, c.text(r.world.names)
	}
	for _, pair := range c.command.Sets {
		a.keeps.Sets[pair.Key] = append(a.keeps.Sets[pair.Key], pair.Value)
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
		if a.commits && a.lock == held {
			a.lock = releasing
			r.schedule.givesBack(a.Name, c.step)
		}
	}
}

// ready are the threads whose turn it could be. The one that went last goes on,
// unless it cannot.
func (r *run) ready() (list []*thread) {
	for _, a := range r.actors {
		if a.life != alive {
			continue
		}
		for _, t := range a.threads {
			if t.next() != nil && (t.helper == nil || r.scenario.Renewals > 0 || !a.done()) {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *thread) int { return r.rank(a) - r.rank(b) })
	return list
}

// rank: the thread that went last goes on, one that was paused comes last.
func (r *run) rank(t *thread) int {
	switch {
	case t == r.last:
		return 0
	case t.actor == r.paused:
		return 2
	}
	return 1
}

func (t *thread) choice() Choice { return Choice{Who: t.actor.Name, Renewer: t.helper != nil} }

// preempts: of the threads that can go, its turn is taken from the one that went last.
func (r *run) preempts(t *thread, can []*thread) bool { return t != r.last && can[0] == r.last }

// options are all choices at this moment.
func (r *run) options() (list []policy.Option) {
	can := r.ready()
	for _, t := range can {
		list = append(list, policy.Option{Choice: t.choice(), Preempts: r.preempts(t, can), Touches: r.touches(t), Process: t.actor.Process})
	}
	for _, f := range follow {
		list = append(list, faultKinds[f].at(r, can)...)
	}
	if len(can) == 0 {
		return list
	}
	list = append(list, r.renewersToWake()...)
	if r.faults >= r.scenario.MaxFaults {
		return list
	}
	for _, f := range r.scenario.Faults {
		at := faultKinds[f].at(r, can)
		if f == NodeLost && at != nil { // as soon as it can be: that is no choice
			return at
		}
		list = append(list, at...)
	}
	return list
}

// renewersToWake are renewers whose time has come, if it may come.
func (r *run) renewersToWake() (list []policy.Option) {
	if r.renewals >= r.scenario.Renewals {
		return nil
	}
	for _, a := range r.actors {
		for _, t := range a.threads[1:] {
			if t.sleeper() != nil && a.life == alive {
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

// touches is what a thread's next command may change or see: its backend. A buyer
// who backs off is woken by what others do at its backends: then their order is seen.
func (r *run) touches(t *thread) string {
	c := t.next().command
	for _, a := range r.actors {
		if a.program().sleeper() != nil && a.attempt.used[c.Backend] {
			return ""
		}
	}
	switch c.Backend {
	case tap.SQL:
		if c.Name == "BEGIN" { // a transaction sees nothing before its first read
			return "nothing of " + t.choice().String()
		}
		return tap.SQL
	case tap.Redis, tap.ZooKeeper, tap.Etcd:
		return c.Backend
	}
	return ""
}
