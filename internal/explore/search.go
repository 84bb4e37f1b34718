package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A turn not taken yet: the choices up to it, and it. Prefixes share memory.
type turn struct {
	parent *turn
	choice Choice
	length int
	asleep sleepers // behind it
}

func (t *turn) choices() []Choice {
	if t == nil {
		return nil
	}
	list := make([]Choice, t.length)
	for ; t != nil; t = t.parent {
		list[t.length-1] = t.choice
	}
	return list
}

func (t *turn) then(c Choice) *turn {
	n := 1
	if t != nil {
		n = t.length + 1
	}
	return &turn{parent: t, choice: c, length: n}
}

// rehearse runs one schedule for nothing: the first that a Redis sees is another,
// because it has yet to learn the scripts.
func (w *World) rehearse(ctx context.Context, s *Scenario) error {
	if _, err := w.play(ctx, s, false, undisturbed); err != nil {
		return fmt.Errorf("before the first schedule of %q: %w", s.Name, err)
	}
	return nil
}

// Search runs the schedules of s within the limits, those with the fewest
// preemptions first. It fails when a server does, or when ctx ends; what was
// found so far is returned, too.
func (w *World) Search(ctx context.Context, s *Scenario, l Limits) (Result, error) {
	if err := w.check(s); err != nil {
		return Result{}, err
	}
	if err := w.rehearse(ctx, s); err != nil {
		return Result{}, err
	}
	begun := time.Now()
	res := Result{Preemptions: -1, Rules: map[string]*Schedule{}}
	// todo[n] holds the turns whose schedules have n preemptions at least.
	todo := [][]*turn{{nil}}
	take := func() (*turn, int) {
		for n := range todo {
			if len(todo[n]) > 0 && (l.Preemptions < 0 || n <= l.Preemptions) {
				t := todo[n][0]
				todo[n] = todo[n][1:]
				return t, n
			}
		}
		return nil, -1
	}
	stopped := func() bool {
		return l.Schedules > 0 && res.Schedules >= l.Schedules || l.Time > 0 && time.Since(begun) >= l.Time ||
			res.First != nil && !l.All
	}
	left := math.MaxInt // fewest preemptions of a schedule that was not run
	for !stopped() {
		t, n := take()
		if n < 0 {
			break
		}
		add := func(at *turn, o option, preemptions int, asleep sleepers) {
			if o.preempts {
				preemptions++
			}
			for len(todo) <= preemptions {
				todo = append(todo, nil)
			}
			next := at.then(o.Choice)
			next.asleep = asleep
			todo[preemptions] = append(todo[preemptions], next)
		}
		schedule, err := w.attempt(ctx, s, t, l.Reduce, add)
		switch {
		case errors.Is(err, errSame):
			res.Pruned++
			continue
		case errors.Is(err, ErrDiverged):
			res.Diverged++
			res.Cut++
			left = min(left, n)
			continue
		case err != nil:
			return res, fmt.Errorf("after %d schedules of %q: %w", res.Schedules, s.Name, err)
		}
		res.count(schedule, l)
	}
	open := 0
	for n := range todo {
		open += len(todo[n])
		if len(todo[n]) > 0 {
			left = min(left, n)
		}
	}
	res.Cut += open
	if left < math.MaxInt && !l.Reduce {
		res.Preemptions = left - 1
	}
	if open == 0 || res.First != nil && !l.All || l.Random == 0 {
		return res, nil
	}
	return res, w.random(ctx, s, l, &res)
}

func (res *Result) count(o *Schedule, l Limits) {
	res.Schedules++
	if l.Seen != nil {
		l.Seen(o)
	}
	if o.Faulty() {
		res.Faulty++
	}
	if slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Renewer }) {
		res.Renewed++
	}
	broken := false
	for _, p := range o.Problems {
		if res.Rules[p.Rule] == nil {
			res.Rules[p.Rule] = o
		}
		broken = broken || l.Stop == nil || l.Stop(p.Rule)
	}
	if !broken {
		return
	}
	res.Broken++
	if res.First == nil {
		res.First = o
	}
}

