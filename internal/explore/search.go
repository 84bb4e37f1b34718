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

// Limits bound a search. Zero means no limit.
type Limits struct {
	Schedules int           // the maximum number of schedules that are not drawn at random
	Time      time.Duration // the maximum time for schedules that are not random, and as much again for random ones
	Reduce    bool          // equivalent schedules are left out (see policy.Fewest.Reduce)
	// Random is the number of schedules to draw at random (from Seed) if Schedules or Time ended the search before
	// every schedule was run.
	Random int
	Seed   uint64
	// Stop reports whether a schedule ends the search. If Stop is nil, any problem ends it.
	Stop func(*Schedule) bool
}

// Bounds say which schedules of one or several searches were run.
type Bounds struct {
	// Schedules is the number of schedules that were run to their end. Random is how many of them
	// were drawn at random.
	Schedules int `json:"schedules,omitempty"`
	Random    int `json:"random,omitempty"`
	// Orders is the number of different sequences of conflicting commands (policy.Order); 0 if these were not counted.
	// Schedules with the same sequence of conflicting commands end in the same state.
	Orders    int  `json:"orders,omitempty"`
	Exhausted bool `json:"exhausted,omitempty"` // every schedule was run
	// Preemptions is the largest number n for which every schedule with at most n preemptions was run. It is nil if all
	// schedules were run, if one without preemptions was not run, or if Limits.Reduce makes n unknown.
	Preemptions *int `json:"preemptions,omitempty"`
	// NotRun counts the beginnings of schedules that were not run, because a limit was reached or because the servers
	// behaved differently when the beginning was repeated.
	NotRun int `json:"cut,omitempty"`
	Pruned int `json:"pruned,omitempty"` // schedules that were stopped early, because another one is equivalent
}

// Add adds the bounds of another search to b.
func (b *Bounds) Add(o Bounds) {
	b.Schedules += o.Schedules
	b.Random += o.Random
	b.Orders += o.Orders
	b.NotRun += o.NotRun
	b.Pruned += o.Pruned
	noneCutSoFar := b.Exhausted
	b.Exhausted = b.Exhausted && o.Exhausted
	switch {
	case o.Exhausted:
	case noneCutSoFar, o.Preemptions == nil, b.Preemptions != nil && *o.Preemptions < *b.Preemptions:
		b.Preemptions = o.Preemptions
	}
}

// A Result is the result of a search.
type Result struct {
	Bounds
	Disturbed int       // the number of schedules with a fault, or with a step of a renewer
	StoppedAt *Schedule // the schedule that ended the search (Limits.Stop), or nil

	seenOrders map[string]bool // the results of policy.Order; Bounds.Orders is their number
}

// ErrDiverged means that a choice of a replayed schedule is not possible any more.
var ErrDiverged = policy.ErrDiverged

// Search runs the schedules of s within the limits. First it runs all schedules one by one, those with the fewest
// preemptions first. If a limit ends this part, Search draws Limits.Random schedules at random. If a server fails or
// ctx ends, Search returns the result so far with an error.
func (w *World) Search(ctx context.Context, s *Scenario, l Limits) (Result, error) {
	res := Result{seenOrders: map[string]bool{}}
	if err := w.warmUp(ctx, s); err != nil {
		return res, err
	}
	fewest := &policy.Fewest{Reduce: l.Reduce}
	err := w.playAll(ctx, s, fewest, l, &res)
	open := fewest.Pending()
	res.Pruned, res.NotRun = fewest.Redundant, open+fewest.Diverged
	res.Exhausted = res.NotRun == 0
	if n := fewest.CompleteUpTo(); n >= 0 {
		res.Preemptions = &n
	}
	if err != nil || open == 0 || l.Random == 0 {
		return res, err
	}
	inOrder := res.Schedules
	l.Schedules = l.Random
	err = w.playAll(ctx, s, policy.NewRandom(rand.New(rand.NewPCG(l.Seed, 1))), l, &res)
	res.Random = res.Schedules - inOrder
	return res, err
}

