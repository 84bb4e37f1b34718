package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/explore/policy"
	"seckill/internal/judge"
	"seckill/internal/probe"
)

// A Live is one schedule that a person chooses, step by step. While the person thinks, no time
// passes for leases, waits and back-offs. Only one goroutine at a time may call its methods.
type Live struct {
	run     *run
	options []policy.Option // the choices that are possible now; none when the schedule has ended
}

var (
	// ErrImpossible is the error of a choice that is not possible now.
	ErrImpossible = errors.New("that cannot happen now")
	// ErrOver is the error of a choice after the end of the schedule.
	ErrOver = errors.New("all buyers are done")
)

// Begin starts a schedule whose steps a person chooses, and returns when the first choice is possible. A world has at
// most one such schedule at a time. The caller must call End.
func (w *World) Begin(ctx context.Context, s *Scenario) (*Live, View, error) {
	if s.InLine || s.DiesFirst || s.Next {
		return nil, View{}, errors.New("a schedule that is chosen by hand has no steps of its own")
	}
	if err := w.warmUp(ctx, s); err != nil {
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

func (l *Live) proceed(ctx context.Context) error {
	var err error
	if l.options, err = l.run.nextOptions(ctx); err == nil && len(l.options) == 0 {
		err = l.run.judgeSchedule(ctx)
	}
	return err
}

// Choose makes a choice and returns when all actors have settled. After ErrImpossible and ErrOver the schedule is
// unchanged. After any other error the state of the schedule is unknown, and only End may be called.
func (l *Live) Choose(ctx context.Context, c Choice) (View, error) {
	if len(l.options) == 0 {
		return View{}, ErrOver
	}
	o, err := l.findOption(ctx, c)
	if err != nil {
		return View{}, err
	}
	if err = l.run.apply(ctx, o, true); err == nil {
		err = l.proceed(ctx)
	}
	if err != nil {
		return View{}, err
	}
	return l.run.view(ctx, l.options), nil
}

// findOption returns the option for the choice c. If there is none, it waits for reports of the
// actors: a seemingly waiting buyer may only have been slow, or a background goroutine may just have started.
func (l *Live) findOption(ctx context.Context, c Choice) (o policy.Option, err error) {
	if l.run.handleReports() { // reports that came while the person was thinking may make the choice possible
		err = l.proceed(ctx)
	}
	for err == nil {
		if i := slices.IndexFunc(l.options, func(o policy.Option) bool { return o.Choice == c }); i >= 0 {
			return l.options[i], nil
		}
		if err = l.run.awaitReport(ctx, maxSilence); errors.Is(err, errNoReport) {
			return o, fmt.Errorf("%w: %s", ErrImpossible, c)
		}
		if err == nil {
			err = l.proceed(ctx)
		}
	}
	return o, err
}

// End stops the buyers that are still running and cleans up after the schedule.
func (l *Live) End() { l.run.stop() }

// A View is the state of a live schedule. Its lists are never null in JSON.
type View struct {
	Actors []ActorView `json:"buyers"` // A, B, …
	// Options are the choices that are possible now; empty when the schedule has ended.
	Options []OptionView `json:"-"`
	// Values lists what the servers store now: the stock row, Redis keys, lock rows, znodes. The order is stable. With
	// several nodes, a name may occur more than once.
	Values []probe.Value `json:"values"`
	// Steps are the steps so far, oldest first. A choice is one step; some steps happen without a choice.
	Steps []Step `json:"steps"`
	// Preemptions counts the steps that another buyer made although the buyer of the step before could continue.
	Preemptions int       `json:"switches"`
	Faults      int       `json:"-"` // number of faults so far
	Judged      *Schedule `json:"-"` // the schedule with its verdict; nil until the schedule has ended
}

// State is the state of an actor.
type State string

// The states of an actor.
const (
	StateReady    State = "ready"     // sends the command Next if the person chooses this actor
	StateWaits    State = "waits"     // waits for an answer or an event; ActorView.Waiting says why
	StateBacksOff State = "backs_off" // pauses, and tries again when another actor has made a step
	StateDone     State = "done"      // has finished; ActorView.Told is the answer
	StateDead     State = "dead"      // the process of the actor has died
)

// An ActorView is the state of one buyer.
type ActorView struct {
	Buyer
	State State `json:"state"`
	// Next is the command that the buyer sends in its next step; null unless the state is StateReady.
	Next *CommandView `json:"next"`
	// Waiting is the command that has no answer, or the back-off; null unless the state is StateWaits or
	// StateBacksOff.
	Waiting *WaitView `json:"waiting"`
	// Holds is true if the buyer believes that it has the lock. It is always false if the strategy is not a lock.
	Holds bool `json:"holds"`
	// Expired is true if the buyer believes that it has the lock, but the lease has ended.
	Expired bool `json:"expired,omitempty"`
	// Told is the final answer in English ("sold 1, 0 left", "sold out", "died"), or "".
	Told string `json:"told,omitempty"`
	// Outcome is a code for Told: "sold", "died", "done" (for an actor that buys nothing), or the
	// judge.Outcome of a refusal. It is "" if Told is "".
	Outcome string `json:"outcome,omitempty"`
}

// A CommandView is a command as a step shows it. SKUs are written as 1 and 2, random values as t1,
// t2, …, and times as time1, time2, ….
type CommandView struct {
	Backend string `json:"backend"` // one of the values of tap.Command.Backend, or Work
	Text    string `json:"text"`
}

// A WaitView is a command without an answer, or a back-off.
type WaitView struct {
	CommandView
	// Why is the server's own reason, in English: "waits for the lock X on stock, index PRIMARY".
	Why string `json:"why"`
	// For lists, by name, the buyers that may hold the row lock for which the command waits: all that have row locks
	// and do not wait themselves. It is empty if the command waits for something else, and never null.
	For []string `json:"for"`
}

// An OptionView is a possible choice.
type OptionView struct {
	Choice
	// Switches is true if the buyer of the last step could continue and the choice lets another buyer continue.
	Switches bool `json:"switches"`
	// Command is the command that is sent, lost or delivered; null if the choice concerns no command.
	Command *CommandView `json:"command"`
}

// view returns the state of the schedule. If the schedule has ended, the argument options is empty.
func (r *run) view(ctx context.Context, options []policy.Option) View {
	v := View{Steps: append([]Step{}, r.schedule.Steps...), Values: r.world.readServers(ctx),
		Preemptions: r.schedule.Preemptions, Faults: r.faultCount}
	for _, a := range r.actors {
		v.Actors = append(v.Actors, r.actorView(a))
	}
	for _, o := range options {
		v.Options = append(v.Options, r.optionView(o))
	}
	if len(options) == 0 {
		v.Judged = r.schedule
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
	case a.outcome.Dead:
		v.State, v.Told, v.Outcome = StateDead, a.outcome.Answer(), "died"
		return v
	case program.ended:
		v.State, v.Told, v.Outcome = StateDone, r.schedule.names.Normalize(a.outcome.Answer()), "done"
		switch err := a.outcome.Err; {
		case err != nil:
			v.Outcome = string(judge.CodeOf(err).Outcome)
		case a.Action == Buys:
			v.Outcome = string(judge.OutcomeSold)
		}
	case program.sleepingCall() != nil:
		v.State = StateBacksOff
		why := "pauses, and tries again when another has changed something"
		v.Waiting = &WaitView{*r.commandView(program.sleepingCall()), why, []string{}}
	case program.nextCall() != nil:
		v.State, v.Next = StateReady, r.commandView(program.nextCall())
	default:
		v.State, v.Waiting = StateWaits, r.waitView(program.calls[0])
	}
	return v
}

func (r *run) waitView(c *call) *WaitView {
	w := &WaitView{*r.commandView(c), "the server has not answered", []string{}}
	if c.isWait() {
		w.Why = "waits in its own process: nothing has been sent to wake it"
	} else if i := c.indexIn(r.serverWaits); i >= 0 {
		w.Why = r.world.names.Normalize(r.serverWaits[i].Why)
		w.For = append(w.For, r.holdersAt(c.thread.actor, r.serverWaits[i].Holders)...)
	}
	return w
}

// holdersAt returns the names of the actors that may hold a row lock on a SQL connection from one of the local ports.
// It leaves out the actor that waits for the lock.
func (r *run) holdersAt(waits *actor, ports []string) []string {
	var list []string
	for _, a := range r.actors {
		if a == waits || a.sessionsEnded || a.isDone() || !(a.inTransaction || a.lock != notHeld) {
			continue
		}
		if slices.ContainsFunc(a.process.sqlPorts(), func(port string) bool { return slices.Contains(ports, port) }) {
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
		v.Command = r.commandView(a.delayed[0])
	case o.Fault == "" || faultKinds[o.Fault].applyToCall != nil:
		if c := r.targetCall(o.Choice); c.state == asleep {
			v.Command = &CommandView{Text: timeHasCome}
		} else {
			v.Command = r.commandView(c)
		}
	}
	return v
}
