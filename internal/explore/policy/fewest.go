package policy

import (
	"errors"
	"math"
	"slices"
)

// Fewest runs every schedule once, those with the fewest preemptions first
// (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
// multithreaded programs", PLDI 2007), so that the first one that breaks
// something is a simple one.
type Fewest struct {
	// Reduce leaves out schedules that differ from one that is run only in the
	// order of independent steps. Preemptions say nothing then.
	Reduce bool

	Same     int // schedules that ended with ErrSame
	Diverged int // that were given up with ErrDiverged

	todo  [][]turn // that were not taken, by the fewest preemptions of their schedules; nil: none has begun
	least int      // of schedules that were given up

	// Of the schedule that runs:
	first  turn
	level  int    // index in todo that first was taken from
	again  Replay // of first
	here   []Choice
	asleep sleepers
	others []branch
}

// A turn that was not taken yet: the choices up to it, and it.
type turn struct {
	choices []Choice
	asleep  sleepers // behind it
	tries   int      // in which it could not be repeated
}

// A branch is a turn that the running schedule did not take.
type branch struct {
	turn
	preemptions int
}

// maxTries: a schedule that does not repeat itself is begun so often.
const maxTries = 3

// Begin implements Policy.
func (p *Fewest) Begin() bool {
	if p.todo == nil {
		p.todo, p.least = [][]turn{{{}}}, math.MaxInt
	}
	for n, list := range p.todo {
		if len(list) > 0 {
			p.first, p.level, p.todo[n] = list[0], n, list[1:]
			p.again = Replay{Choices: p.first.choices}
			p.here, p.others, p.asleep = nil, nil, p.first.asleep
			return true
		}
	}
	return false
}

// Choose implements Policy.
func (p *Fewest) Choose(options []Option, preemptions int) (i int, err error) {
	if len(p.here) < len(p.first.choices) {
		i, err = p.again.Choose(options, preemptions)
	} else {
		i, err = p.branch(options, preemptions)
	}
	if err == nil {
		p.here = append(p.here, options[i].Choice)
	}
	return i, err
}

// branch takes the first option that does not sleep, and notes the others.
func (p *Fewest) branch(options []Option, preemptions int) (int, error) {
	if options[0].Forced {
		p.asleep = nil
	}
	awake := p.asleep.awake(options)
	if len(awake) == 0 {
		return 0, ErrSame
	}
	before := p.asleep
	for n, i := range awake {
		o := options[i]
		if n > 0 {
			most := preemptions
			if o.Preempts {
				most++
			}
			p.others = append(p.others, branch{turn{choices: append(slices.Clone(p.here), o.Choice), asleep: before.after(o)}, most})
		}
		if p.Reduce {
			before = append(slices.Clone(before), o)
		}
	}
	p.asleep = p.asleep.after(options[awake[0]])
	return awake[0], nil
}

// End implements Policy.
func (p *Fewest) End(err error) {
	if err == nil && len(p.here) < len(p.first.choices) { // it was over before they were made
		err = ErrDiverged
	}
	switch p.first.tries++; {
	case errors.Is(err, ErrDiverged) && p.first.tries < maxTries: // it is the next
		p.todo[p.level] = slices.Insert(p.todo[p.level], 0, p.first)
	case errors.Is(err, ErrDiverged):
		p.Diverged++
		p.least = min(p.least, p.level)
	case errors.Is(err, ErrSame):
		p.Same++
		p.keep()
	case err == nil:
		p.keep()
	}
}

func (p *Fewest) keep() {
	for _, b := range p.others {
		for len(p.todo) <= b.preemptions {
			p.todo = append(p.todo, nil)
		}
		p.todo[b.preemptions] = append(p.todo[b.preemptions], b.turn)
	}
}

// Open counts the turns that were not taken, as the search was stopped. One that
// was to be tried again is among them.
func (p *Fewest) Open() (n int) {
	if p.todo == nil {
		return 1
	}
	for _, list := range p.todo {
		n += len(list)
	}
	return n
}

// Complete is the number of preemptions up to which every schedule was run; -1:
// not even those without one, or all there are, or it is not known (Reduce).
func (p *Fewest) Complete() int {
	least := p.least
	for n, list := range p.todo {
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

// A sleep set names the turns that need not be taken at a state, because a
// schedule that begins with them is run elsewhere (Godefroid, "Partial-Order
// Methods for the Verification of Concurrent Systems", LNCS 1032, 1996, chapter 5).
// Removing a turn from it too early costs schedules, and loses none.
type sleepers []Option

// after is what still sleeps when a turn was taken.
func (z sleepers) after(o Option) (next sleepers) {
	for _, s := range z {
		if independent(s, o) {
			next = append(next, s)
		}
	}
	return next
}

// awake are the options that do not sleep.
func (z sleepers) awake(options []Option) (list []int) {
	for i, o := range options {
		if find(z, o.Choice) < 0 {
			list = append(list, i)
		}
	}
	return list
}
