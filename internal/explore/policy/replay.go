package policy

import (
	"fmt"
	"slices"
)

// Replay makes the choices of one schedule again; then each thread
// goes on as long as it can. It runs once.
type Replay struct {
	Choices []Choice
	made    int
}

// Choose takes the next of its choices; ErrDiverged if that is none of the options.
func (p *Replay) Choose(options []Option, _ int) (int, error) {
	if p.made >= len(p.Choices) {
		return 0, nil
	}
	i := find(options, p.Choices[p.made])
	if i < 0 {
		return 0, fmt.Errorf("%w: step %d should be %s's, and there is only %v", ErrDiverged, p.made+1, p.Choices[p.made], options)
	}
	p.made++
	return i, nil
}

// Shorten finds fewer choices that still break something when all go on
// undisturbed after them: first the shortest beginning that does; then single
// choices are left out of its middle, faults before turns, until each is needed.
// breaks plays a schedule; its error ends the search.
func Shorten(choices []Choice, breaks func([]Choice) (bool, error)) ([]Choice, error) {
	for n := range choices {
		ok, err := breaks(choices[:n])
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
			// From the end: what comes late depends on less.
			for i := len(choices) - 1; i >= 0; i-- {
				if (choices[i].Fault != "") != faults {
					continue
				}
				fewer := slices.Delete(slices.Clone(choices), i, i+1)
				ok, err := breaks(fewer)
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
