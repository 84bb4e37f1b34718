package game

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// A Finding is what `seckill level check` found out about a level.
type Finding struct {
	Level string
	// Wrong says what does not fit; "": the level is as its file says.
	Wrong string
	// Moves and Switches are the solution's.
	Moves, Switches int
	// Found is the explorer's own solution, "" if it was not asked for one or
	// found none.
	Found                     string
	FoundMoves, FoundSwitches int
	// Schedules is how many the explorer ran.
	Schedules int
}

// A Checker checks levels.
type Checker struct {
	Servers    backend.Config
	Strategies []catalog.Info
	// Search runs the explorer, too: levels that are impossible are exhausted, and
	// the others' shortest solutions are found.
	Search bool
	// Time bounds the search of one level; 0: no bound.
	Time time.Duration
}

// Check plays a level's solution, or shows that there is none. The error is the
// servers'.
func (c Checker) Check(ctx context.Context, t *Task) (f Finding, err error) {
	f.Level = t.Name
	i := slices.IndexFunc(c.Strategies, func(i catalog.Info) bool { return i.Name == t.Setting.Strategy })
	if i < 0 {
		f.Wrong = fmt.Sprintf("there is no strategy %q", t.Setting.Strategy)
		return f, nil
	}
	info := c.Strategies[i]
	if why := Missing(c.Servers, info); why != nil {
		f.Wrong = "it cannot be played here: " + why[0]
		return f, nil
	}
	if t.Solution != "" {
		if err := c.play(ctx, info, t, &f); err != nil || f.Wrong != "" {
			return f, err
		}
	} else if t.Impossible == 0 {
		f.Wrong = "it has no solution, and is not said to be impossible"
	}
	if !c.Search {
		return f, nil
	}
	return f, c.search(ctx, info, t, &f)
}

// play plays the solution.
func (c Checker) play(ctx context.Context, info catalog.Info, t *Task, f *Finding) error {
	g, err := Open(ctx, c.Servers, info, t.Setting, t, t.Solution)
	var mistake *Mistake
	if errors.As(err, &mistake) {
		f.Wrong = mistake.Detail
		return nil
	}
	if err != nil {
		return err
	}
	s := g.State()
	if err := g.Close(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	f.Moves, f.Switches = s.MovesMade, s.Switches
	switch {
	case !s.Over:
		f.Wrong = fmt.Sprintf("after its solution not all buyers are done: the next move could be %s", s.Moves[0].Move)
	case !t.won(s):
		f.Wrong = fmt.Sprintf("its solution breaks none of %v: the judge says %v", t.Breaks, s.Verdict.Problems)
	case s.Switches != t.Switches:
		f.Wrong = fmt.Sprintf("its solution has %d switches, and its file says %d", s.Switches, t.Switches)
	}
	return nil
}

// search has the explorer run all schedules, or until one breaks what the level
// names, which it shortens. It has a database of its own.
func (c Checker) search(ctx context.Context, info catalog.Info, t *Task, f *Finding) (err error) {
	p, err := openPlace(ctx, c.Servers, info, nil)
	if err != nil {
		return err
	}
	defer func() {
		if left := p.leave(ctx); err == nil {
			err = left
		}
	}()
	breaks := func(rule string) bool { return slices.Contains(t.Breaks, rule) }
	res, err := p.world.Search(ctx, &t.Setting.Scenario, explore.Limits{Preemptions: -1, Reduce: t.Impossible > 0, Time: c.Time, Stop: breaks})
	if err != nil {
		return err
	}
	f.Schedules = res.Schedules
	if res.First != nil {
		shortest, err := p.world.Shorten(ctx, res.First, breaks)
		if err != nil {
			return err
		}
		view, made, err := p.byHand(ctx, &t.Setting.Scenario, shortest.Choices())
		if err != nil {
			return err
		}
		f.Found, f.FoundMoves, f.FoundSwitches = explore.FormatSchedule(made...), len(made), view.Preemptions
	}
	switch {
	case t.Impossible > 0 && res.First != nil:
		f.Wrong = "it is said to be impossible, and the explorer breaks it"
	case t.Impossible > 0 && !res.Exhausted():
		f.Wrong = fmt.Sprintf("it is said to be impossible, and after %d schedules %d turns were not taken: give more time", res.Schedules, res.Cut)
	case t.Impossible > 0 && res.Schedules != t.Impossible:
		f.Wrong = fmt.Sprintf("it is impossible: all %d schedules were run, and its file says %d", res.Schedules, t.Impossible)
	case t.Impossible == 0 && res.First == nil && t.Solution == "":
		f.Wrong = fmt.Sprintf("the explorer finds no solution in %d schedules", res.Schedules)
	}
	return nil
}
