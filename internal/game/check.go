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
	// Holds: it is a choice of an exercise that is said to hold.
	Holds bool
}

// A Checker checks levels.
type Checker struct {
	Servers    backend.Config
	Strategies []catalog.Info // and variants, for exercises
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
	} else if !t.Impossible {
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

// search has the explorer run all schedules, or until one breaks.
func (c Checker) search(ctx context.Context, info catalog.Info, t *Task, f *Finding) error {
	limits := explore.Limits{Preemptions: -1, Reduce: t.Impossible, Time: c.Time}
	h, err := searchFor(ctx, c.Servers, info, t.Setting, t.Breaks, limits)
	if err != nil {
		return err
	}
	f.Schedules, f.Found, f.FoundMoves, f.FoundSwitches = h.schedules, schedule(h.found), len(h.found), h.switches
	switch {
	case t.Impossible && h.found != nil:
		f.Wrong = "it is said to be impossible, and the explorer breaks it"
	case t.Impossible && !h.complete:
		f.Wrong = fmt.Sprintf("it is said to be impossible, and after %d schedules %d turns were not taken: give more time", h.schedules, h.cut)
	case !t.Impossible && h.found == nil && t.Solution == "":
		f.Wrong = fmt.Sprintf("the explorer finds no solution in %d schedules", h.schedules)
	}
	return nil
}

// CheckDefence attacks the hole and every choice of an exercise. Each must break,
// or hold, as its file says. Choices that hold are searched with Search only.
func (c Checker) CheckDefence(ctx context.Context, p *Post) (list []Finding, err error) {
	for _, name := range p.Names() {
		f := Finding{Level: p.Name + "/" + name, Holds: p.Holds(name)}
		i := slices.IndexFunc(c.Strategies, func(i catalog.Info) bool { return i.Name == p.Variant(name) })
		if i < 0 {
			f.Wrong = fmt.Sprintf("there is no variant %q", p.Variant(name))
		} else if _, err := p.code(c.Strategies, name); err != nil {
			f.Wrong = err.Error()
		} else if why := Missing(c.Servers, c.Strategies[i]); why != nil {
			f.Wrong = "it cannot be attacked here: " + why[0]
		} else if !f.Holds || c.Search {
			if err := c.attack(ctx, c.Strategies[i], p, name, &f); err != nil {
				return list, fmt.Errorf("%s: %w", f.Level, err)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

func (c Checker) attack(ctx context.Context, info catalog.Info, p *Post, choice string, f *Finding) error {
	h, err := searchFor(ctx, c.Servers, info, p.On(choice), p.Breaks, p.limits(c.Time))
	if err != nil {
		return err
	}
	f.Schedules, f.Found, f.FoundMoves, f.FoundSwitches = h.schedules, schedule(h.found), len(h.found), h.switches
	switch {
	case f.Holds && h.found != nil:
		f.Wrong = fmt.Sprintf("it is said to hold, and the explorer breaks %v by %s", h.rules, f.Found)
	case f.Holds && !h.complete:
		f.Wrong = fmt.Sprintf("it is said to hold, and after %d schedules %d turns were not taken: give more time", h.schedules, h.cut)
	case !f.Holds && h.found == nil:
		f.Wrong = fmt.Sprintf("it is said to break, and nothing breaks it in %d schedules", h.schedules)
	}
	return nil
}