// check says why a strategy cannot do what a scenario asks for.
func (w *World) check(s *Scenario) error {
	for _, b := range s.Buyers {
		if check := doings[b.Does].check; check != nil {
			if err := check(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// errSame ends a schedule that another one is the same as.
var errSame = errors.New("another schedule is the same")

func undisturbed([]option, int) (int, error) { return 0, nil }

// attempt runs the schedule that t begins. Servers are asked a second and a third
// time when they do not repeat themselves.
func (w *World) attempt(
	ctx context.Context, s *Scenario, t *turn, reduce bool, add func(*turn, option, int, sleepers),
) (o *Schedule, err error) {
	for range 3 {
		type other struct {
			at          *turn
			o           option
			preemptions int
			asleep      sleepers
		}
		var others []other
		at := 0
		prefix, here := t.choices(), (*turn)(nil)
		var asleep sleepers
		if t != nil {
			asleep = t.asleep
		}
		o, err = w.play(ctx, s, false, func(options []option, preemptions int) (int, error) {
			var i int
			if at < len(prefix) {
				i = slices.IndexFunc(options, func(o option) bool { return o.Choice == prefix[at] })
				if i < 0 {
					return 0, fmt.Errorf("%w: step %d is %s's, and there is only %v", ErrDiverged, at+1, prefix[at], options)
				}
			} else {
				if options[0].forced {
					asleep = nil
				}
				awake := asleep.awake(options)
				if len(awake) == 0 {
					return 0, errSame
				}
				i = awake[0]
				before := asleep
				asleep = before.after(options[i])
				if reduce {
					before = append(slices.Clone(before), options[i])
				}
				for _, n := range awake[1:] {
					others = append(others, other{here, options[n], preemptions, before.after(options[n])})
					if reduce {
						before = append(slices.Clone(before), options[n])
					}
				}
			}
			at++
			here = here.then(options[i].Choice)
			return i, nil
		})
		if err == nil || errors.Is(err, errSame) {
			for _, x := range others {
				add(x.at, x.o, x.preemptions, x.asleep)
			}
		}
		if !errors.Is(err, ErrDiverged) {
			return o, err
		}
	}
	return o, err
}

// random runs schedules that are drawn at random. A thread goes on more often
// than not, as few bugs need many preemptions; faults are one in eight of the
// choices, and a second one is likely to come soon after the first.
func (w *World) random(ctx context.Context, s *Scenario, l Limits, res *Result) error {
	rng := rand.New(rand.NewPCG(l.Seed, 1))
	for begun := time.Now(); res.Random < l.Random && (res.First == nil || l.All) && (l.Time == 0 || time.Since(begun) < l.Time); {
		rare := 8
		o, err := w.play(ctx, s, false, func(options []option, _ int) (int, error) {
			turns := slices.IndexFunc(options, func(o option) bool { return o.Fault != "" })
			if turns < 0 {
				turns = len(options)
			}
			if turns == 0 || turns < len(options) && rng.IntN(rare) == 0 {
				rare = 3
				return turns + rng.IntN(len(options)-turns), nil
			}
			if rng.IntN(3) > 0 {
				return 0, nil
			}
			return rng.IntN(turns), nil
		})
		if err != nil {
			return err
		}
		res.Random++
		res.count(o, l)
	}
	return nil
}

// Again runs one schedule, choice by choice, and looks at the servers' values
// after each step. ErrDiverged when the strategy does something else by now.
func (w *World) Again(ctx context.Context, s *Scenario, choices []Choice) (o *Schedule, err error) {
	for range 3 {
		at := 0
		o, err = w.play(ctx, s, true, func(options []option, _ int) (int, error) {
			if at >= len(choices) {
				return 0, nil
			}
			i := slices.IndexFunc(options, func(o option) bool { return o.Choice == choices[at] })
			if i < 0 {
				return 0, fmt.Errorf("%w: step %d should be %s's, and there is only %v", ErrDiverged, at+1, choices[at], options)
			}
			at++
			return i, nil
		})
		if !errors.Is(err, ErrDiverged) {
			break
		}
	}
	return o, err
}

// Choices are the choices that a schedule was made of.
func (o *Schedule) Choices() (list []Choice) {
	for _, s := range o.Steps {
		if s.chosen {
			list = append(list, s.Choice)
		}
	}
	return list
}

// Shorten finds the fewest choices that still break a rule that counts when
// all go on undisturbed after them, and shows the values after each
// step.
func (w *World) Shorten(ctx context.Context, o *Schedule, counts func(rule string) bool) (*Schedule, error) {
	choices := o.Choices()
	for n := range choices {
		shorter, err := w.Again(ctx, o.Scenario, choices[:n])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(shorter.Problems, func(p Problem) bool { return counts(p.Rule) }) {
			return shorter, nil
		}
	}
	return w.Again(ctx, o.Scenario, choices)
}
