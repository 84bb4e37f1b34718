package policy

import "slices"

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
