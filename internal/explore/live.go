package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/explore/policy"
	"seckill/internal/judge"
	"seckill/internal/probe"
)

// A Live is one schedule that a person chooses, step by step. While they think
// nothing happens: no time passes for a lease, a wait or a back-off.
// Its methods are for one goroutine at a time.
type Live struct {
	run     *run
	options []policy.Option // from which the person chooses; none: it has ended
	err     error           // why it has ended; nil: it is judged
}

var (
	// ErrImpossible: the choice cannot be made now.
	ErrImpossible = errors.New("that cannot happen now")
	// ErrOver: the schedule has ended.
	ErrOver = errors.New("all buyers are done")
)

// Begin starts a schedule that is chosen by hand, and returns at the first choice.
// There may be one at a time in a world; End ends it.
func (w *World) Begin(ctx context.Context, s *Scenario) (*Live, View, error) {
	if s.InLine || s.DiesFirst || s.Next {
		return nil, View{}, errors.New("a schedule that is chosen by hand has no steps of its own")
	}
	if err := w.rehearse(ctx, s); err != nil {
		return nil, View{}, err
	}
	l := &Live{run: w.newRun(s, true)}
	l.run.byHand = true
	err := l.run.start(ctx, nil)
	if err == nil {
		err = l.proceed(ctx)
	}
	if err != nil {
		l.End()
		return nil, View{}, err
	}
	return l, l.run.view(ctx, l.options), nil
}

// proceed goes on to the next choice, or to the end.
func (l *Live) proceed(ctx context.Context) error {
	if l.options, l.err = l.run.next(ctx); l.err == nil && len(l.options) == 0 {
		l.err = l.run.judge(ctx)
	}
	return l.err
}

// Choose makes a choice, and returns when everything has settled behind it.
// ErrImpossible and ErrOver leave the schedule as it is; after any other error
// nothing is known of it, and it can only be ended.
func (l *Live) Choose(ctx context.Context, c Choice) (View, error) {
	if len(l.options) == 0 {
		return View{}, cmp.Or(l.err, ErrOver)
	}
	o, err := l.find(ctx, c)
	if err != nil {
		return View{}, err
	}
	if err := l.run.take(ctx, o, true); err != nil {
		l.options, l.err = nil, err
		return View{}, err
	}
	if err := l.proceed(ctx); err != nil {
		return View{}, err
	}
	return l.run.view(ctx, l.options), nil
}

// find returns the option that is this choice. It looks again when something comes from
// a buyer: one who seemed to wait may have been on their way, and a helper may just have
// begun.
func (l *Live) find(ctx context.Context, c Choice) (o policy.Option, err error) {
	if l.run.drain() { // while the person was thinking
		err = l.proceed(ctx)
	}
	for err == nil {
		if i := slices.IndexFunc(l.options, func(o policy.Option) bool { return o.Choice == c }); i >= 0 {
			return l.options[i], nil
		}
		if err = l.run.await(ctx, lateness); errors.Is(err, errNothing) {
			return o, fmt.Errorf("%w: %s", ErrImpossible, c)
		}
		if err == nil {
			err = l.proceed(ctx)
		}
	}
	return o, err
}

// End gives the schedule up, or closes one that is over.
func (l *Live) End() { l.run.end() }

// A View is a live schedule as it stands. Its lists are never null.
type View struct {
	Actors []ActorView `json:"buyers"` // A, B, …
	// Options are all choices that are possible now; empty when it is over.
	Options []OptionView `json:"-"`
	// Values are what the servers keep now: the stock row, Redis keys, rows of
	// locks, znodes. The order is stable; names may repeat on other nodes.
	Values []probe.Value `json:"values"`
	// Steps are what happened, oldest first. A choice is one step; some come by themselves.
	Steps []Step `json:"steps"`
	// Preemptions counts turns that were taken from a buyer who could go on.
	Preemptions int       `json:"switches"`
	Faults      int       `json:"-"` // that have happened
	Judged      *Schedule `json:"-"` // nil until it is over
}

// State of an actor.
type State string

// The states of an actor.
const (
	StateReady    State = "ready"     // stands before Next, which a choice lets run
	StateWaits    State = "waits"     // has sent a command, and has no answer: Waiting says why
	StateBacksOff State = "backs_off" // waits by themselves, and tries again when another has moved
	StateDone     State = "done"      // was told what Told says
	StateDead     State = "dead"      // their process has died
)

