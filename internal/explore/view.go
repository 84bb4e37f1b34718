package explore

import (
	"context"
	"slices"

	"seckill/internal/explore/policy"
	"seckill/internal/probe"
	"seckill/internal/tap"
)

// A View is a live schedule as it stands.
type View struct {
	Actors  []ActorView
	Options []OptionView // empty: it is over
	Values  []Value
	Steps   []Step
	// Chosen says for each choice how many steps there were before it.
	Chosen      []int
	Preemptions int
	Faults      int       // that have happened
	Schedule    *Schedule // judged; nil until it is over
}

// State of an actor.
type State string

// The states of an actor.
const (
	StateReady    State = "ready"     // stands before a command
	StateWaits    State = "waits"     // has sent one, and has no answer
	StateBacksOff State = "backs_off" // tries again when another has moved
	StateDone     State = "done"
	StateDead     State = "dead"
)

// An ActorView is a buyer.
type ActorView struct {
	Buyer
	State   State
	Next    *CommandView // if ready
	Waiting *WaitView    // if they wait
	Renewer *CommandView // what the renewer of their lock would send
	Late    []CommandView
	Holds   bool
	Expired bool
	Told    string // "" until they are done
	Err     error  // what a buyer who is done was told, if not sold
}

// A CommandView is a command, as a step shows it.
type CommandView struct{ Backend, Text string }

// A WaitView is a command that has no answer yet.
type WaitView struct {
	CommandView
	Why string
	For []string // who holds it up, as far as the server says so
}

// An OptionView is a choice that may be made.
type OptionView struct {
	Choice
	Preempts bool
	Costs    bool         // it is one of Scenario.MaxFaults
	Command  *CommandView // that goes, is lost or arrives; nil for other faults
}

// view is called by the schedule's own goroutine, or after its end.
func (l *Live) view(ctx context.Context, options []policy.Option) View {
	r := l.run
	v := View{Steps: slices.Clone(r.schedule.Steps), Chosen: slices.Clone(l.chosen),
		Preemptions: r.schedule.Preemptions, Faults: r.faults}
	why := r.reasons(ctx)
	for _, a := range r.actors {
		v.Actors = append(v.Actors, r.actorView(a, why))
	}
	for _, o := range options {
		v.Options = append(v.Options, r.optionView(o))
	}
	if len(options) == 0 {
		v.Schedule = r.schedule
	}
	if v.Values = r.world.look(ctx); v.Values == nil {
		v.Values = []Value{}
	}
	return v
}

func (r *run) commandView(c *call) *CommandView {
	if c == nil {
		return nil
	}
	return &CommandView{c.command.Backend, c.text(r.world.names)}
}

func (r *run) actorView(a *actor, why map[*call]probe.Wait) ActorView {
	v := ActorView{Buyer: a.Buyer, Holds: a.grip == holding, Expired: a.expired}
	for _, l := range a.late {
		v.Late = append(v.Late, *r.commandView(l.call))
	}
	program := a.program()
	switch state := program.state(); {
	case a.life != alive:
		v.State, v.Told, v.Holds = StateDead, a.outcome.answer(), false
		return v
	case state == isOver:
		v.State, v.Told, v.Err = StateDone, r.schedule.plain(a.outcome.answer()), a.outcome.Err
	case state == sleeps:
		v.State = StateBacksOff
		c := program.sleeper()
		v.Waiting = &WaitView{*r.commandView(c), "pauses, and tries again when another has changed something", []string{}}
	case program.next() != nil:
		v.State, v.Next = StateReady, r.commandView(program.next())
	default:
		v.State, v.Waiting = StateWaits, r.waitView(program, why)
	}
	for _, t := range a.threads[1:] {
		if c := t.next(); c != nil {
			v.Renewer = r.commandView(c)
		}
	}
	return v
}

func (r *run) waitView(t *thread, why map[*call]probe.Wait) *WaitView {
	w := &WaitView{For: []string{}}
	for _, c := range t.calls {
		w.CommandView = *r.commandView(c)
		if because, known := why[c]; known {
			w.Why = r.world.names.Plain(because.Why)
			w.For = append(w.For, r.holdersAt(c.actor, because.Ports)...)
			continue
		}
		switch c.command.Backend {
		case tap.Waiting:
			w.Why = "waits in its own process: nothing has been sent to wake it"
		case tap.SQL:
			w.Why = "the SQL server counts it among those that wait for a lock"
		case tap.Redis:
			w.Why = "Redis counts it among its blocked clients"
		default:
			w.Why = "the server has not answered"
		}
	}
	return w
}

// holdersAt are the actors whose process has one of these ports.
func (r *run) holdersAt(waits *actor, ports []string) (list []string) {
	for _, a := range r.actors {
		if a == waits || a.life != alive && a.life != dead || a.done() || !(a.inTransaction || a.grip != loose) {
			continue
		}
		for _, port := range probe.Ports(a.process.in.Dialer.LocalAddrs()) {
			if slices.Contains(ports, port) {
				list = append(list, a.Name)
				break
			}
		}
	}
	return list
}

// reasons asks the SQL server why commands wait in it.
func (r *run) reasons(ctx context.Context) map[*call]probe.Wait {
	_, away := r.inside()
	why := map[*call]probe.Wait{}
	if !slices.ContainsFunc(away, func(c *call) bool { return c.command.Backend == tap.SQL }) {
		return why
	}
	list := r.waits
	if list == nil {
		list = r.world.sql.Waits(ctx)
	}
	for _, c := range away {
		ports := probe.Ports(c.actor.process.in.Dialer.LocalAddrs())
		for _, w := range list {
			if c.command.Backend == tap.SQL && slices.Contains(ports, w.Port) {
				why[c] = w
			}
		}
	}
	return why
}

func (r *run) optionView(o policy.Option) OptionView {
	v := OptionView{Choice: o.Choice, Preempts: o.Preempts}
	kind, isFault := kinds[o.Fault]
	v.Costs = isFault && !kind.follows
	if o.Who == "" {
		return v
	}
	switch a := r.actor(o.Who); {
	case o.Fault == arrives.name:
		v.Command = r.commandView(a.late[0].call)
	case o.Fault == "" || kind.aims:
		c := r.aimed(o.Choice)
		if c == nil { // a renewer whose time may come
			v.Command = &CommandView{Text: renewerMark + "its time has come"}
		} else {
			v.Command = r.commandView(c)
		}
	}
	return v
}
