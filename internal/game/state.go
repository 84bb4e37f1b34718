package game

import (
	"seckill/internal/explore"
	"seckill/internal/wire"
)

// state writes what the explorer shows, as the API says it.
func state(s Setting, moves []explore.Choice, v explore.View) State {
	out := State{Setting: s, Schedule: explore.FormatSchedule(moves...), Buyers: []BuyerState{}, Moves: []Move{}, Values: v.Values, Steps: []Step{},
		MovesMade: len(moves), Switches: v.Preemptions, FaultsLeft: s.MaxFaults - v.Faults, Over: v.Schedule != nil}
	for _, a := range v.Actors {
		out.Buyers = append(out.Buyers, BuyerState{a, outcome(a)})
	}
	for _, o := range v.Options {
		out.Moves = append(out.Moves, Move{explore.FormatSchedule(o.Choice), o})
	}
	for _, step := range v.Steps {
		out.Steps = append(out.Steps, Step{Step: step})
	}
	for i, at := range v.Chosen {
		if i < len(moves) && at < len(out.Steps) && out.Steps[at].Move == "" {
			out.Steps[at].Move = explore.FormatSchedule(moves[i])
		}
	}
	if v.Schedule != nil {
		out.Verdict = verdict(s, v.Schedule)
	}
	return out
}

func outcome(a explore.ActorView) string {
	switch {
	case a.State == explore.StateDead:
		return "died"
	case a.State != explore.StateDone:
		return ""
	case a.Err == nil && a.Does == explore.Buys:
		return "sold"
	case a.Err == nil:
		return "done"
	}
	return string(wire.Of(a.Err).Outcome)
}

func verdict(s Setting, o *explore.Schedule) *Verdict {
	v := &Verdict{Broken: len(o.Problems) > 0, Problems: append([]explore.Problem{}, o.Problems...), Stock: s.Stock,
		Sold: o.Audit.Sold, Left: o.Audit.Remaining}
	for _, b := range o.Buyers {
		if b.Does == explore.Buys && b.Err == nil && !b.Dead {
			v.Told += b.Receipt.Quantity
		}
	}
	return v
}