// An ActorView is a buyer.
type ActorView struct {
	Buyer
	State State `json:"state"`
	// Next is the command that runs when it is this buyer's turn; null unless they
	// are ready.
	Next *CommandView `json:"next"`
	// Waiting is the command that has no answer yet; null unless they wait or back off.
	Waiting *WaitView `json:"waiting"`
	// Holds: they believe that they have the lock. Always false when the strategy is
	// not a lock.
	Holds bool `json:"holds"`
	// Expired: the lease of the lock that they hold has ended, and they have not heard
	// of it.
	Expired bool `json:"expired,omitempty"`
	// Told is what they were told in the end, in English: "sold 1, 0 left", "sold out",
	// "died"; "" until then.
	Told string `json:"told,omitempty"`
	// Outcome is Told as a code: "sold", "died", "done" (not a purchase), or a refusal's
	// judge.Outcome; "" until then.
	Outcome string `json:"outcome,omitempty"`
}

// A CommandView is a command, as a step shows it: the SKU is written as 1, random
// values as t1, t2, … and times as time1, ….
type CommandView struct {
	Backend string `json:"backend"` // as the tap names them, or Work
	Text    string `json:"text"`
}

// A WaitView is a command that has no answer yet.
type WaitView struct {
	CommandView
	// Why is the server's own reason, in English: "waits for the lock X on stock, index
	// PRIMARY".
	Why string `json:"why"`
	// For names who holds up one that waits for a row: who has locks of rows, and does not
	// wait. Never null.
	For []string `json:"for"`
}

// An OptionView is a choice that may be made.
type OptionView struct {
	Choice
	// Switches: it takes the turn from a buyer who could go on.
	Switches bool `json:"switches"`
	// Command is what runs, is lost or arrives; null for other faults.
	Command *CommandView `json:"command"`
}

// view is the schedule at a moment with these options; none: it is over.
func (r *run) view(ctx context.Context, options []policy.Option) View {
	v := View{Steps: append([]Step{}, r.schedule.Steps...),
		Preemptions: r.schedule.Preemptions, Faults: r.faults}
	for _, a := range r.actors {
		v.Actors = append(v.Actors, r.actorView(a))
	}
	for _, o := range options {
		v.Options = append(v.Options, r.optionView(o))
	}
	if len(options) == 0 {
		v.Judged = r.schedule
	}
	if v.Values = r.world.look(ctx); v.Values == nil {
		v.Values = []probe.Value{}
	}
	return v
}

func (r *run) commandView(c *call) *CommandView {
	return &CommandView{c.command.Backend, c.text(r.world.names)}
}

func (r *run) actorView(a *actor) ActorView {
	v := ActorView{Buyer: a.Buyer, Holds: a.lock == held, Expired: a.expired && a.lock == held}
	program := a.program()
	switch {
	case a.life != alive:
		v.State, v.Told, v.Outcome = StateDead, a.outcome.Answer(), "died"
		return v
	case program.over:
		v.State, v.Told, v.Outcome = StateDone, r.schedule.names.Normalize(a.outcome.Answer()), "done"
		switch err := a.outcome.Err; {
		case err != nil:
			v.Outcome = string(judge.CodeOf(err).Outcome)
		case a.Does == Buys:
			v.Outcome = string(judge.OutcomeSold)
		}
	case program.sleeper() != nil:
		v.State = StateBacksOff
		v.Waiting = &WaitView{*r.commandView(program.sleeper()), "pauses, and tries again when another has changed something", []string{}}
	case program.next() != nil:
		v.State, v.Next = StateReady, r.commandView(program.next())
	default:
		v.State, v.Waiting = StateWaits, r.waitView(program.calls[0])
	}
	return v
}

func (r *run) waitView(c *call) *WaitView {
	w := &WaitView{*r.commandView(c), "the server has not answered", []string{}}
	if c.local() {
		w.Why = "waits in its own process: nothing has been sent to wake it"
	} else if i := c.shownIn(r.waits); i >= 0 {
		w.Why = r.world.names.Normalize(r.waits[i].Why)
		w.For = append(w.For, r.holdersAt(c.actor, r.waits[i].Holders)...)
	}
	return w
}

// holdersAt are the actors whose process has one of these ports.
func (r *run) holdersAt(waits *actor, ports []string) (list []string) {
	for _, a := range r.actors {
		if a == waits || a.life == givenUp || a.done() || !(a.inTransaction || a.lock != notHeld) {
			continue
		}
		if slices.ContainsFunc(a.process.ports(), func(port string) bool { return slices.Contains(ports, port) }) {
			list = append(list, a.Name)
		}
	}
	return list
}

func (r *run) optionView(o policy.Option) OptionView {
	v := OptionView{Choice: o.Choice, Switches: o.Preempts}
	if o.Who == "" {
		return v
	}
	switch a := r.actor(o.Who); {
	case o.Fault == Arrives:
		v.Command = r.commandView(a.late[0])
	case o.Fault == "" || faultKinds[o.Fault].strikes != nil:
		if c := r.aimed(o.Choice); c.state == asleep {
			v.Command = &CommandView{Text: timeHasCome}
		} else {
			v.Command = r.commandView(c)
		}
	}
	return v
}
