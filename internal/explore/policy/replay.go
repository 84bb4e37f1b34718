package policy

import (
	"fmt"
	"slices"
)

// Replay makes the choices of one schedule again. After these choices, each thread runs as long as
// it can. A new schedule needs a new Replay.
type Replay struct {
	Choices []Choice
	made    int
}

// Choose returns the index of the next one of p.Choices. If this choice is not among options, the error is
// ErrDiverged.
func (p *Replay) Choose(options []Option, _ int) (int, error) {
	if p.made >= len(p.Choices) {
		return 0, nil
	}
	i := indexOf(options, p.Choices[p.made])
	if i < 0 {
		return 0, fmt.Errorf("%w: step %d should be %s's, and there is only %v",
			ErrDiverged, p.made+1, p.Choices[p.made], options)
	}
	p.made++
	return i, nil
}

// Shorten looks for fewer choices that still break something if all threads run undisturbed after these choices. It
// first finds the shortest beginning that breaks something. Then it removes single choices, first faults and then
// others, until none can be removed. The function tryChoices plays a schedule and reports whether the schedule breaks
// something; an error of tryChoices ends the search.
func Shorten(choices []Choice, tryChoices func([]Choice) (bool, error)) ([]Choice, error) {
	for n := range choices {
		ok, err := tryChoices(choices[:n])
		if err != nil {
			return nil, err
		}
		if ok {
			choices = choices[:n]
			break
		}
	}
	for again := true; again; {
		again = false
		for _, faults := range []bool{true, false} {
			// Start at the end, because fewer choices depend on a late choice than on an early one.
			for i := len(choices) - 1; i >= 0; i-- {
				if (choices[i].Fault != "") != faults {
					continue
				}
				fewer := slices.Delete(slices.Clone(choices), i, i+1)
				ok, err := tryChoices(fewer)
				if err != nil {
					return nil, err
				}
				if ok {
					choices, again = fewer, true
				}
			}
		}
	}
	return choices, nil
}
