package policy

import (
	"errors"
	"math"
	"slices"
)

// Fewest runs every schedule once, those with the fewest preemptions first, so that the first
// broken schedule is a simple one. (Musuvathi and Qadeer, "Iterative context bounding for
// systematic testing of multithreaded programs", PLDI 2007.)
//
// Each schedule starts with a known prefix of choices; after the prefix, Fewest takes the first
// option at each choice and keeps the other options as prefixes of later schedules.
type Fewest struct {
	// If Reduce is true, Fewest leaves out a schedule that differs from another one only in the order of independent
	// steps. CompleteUpTo then returns -1.
	Reduce bool

	Redundant int // the number of schedules that ended with ErrRedundant
	Diverged  int // the number of schedules that were abandoned after ErrDiverged

	// pending[n] has the beginnings of schedules (prefixes) with n preemptions that were not run yet.
	pending      [][]prefix
	minAbandoned int // the smallest number of preemptions in an abandoned prefix

	// These fields describe the current schedule.
	prefix       prefix
	replay       func([]Option) (int, error) // makes the choices of the prefix again
	made         []Choice                    // the choices so far
	preemptions  int                         // the number of preemptions among the choices so far
	sleeping     sleepSet
	alternatives []prefix // prefixes that end with an option that the schedule did not take
}

// A prefix is the beginning of a schedule that was not run yet.
type prefix struct {
	choices     []Choice
	preemptions int      // the number of preemptions among the choices
	sleeping    sleepSet // the sleep set of the state after these choices
	tries       int      // how often the prefix was tried
}

// maxTries limits how often a prefix is tried if a schedule cannot repeat the prefix's choices.
const maxTries = 3

func (p *Fewest) Begin() bool {
	if p.pending == nil {
		p.pending, p.minAbandoned = [][]prefix{{{}}}, math.MaxInt
	}
	for n, list := range p.pending {
		if len(list) > 0 {
			p.prefix, p.pending[n] = list[0], list[1:]
			p.replay = Replay(p.prefix.choices)
			p.made, p.preemptions, p.alternatives, p.sleeping = nil, 0, nil, p.prefix.sleeping
			return true
		}
	}
	return false
}

func (p *Fewest) Choose(options []Option) (i int, err error) {
	if len(p.made) < len(p.prefix.choices) {
		i, err = p.replay(options)
	} else {
		i, err = p.explore(options)
	}
	if err == nil {
		p.made = append(p.made, options[i].Choice)
		if options[i].Preempts {
			p.preemptions++
		}
	}
	return i, err
}

// explore takes the first option that is not in the sleep set. Other options outside the sleep set become alternatives.
func (p *Fewest) explore(options []Option) (int, error) {
	if options[0].Forced {
		p.sleeping = nil
	}
	var awake []int // the indexes of the options that are not in the sleep set
	for i, o := range options {
		if indexOf(p.sleeping, o.Choice) < 0 {
			awake = append(awake, i)
		}
	}
	if len(awake) == 0 {
		return 0, ErrRedundant
	}
	before := p.sleeping
	for n, i := range awake {
		o := options[i]
		if n > 0 {
			choices := append(slices.Clone(p.made), o.Choice)
			other := prefix{choices: choices, preemptions: p.preemptions, sleeping: before.afterStep(o)}
			if o.Preempts {
				other.preemptions++
			}
			p.alternatives = append(p.alternatives, other)
		}
		if p.Reduce {
			before = append(slices.Clone(before), o)
		}
	}
	p.sleeping = p.sleeping.afterStep(options[awake[0]])
	return awake[0], nil
}

func (p *Fewest) End(err error) {
	// The schedule ended before all choices of its prefix were made, so it has diverged from the prefix.
	if err == nil && len(p.made) < len(p.prefix.choices) {
		err = ErrDiverged
	}
	switch p.prefix.tries++; {
	case errors.Is(err, ErrDiverged) && p.prefix.tries < maxTries: // put the prefix in front, to try it again next
		n := p.prefix.preemptions
		p.pending[n] = slices.Insert(p.pending[n], 0, p.prefix)
	case errors.Is(err, ErrDiverged):
		p.Diverged++
		p.minAbandoned = min(p.minAbandoned, p.prefix.preemptions)
	case errors.Is(err, ErrRedundant):
		p.Redundant++
		p.addAlternatives()
	case err == nil:
		p.addAlternatives()
	}
}

func (p *Fewest) addAlternatives() {
	for _, b := range p.alternatives {
		for len(p.pending) <= b.preemptions {
			p.pending = append(p.pending, nil)
		}
		p.pending[b.preemptions] = append(p.pending[b.preemptions], b)
	}
}

// Pending returns the number of prefixes that were not run when the search stopped, including those to be tried again.
func (p *Fewest) Pending() int {
	var n int
	if p.pending == nil {
		return 1
	}
	for _, list := range p.pending {
		n += len(list)
	}
	return n
}

// CompleteUpTo returns the greatest n such that every schedule with at most n preemptions was run.
// It returns -1 if a schedule without preemptions was not run, or if Reduce leaves n unknown. It
// also returns -1 if every schedule was run, because then there is no greatest n.
func (p *Fewest) CompleteUpTo() int {
	least := p.minAbandoned
	for n, list := range p.pending {
		if len(list) > 0 {
			least = min(least, n)
			break
		}
	}
	if p.Reduce || least == math.MaxInt {
		return -1
	}
	return least - 1
}

// A sleepSet contains choices that need not be made in a state. For each schedule that makes such a choice in this
// state, an equivalent schedule is run anyway (Godefroid, "Partial-Order Methods for the Verification of Concurrent
// Systems", LNCS 1032, 1996, chapter 5). Removing a choice too early only costs additional schedules.
type sleepSet []Option

// afterStep returns the sleep set after the step o. It keeps the choices that are independent of o.
func (z sleepSet) afterStep(o Option) sleepSet {
	var next sleepSet
	for _, s := range z {
		if areIndependent(s, o) {
			next = append(next, s)
		}
	}
	return next
}
