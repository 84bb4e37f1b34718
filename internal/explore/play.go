package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/explore/policy"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// chooser picks one of the options; an error ends the schedule.
type chooser func(options []policy.Option, preemptions int) (int, error)

// play runs one schedule to its end.
func (w *World) play(ctx context.Context, s *Scenario, peek bool, choose chooser) (*Schedule, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("one schedule took a minute"))
	defer cancel()
	r := w.newRun(s, peek)
	defer r.end()
	if s.Denies != "" { // also what a schedule that was given up has left
		if err := w.probes.Allow(ctx, s.Denies); err != nil {
			return r.schedule, err
		}
	}
	if err := r.start(ctx, choose); err != nil {
		return r.schedule, err
	}
	if err := r.through(ctx, choose); err != nil {
		return r.schedule, err
	}
	if s.Next {
		next := Buyer{Name: NextBuyer, Process: nextProcess, Quantity: 1, Does: cmp.Or(actorKinds[s.Buyers[0].Does].next, Buys)}
		if slices.Contains(s.Faults, Panics) {
			next.Process = s.Buyers[0].Process // which lives on, with what a panic has left there
		}
		if s.Buyers[0].Does == Accepts { // the leases of the dead have ended by then
			if _, err := w.probes.Expire(ctx, w.sku, nil); err != nil {
				return r.schedule, err
			}
		}
		if err := r.enter(ctx, next); err != nil {
			return r.schedule, err
		}
		if err := r.through(ctx, (&policy.Replay{}).Choose); err != nil {
			return r.schedule, err
		}
	}
	return r.schedule, r.judge(ctx)
}

func (w *World) newRun(s *Scenario, peek bool) *run {
	return &run{world: w, scenario: s, schedule: &Schedule{Scenario: s}, peek: peek,
		notes: make(chan func(), 64), over: make(chan struct{})}
}

