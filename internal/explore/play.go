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

// A chooser chooses one of options and returns its index. An error ends the schedule.
type chooser func(options []policy.Option) (int, error)

// play runs one schedule of s to its end. If peek is true, it records the servers' values after each step.
func (w *World) play(ctx context.Context, s *Scenario, peek bool, choose chooser) (*Schedule, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("one schedule took a minute"))
	defer cancel()
	r := w.newRun(s, peek)
	defer r.stop()
	if s.Denies != "" { // an earlier schedule may have left the command forbidden
		if err := w.probes.SetRight(ctx, "+"+s.Denies); err != nil {
			return r.schedule, err
		}
	}
	if err := r.start(ctx, choose); err != nil {
		return r.schedule, err
	}
	if err := r.runToEnd(ctx, choose); err != nil {
		return r.schedule, err
	}
	if s.Next {
		var err error
		next := Buyer{Name: NextBuyer, Process: nextProcess, Quantity: 1,
			Action: cmp.Or(actorKinds[s.Buyers[0].Action].nextAction, Buys)}
		if slices.Contains(s.Faults, Panics) {
			// The process survives the panic. The last buyer joins it, and finds what the panic left in its memory.
			next.Process = s.Buyers[0].Process
		}
		if next.User, err = w.returningUser(ctx, r.schedule); err != nil {
			return r.schedule, err
		}
		if s.Buyers[0].Action == Accepts {
			// Only after the lease of a dead process has ended can the last buyer write the orders that this process
			// has accepted.
			if _, err := w.probes.Expire(ctx, w.sku, nil); err != nil {
				return r.schedule, err
			}
		}
		if err := r.addActor(ctx, next); err != nil {
			return r.schedule, err
		}
		if err := r.runToEnd(ctx, policy.Replay(nil)); err != nil {
			return r.schedule, err
		}
	}
	return r.schedule, r.judgeSchedule(ctx)
}

func (w *World) newRun(s *Scenario, peek bool) *run {
	return &run{world: w, scenario: s, schedule: &Schedule{Scenario: s}, peek: peek,
		inbox: inbox{reports: make(chan func(), 64), stopped: make(chan struct{})}}
}

