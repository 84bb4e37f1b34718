package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"seckill/internal/explore/policy"
)

// Limits bound a search. The zero value is no limit.
type Limits struct {
	Schedules int           // stop after so many
	Time      time.Duration // for the schedules in order, and as long again for those at random
	Reduce    bool          // as policy.Fewest's
	// Random are drawn at random from Seed when Schedules were not all there are.
	Random int
	Seed   uint64
	// Broken says which schedules are: the first ends the search. Nil: those with a problem.
	Broken func(*Schedule) bool
}

// A Result is what a search found.
type Result struct {
	Schedules int // run to their end
	Random    int // of them drawn at random
	Orders    int // in which their conflicting commands came
	// Preemptions: all schedules with at most so many were run. -1: not even those
	// without one, or it is not known (Limits.Reduce), or all were run (Exhausted).
	Preemptions int
	// Cut counts turns that were not taken: the limits came first, or the servers
	// did not repeat themselves.
	Cut     int
	Pruned  int       // left off in the middle: another schedule is the same
	Faulty  int       // schedules in which a fault happened
	Renewed int       // in which a renewer acted
	First   *Schedule // the first broken schedule

	orders map[string]bool // that Orders counts
}

// Exhausted: there is no schedule that was not run.
func (r Result) Exhausted() bool { return r.Cut == 0 }

// ErrDiverged: a replay met another command than the one it was made of.
var ErrDiverged = policy.ErrDiverged

// Search runs the schedules of s within the limits: all, those with the fewest
// preemptions first, then some that are drawn at random. It fails when a server
// does, or when ctx ends; what was found so far is returned, too.
func (w *World) Search(ctx context.Context, s *Scenario, l Limits) (res Result, err error) {
	res = Result{Preemptions: -1, orders: map[string]bool{}}
	if err := w.rehearse(ctx, s); err != nil {
		return res, err
	}
	fewest := &policy.Fewest{Reduce: l.Reduce}
	err = w.playAll(ctx, s, fewest, l, l.Schedules, &res)
	open := fewest.Open()
	res.Pruned, res.Cut, res.Preemptions = fewest.Same, open+fewest.Diverged, fewest.Complete()
	if err != nil || open == 0 || l.Random == 0 {
		return res, err
	}
	inOrder := res.Schedules
	err = w.playAll(ctx, s, policy.NewRandom(rand.New(rand.NewPCG(l.Seed, 1))), l, l.Random, &res)
	res.Random = res.Schedules - inOrder
	return res, err
}

// playAll plays the schedules that a policy chooses, so many at most (0: all), until one
// is broken or its time is up.
func (w *World) playAll(ctx context.Context, s *Scenario, p policy.Policy, l Limits, most int, res *Result) error {
	begun, had := time.Now(), res.Schedules
	for res.First == nil && (most == 0 || res.Schedules-had < most) && (l.Time == 0 || time.Since(begun) < l.Time) && p.Begin() {
		var taken []policy.Option
		schedule, err := w.play(ctx, s, false, func(options []policy.Option, preemptions int) (int, error) {
			i, err := p.Choose(options, preemptions)
			if err == nil {
				taken = append(taken, options[i])
			}
			return i, err
		})
		p.End(err)
		switch {
		case err == nil:
			res.orders[policy.Order(taken)] = true
			res.count(schedule, l)
		case !errors.Is(err, policy.ErrSame) && !errors.Is(err, ErrDiverged):
			return fmt.Errorf("after %d schedules of %q: %w", res.Schedules, s.Name, err)
		}
	}
	return nil
}

// rehearse runs one schedule for nothing, and without a fault, before others of a
// scenario: the first that a Redis sees is another, because it has yet to learn the
// scripts. ErrDiverged: the strategy has nothing for one of the buyers.
func (w *World) rehearse(ctx context.Context, s *Scenario) error {
	if w.rehearsed == s {
		return nil
	}
	for _, b := range s.Buyers {
		if can := actorKinds[b.Does].can; can != nil && !can(w.info) {
			return fmt.Errorf("%w: %s has nothing for a buyer who %s", ErrDiverged, w.info.Name, b.Does)
		}
	}
	w.waited = map[string]bool{}
	plain := *s
	plain.Faults = nil
	if _, err := w.play(ctx, &plain, false, (&policy.Replay{}).Choose); err != nil {
		return fmt.Errorf("before the first schedule of %q: %w", s.Name, err)
	}
	w.rehearsed = s
	return nil
}

func (res *Result) count(schedule *Schedule, l Limits) {
	res.Schedules++
	res.Orders = len(res.orders)
	if schedule.Faulty() {
		res.Faulty++
	}
	if slices.ContainsFunc(schedule.Steps, func(s Step) bool { return s.Renewer }) {
		res.Renewed++
	}
	if l.Broken == nil && len(schedule.Problems) > 0 || l.Broken != nil && l.Broken(schedule) {
		res.First = schedule
	}
}

// Again runs one schedule, choice by choice, and looks at the servers' values
// after each step. ErrDiverged says at which step a choice cannot be made any more: servers
// do not always repeat themselves, so it is tried three times, unless a node is lost in it.
func (w *World) Again(ctx context.Context, s *Scenario, choices []Choice) (schedule *Schedule, err error) {
	if err := w.rehearse(ctx, s); err != nil {
		return nil, err
	}
	// Time passes by itself here, whenever no actor can go on.
	choices = slices.DeleteFunc(slices.Clone(choices), func(c Choice) bool { return c.Fault == TimePasses })
	for range 3 {
		schedule, err = w.play(ctx, s, true, (&policy.Replay{Choices: choices}).Choose)
		if err == nil && len(schedule.Choices()) < len(choices) {
			err = fmt.Errorf("%w: all have finished after %d moves of %d", ErrDiverged, len(schedule.Choices()), len(choices))
		}
		if !errors.Is(err, ErrDiverged) || w.options.Node != nil {
			break
		}
	}
	return schedule, err
}

// Choices are those that a schedule was made of, before the next buyer came: that is
// no choice, and that buyer is alone.
func (s *Schedule) Choices() (list []Choice) {
	for _, step := range s.Steps {
		if step.chosen() && step.Who != NextBuyer {
			list = append(list, step.Choice)
		}
	}
	return list
}

// Breaks reports whether the schedule broke a rule that counts.
func (s *Schedule) Breaks(counts func(rule string) bool) bool {
	return slices.ContainsFunc(s.Problems, func(p Problem) bool { return counts(p.Rule) })
}

// Shorten finds fewer choices, and no more preemptions, that still break a rule that
// counts when all go on undisturbed after them, and shows the values after each step.
func (w *World) Shorten(ctx context.Context, schedule *Schedule, counts func(rule string) bool) (*Schedule, error) {
	choices, err := policy.Shorten(schedule.Choices(), func(fewer []Choice) (bool, error) {
		shorter, err := w.play(ctx, schedule.Scenario, false, (&policy.Replay{Choices: fewer}).Choose)
		if errors.Is(err, ErrDiverged) {
			return false, nil
		}
		return err == nil && shorter.Preemptions <= schedule.Preemptions && shorter.Breaks(counts), err
	})
	if err != nil {
		return nil, err
	}
	return w.Again(ctx, schedule.Scenario, choices)
}