// playAll plays the schedules that p chooses until one of them ends the search (Limits.Stop), l.Time has passed, or
// l.Schedules were played. A limit of 0 is no limit.
func (w *World) playAll(ctx context.Context, s *Scenario, p policy.Policy, l Limits, res *Result) error {
	begun, before := time.Now(), res.Schedules
	for res.StoppedAt == nil && (l.Schedules == 0 || res.Schedules-before < l.Schedules) &&
		(l.Time == 0 || time.Since(begun) < l.Time) && p.Begin() {
		var taken []policy.Option
		schedule, err := w.play(ctx, s, false, func(options []policy.Option) (int, error) {
			i, err := p.Choose(options)
			if err == nil {
				taken = append(taken, options[i])
			}
			return i, err
		})
		p.End(err)
		switch {
		case err == nil:
			res.seenOrders[policy.Order(taken)] = true
			res.count(schedule, l)
		case !errors.Is(err, policy.ErrRedundant) && !errors.Is(err, ErrDiverged):
			return fmt.Errorf("after %d schedules of %q: %w", res.Schedules, s.Name, err)
		}
	}
	return nil
}

// warmUp runs and discards one schedule without faults, before all other schedules of a scenario. A
// Redis server that has not loaded our scripts answers NOSCRIPT, which would change the first
// schedule. warmUp returns ErrDiverged if the strategy cannot perform the action of a buyer.
func (w *World) warmUp(ctx context.Context, s *Scenario) error {
	if w.warmedUp == s {
		return nil
	}
	for _, b := range s.Buyers {
		if can := actorKinds[b.Action].supports; can != nil && !can(w.info) {
			return fmt.Errorf("%w: %s has nothing for a buyer who %s", ErrDiverged, w.info.Name, b.Action)
		}
	}
	plain := *s
	plain.Faults = nil
	if _, err := w.play(ctx, &plain, false, policy.Replay(nil)); err != nil {
		return fmt.Errorf("before the first schedule of %q: %w", s.Name, err)
	}
	w.warmedUp = s
	return nil
}

func (res *Result) count(schedule *Schedule, l Limits) {
	res.Schedules++
	res.Orders = len(res.seenOrders)
	if schedule.Faulty() || slices.ContainsFunc(schedule.Steps, func(s Step) bool { return s.Renewer }) {
		res.Disturbed++
	}
	if l.Stop == nil && len(schedule.Problems) > 0 || l.Stop != nil && l.Stop(schedule) {
		res.StoppedAt = schedule
	}
}

// Replay runs one schedule again, choice by choice, and reads the servers' values after each step. If a choice is not
// possible any more, the error is ErrDiverged and names the step. Servers do not always behave the same way, so Replay
// tries three times. A schedule that loses a node is tried once.
func (w *World) Replay(ctx context.Context, s *Scenario, choices []Choice) (schedule *Schedule, err error) {
	if err := w.warmUp(ctx, s); err != nil {
		return nil, err
	}
	// A replay does not choose TimePasses, which happens by itself whenever no actor can continue.
	choices = slices.DeleteFunc(slices.Clone(choices), func(c Choice) bool { return c.Fault == TimePasses })
	for range 3 {
		schedule, err = w.play(ctx, s, true, policy.Replay(choices))
		if err == nil && len(schedule.Choices()) < len(choices) {
			err = fmt.Errorf("%w: all have finished after %d moves of %d",
				ErrDiverged, len(schedule.Choices()), len(choices))
		}
		if !errors.Is(err, ErrDiverged) || w.options.Node != nil {
			break
		}
	}
	return schedule, err
}

// Choices returns the choices of a schedule. It leaves out the steps of the last buyer (NextBuyer), which
// runs alone, so that there is nothing to choose.
func (s *Schedule) Choices() []Choice {
	var list []Choice
	for _, step := range s.Steps {
		if step.isChosen() && step.Who != NextBuyer {
			list = append(list, step.Choice)
		}
	}
	return list
}

// Breaks reports whether the schedule broke a rule for which the function inScope returns true.
func (s *Schedule) Breaks(inScope func(rule string) bool) bool {
	return slices.ContainsFunc(s.Problems, func(p Problem) bool { return inScope(p.Rule) })
}

// Shorten removes choices from schedule as long as it still breaks a rule for which inScope returns true, and needs no
// more preemptions than before. After the choices that are left, all actors run undisturbed. The result also records
// the servers' values after each step.
func (w *World) Shorten(ctx context.Context, schedule *Schedule, inScope func(rule string) bool) (*Schedule, error) {
	choices, err := policy.Shorten(schedule.Choices(), func(fewer []Choice) (bool, error) {
		shorter, err := w.play(ctx, schedule.Scenario, false, policy.Replay(fewer))
		if errors.Is(err, ErrDiverged) {
			return false, nil
		}
		return err == nil && shorter.Preemptions <= schedule.Preemptions && shorter.Breaks(inScope), err
	})
	if err != nil {
		return nil, err
	}
	return w.Replay(ctx, schedule.Scenario, choices)
}
