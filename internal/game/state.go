package game

import "seckill/internal/explore"

// state writes what the explorer shows, as the API says it.
func state(s Setting, moves []explore.Choice, v explore.View) State {
	out := State{Setting: s, Schedule: explore.FormatSchedule(moves...), Buyers: v.Actors, Moves: v.Options, Values: v.Values, Steps: v.Steps,
		MovesMade: len(moves), Switches: v.Preemptions, FaultsLeft: s.MaxFaults - v.Faults, Over: v.Schedule != nil}
	if v.Schedule != nil {
		out.Verdict = verdict(s, v.Schedule)
	}
	return out
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