// start prepares the sale and adds the actors one by one. Each actor runs up to its first command.
func (r *run) start(ctx context.Context, choose chooser) error {
	w, s := r.world, r.scenario
	if err := w.prepareSale(ctx, s); err != nil {
		return err
	}
	if slices.Contains(s.Faults, NodeLost) && w.options.Node != nil {
		if err := w.options.Node.Lag(ctx); err != nil {
			return err
		}
	}
	r.schedule.names = w.names
	for i, b := range s.Buyers {
		if err := r.addActor(ctx, b); err != nil {
			return err
		}
		if a := r.actors[i]; s.InLine && i < len(s.Buyers)-s.Latecomers {
			// The buyer sends commands until it has the lock or waits for the lock.
			if err := r.runAlone(ctx, a, choose, func() bool { return a.lock == held }); err != nil {
				return err
			}
			r.lastThread = nil // the next actor's first step must not count as a preemption
		}
		if i == 0 && s.DiesFirst {
			if err := r.runUntilDeath(ctx, choose); err != nil {
				return err
			}
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends every actor, delivers the delayed commands, and closes the processes that are not used again. If a command
// were not delivered, its connection and transaction would stay open. stop delivers all commands at the same time,
// because one command may wait for another.
func (r *run) stop() {
	close(r.stopped)
	for _, a := range r.actors {
		a.cancel(errDead)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deliveryLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, a := range r.actors {
		for _, l := range a.delayed {
			a.process.tainted = true // The delivery may fail, so no later schedule may use the process.
			all.Go(func() { _ = l.deliver(ctx) })
		}
	}
	all.Wait()
	r.programs.Wait()
	r.world.closeTainted()
}

// deliveryLimit is the maximum time in which stop delivers delayed commands. Servers resolve even a deadlock sooner.
const deliveryLimit = 5 * time.Second

const (
	// NextBuyer is the name of the buyer that starts when all other buyers are done.
	NextBuyer = "next"
	// nextProcess is the Buyer.Process of NextBuyer. No other buyer has this number, so NextBuyer shares no process.
	nextProcess = 1000
)

func (r *run) addActor(ctx context.Context, b Buyer) error {
	p, err := r.world.process(ctx, b.Process)
	if err != nil {
		return err
	}
	a := &actor{Buyer: b, run: r, process: p, outcome: Outcome{Buyer: b},
		holder: probe.Holder{Sets: map[string][]string{}, Session: p.session}}
	program := &thread{actor: a}
	a.threads = []*thread{program}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.actors = append(r.actors, a)
	r.startAttempt(a)
	r.programs.Go(func() {
		program.perform()
		a.report(func() { program.ended, a.lock, a.outcome.Ended = true, notHeld, len(r.schedule.Steps) })
	})
	return nil
}

// perform performs the actor's action. It recovers from the panic of the fault Panics, as the service does.
func (t *thread) perform() {
	defer func() {
		switch p := recover(); {
		case p == errPanics: //nolint:errorlint // p is the value passed to panic, which is not wrapped
			t.outcome.Err = fmt.Errorf("%w: %w", seckill.ErrUnknown, errPanics)
		case p != nil:
			panic(p)
		}
	}()
	actorKinds[t.Action].perform(tap.With(t.ctx, t), t.run.world, t.process, &t.outcome)
}

// runAlone lets only one actor send commands. It returns when the function isDone returns true, or when the actor has
// no next command. Before each command, the function choose selects the command or one of the faults.
func (r *run) runAlone(ctx context.Context, a *actor, choose chooser, isDone func() bool, faults ...Fault) error {
	for {
		if err := r.settle(ctx); err != nil {
			return err
		}
		if isDone() || a.program().nextCall() == nil {
			return nil
		}
		options := []policy.Option{{Choice: Choice{Who: a.Name}}}
		for _, f := range faults {
			options = append(options, policy.Option{Choice: Choice{Who: a.Name, Fault: f}})
		}
		if err := r.chooseAndApply(ctx, options, choose); err != nil {
			return err
		}
	}
}

func (r *run) chooseAndApply(ctx context.Context, options []policy.Option, choose chooser) error {
	i, err := choose(options)
	if err != nil {
		return err
	}
	return r.apply(ctx, options[i], true)
}

// runUntilDeath lets the first buyer run alone until it dies or is done. If it has died, its connections, sessions
// and leases end.
func (r *run) runUntilDeath(ctx context.Context, choose chooser) error {
	a := r.actors[0]
	err := r.runAlone(ctx, a, choose, func() bool { return a.outcome.Dead }, Dies)
	if err != nil || !a.outcome.Dead {
		return err
	}
	if r.world.keepsSessions() {
		if err := r.giveUp(ctx, a); err != nil {
			return err
		}
	}
	what, err := r.endLease(ctx, r.lastLeaseholder(), false)
	if what == "" {
		what = "clocks move on by a lease"
	}
	r.addStep(Step{Choice: Choice{Fault: TimePasses}, Command: what})
	return err
}

func (r *run) runToEnd(ctx context.Context, choose chooser) error {
	for {
		options, err := r.nextOptions(ctx)
		if err != nil || len(options) == 0 {
			return err
		}
		if err := r.chooseAndApply(ctx, options, choose); err != nil {
			return err
		}
	}
}

// maxSteps is the maximum number of steps of a schedule. The longest published counterexample has 48 steps. Buyers
// that have not finished after maxSteps would repeat their commands for ever, so they are made to give up.
const maxSteps = 2000

// nextOptions runs the schedule until there is a choice, and returns the options. It returns none if every actor has
// finished.
func (r *run) nextOptions(ctx context.Context) ([]policy.Option, error) {
	for {
		if err := r.settle(ctx); err != nil {
			return nil, err
		}
		if r.peek && len(r.schedule.Steps) > 0 {
			last := &r.schedule.Steps[len(r.schedule.Steps)-1]
			last.Values = r.world.readServers(ctx)
		}
		switch n := len(r.schedule.Steps); {
		case n > 2*maxSteps:
			return nil, fmt.Errorf("after %d steps a buyer whose time is up goes on", n)
		case n > maxSteps:
			r.giveUpBuyers(slices.DeleteFunc(slices.Clone(r.actors), (*actor).isDone))
		}
		if r.wakeBackOffs() {
			continue
		}
		if r.allDone() {
			// All buyers are done. Only delayed commands and renewers can be left, and they run one after another,
			// without a choice.
			left := r.remainingOptions()
			if len(left) == 0 {
				return nil, nil
			}
			if err := r.apply(ctx, left[0], false); err != nil {
				return nil, err
			}
			continue
		}
		options := r.options()
		switch {
		case len(options) > 0:
			options[0].Forced, r.forced = r.forced, false
			return options, nil
		case r.awaitLateReport(ctx):
			r.forced = true
		case r.byHand:
			return []policy.Option{{Choice: Choice{Fault: TimePasses}}}, nil
		default:
			if err := r.passTime(ctx); err != nil {
				return nil, err
			}
		}
	}
}

func (r *run) remainingOptions() []policy.Option {
	list := faultKinds[Arrives].options(r)
	if r.scenario.Renewals > 0 {
		for _, t := range r.runnable() {
			list = append(list, policy.Option{Choice: t.choice()})
		}
		list = append(list, r.renewersToWake()...)
	}
	return list
}

func (r *run) allDone() bool {
	return !slices.ContainsFunc(r.actors, func(a *actor) bool { return !a.isDone() })
}
