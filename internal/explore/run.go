package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/fault"
	"seckill/internal/tap"
)

// A run is one schedule on its way.
type run struct {
	world    *World
	scenario *Scenario
	schedule *Schedule
	actors   []*actor
	events   chan event
	over     chan struct{} // closed when the scheduler has gone
	programs sync.WaitGroup

	mu     sync.Mutex
	calls  map[*tap.Command]*call // under way
	timers map[*tap.Command]chan time.Time

	last     *thread // whose turn it was
	paused   *actor  // whose lease has ended, until it goes on
	faults   int
	renewals int
	cut      *process // whose connections a fault has cut, perhaps
	open     []string // its connections before
	moves    []move
	peek     bool // look at the servers' values after each step

	idleTries int
}

func (r *run) track(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[c.command] = c
}

func (r *run) untrack(c *tap.Command) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.calls[c]
	delete(r.calls, c)
	return s
}

func (r *run) timerOf(c *tap.Command) chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	ring := r.timers[c]
	delete(r.timers, c)
	return ring
}

// heed takes in one event.
func (r *run) heed(e event) {
	a, c := e.actor, e.call
	switch e.kind {
	case evCalls, evSleeps:
		if a.life != alive {
			c.answer <- errDead
			return
		}
		a.threadOf(c.helper).add(c)
		if e.kind == evSleeps && c.helper == nil {
			a.attempt.failed, a.outcome.Waited = true, true
		}
	case evEnters:
		a.threadOf(c.helper).add(c)
	case evLeaves:
		r.left(c, e.err)
	case evWakes:
		c.drop()
	case evHolds:
		for _, other := range r.actors {
			if other != a && other.grip == holding {
				r.schedule.Overlaps = append(r.schedule.Overlaps, Overlap{Step: len(r.schedule.Steps) - 1,
					First: other.Name, Second: a.Name, Excused: other.expired})
			}
		}
		a.grip, a.expired, a.passed, a.commits = holding, false, true, e.tx
	case evFrees:
		a.grip = releasing
	case evFreed:
		a.grip = loose
	case evBegins:
		a.threads = append(a.threads, &thread{actor: a, helper: e.helper})
	case evKept:
		a.late = append(a.late, &late{call: c, deliver: e.deliver})
	case evOver:
		if e.helper != nil {
			a.threadOf(e.helper).over = true
			return
		}
		a.program().over, a.grip, a.outcome.Ended = true, loose, len(r.schedule.Steps)
	}
}

func (c *call) drop() {
	if c.thread != nil {
		c.thread.drop(c)
	}
}

// left: a command or a wait is over.
func (r *run) left(c *call, err error) {
	c.drop()
	if c.state == blocked {
		r.woke(c.actor)
	}
	if c.local() || c.state == passing {
		return
	}
	step := &r.schedule.Steps[c.step]
	switch {
	case err != nil && r.peek:
		step.Result = r.world.names.Plain(err.Error())
	case err != nil:
		step.Result = "error"
	case c.state != blocked:
		step.Result = ""
	}
}

func (r *run) woke(a *actor) {
	if n := len(r.schedule.Steps); n > 0 && (r.last == nil || r.last.actor != a) {
		step := &r.schedule.Steps[n-1]
		if !slices.Contains(step.Woke, a.Name) {
			step.Woke = append(step.Woke, a.Name)
		}
	}
}

