package game

import (
	"errors"
	"strings"

	"seckill/internal/explore"
	"seckill/internal/seckill"
)

// state writes what the explorer shows, as the API says it.
func state(s Setting, moves []explore.Choice, v explore.View) State {
	out := State{Setting: s, Schedule: schedule(moves), Buyers: []BuyerState{}, Moves: []Move{}, Values: v.Values, Steps: []Step{},
		MovesMade: len(moves), Switches: v.Preemptions, FaultsLeft: s.MaxFaults - v.Faults, Over: v.Schedule != nil}
	if out.Setting.Faults == nil {
		out.Setting.Faults = []string{}
	}
	for i, a := range v.Actors {
		out.Buyers = append(out.Buyers, buyerState(s.Buyers[i], a))
	}
	for _, o := range v.Options {
		out.Moves = append(out.Moves, Move{Move: Write(o.Choice), Who: o.Who, Fault: string(o.Fault), Renewer: o.Renewer,
			Costs: o.Costs, Switches: o.Preempts, Command: command(o.Command)})
	}
	for _, step := range v.Steps {
		out.Steps = append(out.Steps, Step{Who: step.Who, Fault: string(step.Fault), Renewer: step.Renewer, Backend: step.Backend,
			Text: step.Command, Reply: step.Reply, Result: step.Result, Woke: step.Woke, Values: step.Values})
	}
	for i, at := range v.Chosen {
		if i < len(moves) && at < len(out.Steps) && out.Steps[at].Move == "" {
			out.Steps[at].Move = Write(moves[i])
		}
	}
	if v.Schedule != nil {
		out.Verdict = verdict(s, v.Schedule)
	}
	return out
}

func schedule(moves []explore.Choice) string {
	var b strings.Builder
	for _, m := range moves {
		b.WriteString(Write(m))
	}
	return b.String()
}

func command(c *explore.CommandView) *Command {
	if c == nil {
		return nil
	}
	return &Command{c.Backend, c.Text}
}

func buyerState(b Buyer, a explore.ActorView) BuyerState {
	out := BuyerState{Buyer: b, State: string(a.State), Next: command(a.Next), Renewer: command(a.Renewer), Holds: a.Holds,
		Expired: a.Expired && a.Holds, Told: a.Told}
	if a.Waiting != nil {
		out.Waiting = &Waiting{Command{a.Waiting.Backend, a.Waiting.Text}, a.Waiting.Why, a.Waiting.For}
	}
	for _, l := range a.Late {
		out.Late = append(out.Late, *command(&l))
	}
	switch a.State {
	case explore.StateDead:
		out.Outcome = "died"
	case explore.StateDone:
		out.Outcome = outcome(b, a.Err)
	}
	return out
}

// outcomes of refusals.
var outcomes = []struct {
	err  error
	code string
}{
	{seckill.ErrSoldOut, "sold_out"}, {seckill.ErrBusy, "busy"}, {seckill.ErrDuplicate, "duplicate"},
	{seckill.ErrConflict, "conflict"}, {seckill.ErrUnavailable, "unavailable"}, {seckill.ErrInvalid, "invalid"},
	{seckill.ErrUnknownSKU, "invalid"},
}

func outcome(b Buyer, err error) string {
	if err == nil && b.Does == string(explore.Buys) {
		return "sold"
	}
	if err == nil {
		return "done"
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.code
		}
	}
	return "unknown"
}

func verdict(s Setting, o *explore.Schedule) *Verdict {
	v := &Verdict{Broken: len(o.Problems) > 0, Problems: []Problem{}, Stock: s.Stock, Sold: o.Audit.Sold, Left: o.Audit.Remaining}
	for _, p := range o.Problems {
		v.Problems = append(v.Problems, Problem{p.Rule, p.Message})
	}
	for _, b := range o.Buyers {
		if b.Does == explore.Buys && b.Err == nil && !b.Dead {
			v.Told += b.Receipt.Quantity
		}
	}
	return v
}