// start makes the sale ready, and has the actors come, one after the other: what each
// does without a command, it does now.
func (r *run) start(ctx context.Context, choose chooser) error {
	w, s := r.world, r.scenario
	if err := w.fresh(ctx, s); err != nil {
		return err
	}
	if slices.Contains(s.Faults, NodeLost) && w.options.Node != nil {
		if err := w.options.Node.Lag(ctx); err != nil {
			return err
		}
	}
	r.schedule.names = w.names
	for i, b := range s.Buyers {
		if err := r.enter(ctx, b); err != nil {
			return err
		}
		if s.InLine && i < len(s.Buyers)-s.Latecomers {
			if err := r.intoLine(ctx, r.actors[i], choose); err != nil {
				return err
			}
		}
		if i == 0 && s.DiesFirst {
			if err := r.untilDeath(ctx, choose); err != nil {
				return err
			}
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end has every actor give up, and leaves nothing of the schedule under way.
func (r *run) end() {
	close(r.over)
	r.deliverAll()
	r.programs.Wait()
	r.world.recycle()
}

// deliverAll ends what is under way: a late command that never came would keep its
// connection, and what is open there. They go side by side, as one may wait for what
// another ends.
func (r *run) deliverAll() {
	for _, a := range r.actors {
		a.cancel(errDead)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deliveryLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, a := range r.actors {
		for _, l := range a.late {
			a.process.tainted = true // it may not get through
			all.Go(func() { _ = l.deliver(ctx) })
		}
	}
	all.Wait()
}

// deliveryLimit is longer than a deadlock lasts that the server resolves.
const deliveryLimit = 5 * time.Second

// NextBuyer is the name of the buyer that comes when all others are done.
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
	a := &actor{Buyer: b, run: r, process: p, keeps: probe.Holder{Sets: map[string][]string{}, Session: p.session}, outcome: Outcome{Buyer: b}}
	a.threads = []*thread{{actor: a}}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.actors = append(r.actors, a)
	r.begin(a)
	r.programs.Go(func() {
		a.performs()
		a.tell(func() { a.program().over, a.lock, a.outcome.Ended = true, notHeld, len(r.schedule.Steps) })
	})
	return nil
}

// performs does what the actor does, and recovers from a panic that is a fault, as the
// service does.
func (a *actor) performs() {
	defer func() {
		switch p := recover(); {
		case p == errPanics:
			a.outcome.Err = fmt.Errorf("%w: %w", seckill.ErrUnknown, errPanics)
		case p != nil:
			panic(p)
		}
	}()
	actorKinds[a.Does].perform(tap.With(a.ctx, a), a.run.world, a.process, &a.outcome)
}

// alone lets one buyer go on, or a fault befall it, until it cannot, or need not.
func (r *run) alone(ctx context.Context, a *actor, choose chooser, until func() bool, faults ...Fault) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if until() || a.program().next() == nil {
			return nil
		}
		options := []policy.Option{{Choice: Choice{Who: a.Name}}}
		for _, f := range faults {
			options = append(options, policy.Option{Choice: Choice{Who: a.Name, Fault: f}})
		}
		if err := r.turn(ctx, options, choose); err != nil {
			return err
		}
	}
}

// turn makes the choice between some options.
func (r *run) turn(ctx context.Context, options []policy.Option, choose chooser) error {
	i, err := choose(options, r.schedule.Preemptions)
	if err != nil {
		return err
	}
	return r.take(ctx, options[i], true)
}

// intoLine lets a buyer go on until it has the lock, or waits for it.
func (r *run) intoLine(ctx context.Context, a *actor, choose chooser) error {
	err := r.alone(ctx, a, choose, func() bool { return a.lock == held })
	r.last = nil // to go next takes no turn away
	return err
}

// untilDeath lets the only buyer go on until it dies, or is done. Then its
// connections, sessions and leases end.
func (r *run) untilDeath(ctx context.Context, choose chooser) error {
	a := r.actors[0]
	err := r.alone(ctx, a, choose, func() bool { return a.life != alive }, Dies)
	if err != nil || a.life == alive {
		return err
	}
	if r.world.keepsSessions() {
		if err := r.giveUp(ctx, a); err != nil {
			return err
		}
	}
	what, err := r.endLease(ctx, r.leaseholder(), true)
	if what == "" {
		what = "clocks move on by a lease"
	}
	r.schedule.Steps = append(r.schedule.Steps, Step{Choice: Choice{Fault: TimePasses}, Command: what})
	return err
}

// through goes on until every actor has finished.
func (r *run) through(ctx context.Context, choose chooser) error {
	for {
		options, err := r.next(ctx)
		if err != nil || len(options) == 0 {
			return err
		}
		if err := r.turn(ctx, options, choose); err != nil {
			return err
		}
	}
}

// next goes on to the next moment at which there is a choice, and returns the options;
// none when every actor has finished.
func (r *run) next(ctx context.Context) ([]policy.Option, error) {
	for {
		if err := r.settle(ctx); err != nil {
			return nil, err
		}
		if r.peek && len(r.schedule.Steps) > 0 {
			last := &r.schedule.Steps[len(r.schedule.Steps)-1]
			last.Values = r.world.look(ctx)
		}
		if r.wake() {
			continue
		}
		if r.finished() {
			// Nothing is left but what comes by itself: delayed commands, and
			// renewers of locks that are free.
			left := r.leftovers()
			if len(left) == 0 {
				return nil, nil
			}
			if err := r.take(ctx, left[0], false); err != nil {
				return nil, err
			}
			continue
		}
		options := r.options()
		switch {
		case len(options) > 0:
			options[0].Forced, r.forced = r.forced, false
			return options, nil
		case r.wakesLate(ctx):
			r.forced = true
		case r.byHand:
			return []policy.Option{{Choice: Choice{Fault: TimePasses}}}, nil
		default:
			if err := r.stuck(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// leftovers is what still happens when every program has ended.
func (r *run) leftovers() []policy.Option {
	list := faultKinds[Arrives].at(r, nil)
	if r.scenario.Renewals > 0 {
		for _, t := range r.ready() {
			list = append(list, policy.Option{Choice: t.choice()})
		}
		list = append(list, r.renewersToWake()...)
	}
	return list
}

func (r *run) finished() bool {
	return !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.done() })
}
