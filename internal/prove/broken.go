package prove

import (
	"context"
	"fmt"
	"slices"

	"seckill/internal/explore"
)

// A Finding is a rule that a strategy breaks, with a counterexample.
type Finding struct {
	Rule    string `json:"rule"`
	Text    string `json:"text,omitempty"`    // what went wrong, in words
	Example string `json:"example,omitempty"` // file name of the counterexample; several Findings may share it
}

// Breaks reports whether a counterexample of the cell breaks rule.
func (c Cell) Breaks(rule string) bool { return slices.Contains(c.rules(), rule) }

// rules returns all rules that the cell's counterexamples break, beginning with Cell.Rule.
func (c Cell) rules() []string {
	if c.Answer != Breaks {
		return nil
	}
	list := []string{c.Rule}
	for _, f := range c.Also {
		list = append(list, f.Rule)
	}
	return list
}

// brokenRules collects the rules that the schedules of some searches break, in the order of their
// discovery. Each rule has the first schedule that broke it.
type brokenRules struct {
	inScope func(rule string) bool // the rules that matter for the question
	list    []brokenRule
	// schedulesLeft is how many schedules the search may still run after the first broken one.
	schedulesLeft int
}

type brokenRule struct {
	rule     string
	schedule *explore.Schedule
}

// note adds the rules that s breaks and no earlier schedule broke. When enough schedules have run
// after the first broken one, note returns true, which stops the search.
func (r *brokenRules) note(s *explore.Schedule) bool {
	for _, p := range s.Problems {
		if r.inScope(p.Rule) && r.schedule(p.Rule) == nil {
			r.list = append(r.list, brokenRule{p.Rule, s})
		}
	}
	if len(r.list) > 0 {
		r.schedulesLeft--
	}
	return r.schedulesLeft < 0
}

func (r *brokenRules) schedule(rule string) *explore.Schedule {
	for _, b := range r.list {
		if b.rule == rule {
			return b.schedule
		}
	}
	return nil
}

// keepCounterexamples stores a counterexample for each broken rule. The first rule goes to Cell.Rule
// and Cell.Example, all other rules to Cell.Also. One counterexample may break several rules.
//
// A repeated schedule may fail to break its rule again. For the first rule this is an error. A later rule is then
// left out, because a counterexample that cannot be replayed is of no use.
func (t *trial) keepCounterexamples(ctx context.Context, question string, c Cell, broken *brokenRules) (Cell, error) {
	var found []Finding
	for _, r := range broken.list {
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == r.rule }) {
			continue
		}
		shown, err := t.world.Shorten(ctx, r.schedule, func(rule string) bool { return rule == r.rule })
		if err != nil {
			return c, fmt.Errorf("replay the counterexample of %s: %w", r.rule, err)
		}
		name := r.rule
		if found == nil {
			name = ""
		}
		i := slices.IndexFunc(shown.Problems, func(p explore.Problem) bool { return p.Rule == r.rule })
		switch {
		case i < 0 && found == nil:
			return c, fmt.Errorf("a schedule broke %s once and not again: its choices were %v",
				r.rule, r.schedule.Choices())
		case i < 0:
			continue
		}
		example, err := t.options.Example(t.info.Name, question, name, shown)
		if err != nil {
			return c, err
		}
		for _, p := range append([]explore.Problem{shown.Problems[i]}, shown.Problems...) {
			if broken.inScope(p.Rule) && !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == p.Rule }) {
				found = append(found, Finding{p.Rule, p.Message, example})
			}
		}
	}
	if found != nil {
		c.Answer, c.Exhausted, c.Also = Breaks, false, found[1:]
		c.Rule, c.Text, c.Example = found[0].Rule, found[0].Text, found[0].Example
	}
	return c, nil
}