// An option is a choice that could be made, and whether it takes the turn from
// a thread that could go on.
type option struct {
	Choice
	preempts bool
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

// options are all choices at this moment.
func (r *run) options() (list []option) {
	can := r.ready()
	preempts := func(t *thread) bool { return t != r.last && can[0] == r.last }
	for _, t := range can {
		list = append(list, option{t.choice(), preempts(t)})
	}
	for _, f := range follow {
		list = append(list, f.at(r, can)...)
	}
	if len(can) == 0 {
		return list
	}
	list = append(list, r.renewersToWake()...)
	if r.faults >= r.scenario.MaxFaults {
		return list
	}
	for _, f := range r.scenario.Faults {
		list = append(list, kinds[f].at(r, can)...)
	}
	return list
}

// renewersToWake are renewers whose time has come, if it may come.
func (r *run) renewersToWake() (list []option) {
	if r.renewals >= r.scenario.Renewals {
		return nil
	}
	for _, a := range r.actors {
		for _, t := range a.threads[1:] {
			if t.sleeper() != nil && a.life == alive {
				list = append(list, option{t.choice(), false})
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

// take makes one choice. The servers have settled before.
func (r *run) take(ctx context.Context, o option, chosen bool) error {
	if o.preempts {
		r.schedule.Preemptions++
	}
	step := Step{Choice: o.Choice, chosen: chosen, ByItself: !chosen}
	if o.Fault != "" {
		kind := kinds[o.Fault]
		if !kind.follows {
			r.faults++
		}
		return kind.happens(ctx, r, step)
	}
	a := r.actor(o.Who)
	for _, t := range a.threads {
		if t.helper != nil != o.Renewer {
			continue
		}
		if c := t.next(); c != nil {
			r.send(c, step)
			c.answer <- nil
			return nil
		}
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

// send notes that a call goes. Whoever answers it lets it go.
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
	case "BEGIN":
		a.inTransaction, a.expired = true, a.expired && a.run.world.info.Locker != nil
	case "COMMIT", "ROLLBACK":
		a.inTransaction = false
	}
	if a.commits && (c.command.Name == "COMMIT" || c.command.Name == "ROLLBACK") && a.grip == holding {
		a.grip = releasing
	}
}

// chooser picks one of the options; an error ends the schedule.
type chooser func(options []option, preemptions int) (int, error)

// play runs one schedule to its end.
func (w *World) play(ctx context.Context, s *Scenario, peek bool, choose chooser) (_ *Schedule, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("one schedule took a minute"))
	defer cancel()
	r := &run{world: w, scenario: s, schedule: &Schedule{Scenario: s}, peek: peek,
		events: make(chan event, 64), over: make(chan struct{}), calls: map[*tap.Command]*call{},
		timers: map[*tap.Command]chan time.Time{}}
	defer func() {
		close(r.over)
		for _, a := range r.actors {
			a.cancel(errDead)
			for _, l := range a.late { // or its connection stays open
				if derr := l.deliver(context.WithoutCancel(ctx)); derr != nil {
					a.process.tainted = true
				}
			}
		}
		r.programs.Wait()
		w.recycle()
	}()
	if err := w.fresh(ctx, s); err != nil {
		return nil, err
	}
	r.schedule.names = w.names
	for i, b := range s.Buyers {
		if err := r.enter(ctx, b); err != nil {
			return nil, err
		}
		if s.InLine {
			if err := r.intoLine(ctx, r.actors[i], choose); err != nil {
				return r.schedule, err
			}
		}
		if i == 0 && s.DiesFirst {
			if err := r.untilDeath(ctx, choose); err != nil {
				return r.schedule, err
			}
		}
		// One after the other: what it does without a command, it does now.
		if err := r.settle(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.through(ctx, choose); err != nil {
		return r.schedule, err
	}
	if slices.ContainsFunc(r.actors, func(a *actor) bool { return a.life != alive }) {
		r.schedule.Left = w.look(ctx)
	}
	if s.Next {
		next := Buyer{Name: NextBuyer, Process: nextProcess, Quantity: 1, Does: doings[s.Buyers[0].Does].next}
		if err := r.enter(ctx, next); err != nil {
			return r.schedule, err
		}
		if err := r.through(ctx, undisturbed); err != nil {
			return r.schedule, err
		}
	}
	for _, a := range r.actors {
		r.schedule.Buyers = append(r.schedule.Buyers, a.outcome)
	}
	return r.schedule, r.judge(ctx)
}

// NextBuyer is the name of the one who comes when all others are done.
const (
	NextBuyer   = "next"
	nextProcess = 1000
)

// enter starts a buyer; it stops before its first command.
func (r *run) enter(ctx context.Context, b Buyer) error {
	p, err := r.world.process(ctx, b.Process)
	if err != nil {
		return err
	}
	p.ahead.Store(int64(b.Ahead))
	a := &actor{Buyer: b, run: r, process: p, wrote: map[string][]string{}, outcome: Outcome{Buyer: b}}
	a.threads = []*thread{{actor: a}}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.actors = append(r.actors, a)
	r.begin(a)
	r.programs.Go(func() {
		doings[b.Does].perform(tap.With(a.ctx, a), r.world, p, &a.outcome)
		a.tell(event{kind: evOver})
	})
	return nil
}

// intoLine lets a buyer go on until it has the lock, or waits for it.
func (r *run) intoLine(ctx context.Context, a *actor, choose chooser) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if a.grip == holding || a.program().next() == nil {
			r.last = nil // whoever goes next takes no turn away
			return nil
		}
		only := []option{{Choice: Choice{Who: a.Name}}}
		if _, err := choose(only, r.schedule.Preemptions); err != nil {
			return err
		}
		if err := r.take(ctx, only[0], true); err != nil {
			return err
		}
	}
}

// untilDeath lets the only buyer go on until it dies, or is done. Then its
// connections, sessions and leases end.
func (r *run) untilDeath(ctx context.Context, choose chooser) error {
	a := r.actors[0]
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if a.life != alive || a.program().next() == nil {
			break
		}
		options := []option{{Choice: Choice{Who: a.Name}}, {Choice: Choice{Who: a.Name, Fault: fault.Dies}}}
		i, err := choose(options, r.schedule.Preemptions)
		if err != nil {
			return err
		}
		if err := r.take(ctx, options[i], true); err != nil {
			return err
		}
	}
	if a.life == alive {
		return nil
	}
	if r.world.keepsSessions() {
		if err := r.bury(ctx, a, false); err != nil {
			return err
		}
	}
	what, err := r.endLease(ctx)
	if what == "" {
		what = "clocks move on by a lease"
	}
	r.schedule.Steps = append(r.schedule.Steps, Step{Choice: Choice{Fault: fault.TimePasses}, Command: what})
	return err
}

// through goes on until every actor has finished.
func (r *run) through(ctx context.Context, choose chooser) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if r.peek && len(r.schedule.Steps) > 0 {
			last := &r.schedule.Steps[len(r.schedule.Steps)-1]
			last.Values = r.world.look(ctx)
		}
		if r.wake() {
			continue
		}
		options, chosen := r.options(), true
		if r.finished() {
			// Nothing is left but what comes by itself: delayed commands, and
			// renewers of locks that are free.
			options, chosen = r.leftovers(), false
			if len(options) == 0 {
				return nil
			}
		}
		if len(options) == 0 {
			if err := r.stuck(ctx); err != nil {
				return err
			}
			continue
		}
		i := 0
		if chosen {
			var err error
			if i, err = choose(options, r.schedule.Preemptions); err != nil {
				return err
			}
		}
		if err := r.take(ctx, options[i], chosen); err != nil {
			return err
		}
	}
}

// leftovers is what still happens when every program has ended.
func (r *run) leftovers() []option {
	list := arrives.at(r, nil)
	if r.scenario.Renewals > 0 {
		for _, t := range r.ready() {
			list = append(list, option{Choice: t.choice()})
		}
		list = append(list, r.renewersToWake()...)
	}
	return list
}

func (r *run) finished() bool {
	return !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.done() })
}
