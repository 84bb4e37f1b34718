package prove

import (
	"context"
	"fmt"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// answerQuestion asks the question q about the strategy and returns the answer:
//
//  1. A question that does not apply to the strategy, or whose servers are missing, is not asked.
//  2. A measurement that makes sense even for a broken strategy is made at once.
//  3. The scenarios without faults are searched, unless an earlier question has done so (faultless.go).
//  4. If the strategy breaks in these scenarios, the question is not asked. If it breaks only across processes, the
//     question may still be asked with buyers in one process.
//  5. The question's own scenarios are searched, or its function ask is called.
//  6. If nothing breaks the strategy, the question's function followUp may add a measurement to the answer.
func (t *trial) answerQuestion(ctx context.Context, q Question) (Cell, error) {
	if missing := t.missingBackend(); missing != "" {
		return notAsked(missing)
	}
	if err := t.openWorld(ctx); err != nil {
		return Cell{}, err
	}
	if q.applies != nil {
		if why, err := q.applies(ctx, t); why != "" || err != nil {
			return Cell{Answer: NotAsked, Text: why}, err
		}
	}
	if q.ask != nil && q.premise == "" {
		return q.ask(ctx, t)
	}
	var err error
	t.processes, err = t.soundProcesses(ctx)
	switch {
	case err != nil:
		return Cell{}, err
	case t.processes == 0 && q.premise != "":
		return notAsked(q.premise)
	case t.processes == 1 && q.across != "":
		return notAsked(q.across)
	case q.ask != nil:
		return q.ask(ctx, t)
	}
	c, err := t.search(ctx, q, q.scenarios(t))
	if err != nil || c.Answer == Breaks || q.followUp == nil {
		return c, err
	}
	return q.followUp(ctx, t, c)
}

func notAsked(why string) (Cell, error) { return Cell{Answer: NotAsked, Text: why}, nil }

func anyRule(string) bool { return true }

// notOverlap reports whether a rule is about something other than the lock. Questions about the stock use it.
func notOverlap(rule string) bool {
	return !slices.Contains([]string{explore.RuleOverlap, explore.RuleStolen, explore.RuleKept}, rule)
}

// wrongStock reports whether a rule is about sales. It leaves out RuleNothingSold, because the
// buyer that dies may be the only buyer that could buy.
func wrongStock(rule string) bool {
	return explore.LedgerRule(rule) && rule != judge.RuleNothingSold
}

// aboutLock reports whether a rule is about the lock: two holders, or a lock that another buyer has freed or renewed.
func aboutLock(rule string) bool { return !notOverlap(rule) }

// search searches the scenarios of a question. After the first schedule that breaks a rule, it runs only a limited
// number of further schedules in each scenario, to find other rules that the strategy breaks.
func (t *trial) search(ctx context.Context, q Question, scenarios []*explore.Scenario) (Cell, error) {
	c, disturbed := Cell{Answer: Holds, Bounds: explore.Bounds{Exhausted: true}}, 0
	broken := &brokenRules{inScope: q.breaks}
	scenarios = present(scenarios)
	if len(scenarios) == 0 {
		return notAsked(q.notSeen)
	}
	for _, s := range scenarios {
		s.MaxFaults = min(1, len(s.Faults)) // a schedule has at most one fault
		l := t.searchLimits(broken)
		factor := scheduleFactor(s)
		l.Schedules, l.Random = factor*l.Schedules, factor*l.Random
		// Whether two holders overlap, or buyers wait for each other, also depends on the order of
		// commands to different servers, which a reduced search ignores.
		l.Reduce = !q.breaks(explore.RuleOverlap) &&
			!slices.ContainsFunc(s.Buyers, func(b explore.Buyer) bool { return b.Other })
		res, err := t.world.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.Add(res.Bounds)
		disturbed += res.Disturbed
		if q.notSeen != "" && len(broken.list) == 0 && disturbed == 0 {
			return notAsked(q.notSeen)
		}
	}
	return t.keepCounterexamples(ctx, q.ID, c, broken)
}

// scheduleFactor returns the factor by which Options.Schedules is multiplied for a scenario. It is above 1 if a fault
// or an arrival has many possible moments. This is so if the first buyer dies before any of its commands, many buyers
// start, a clock jumps, or a fault hits any command of a call that is repeated twice.
func scheduleFactor(s *explore.Scenario) int {
	repeated := func(b explore.Buyer) bool { return b.Again > 1 }
	switch {
	case s.DiesFirst, len(s.Buyers) > 4, slices.Contains(s.Faults, explore.ClockJumps):
		return 3
	case len(s.Faults) > 0 && slices.ContainsFunc(s.Buyers, repeated):
		return 2
	}
	return 1
}

// present returns the scenarios that are not nil. A nil scenario does not apply to the strategy.
func present(scenarios []*explore.Scenario) []*explore.Scenario {
	return slices.DeleteFunc(scenarios, func(s *explore.Scenario) bool { return s == nil })
}

// searchLimits returns the limits of one search. The search first runs Options.Schedules schedules, those with the
// fewest preemptions first, and then some at random. It adds the rules that they break to the parameter broken. After
// the first schedule that breaks a rule, the search runs at most half as many more.
func (t *trial) searchLimits(broken *brokenRules) explore.Limits {
	broken.schedulesLeft = max(t.options.Schedules/2, 1)
	return explore.Limits{Schedules: t.options.Schedules, Time: t.options.Budget,
		Random: t.options.Schedules / 3, Seed: t.options.Seed, Stop: broken.note}
}

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
	inScope func(rule string) bool // returns true for a rule that matters for the question
	list    []brokenRule
	// schedulesLeft is how many schedules the search may still run after the first one that broke a rule.
	schedulesLeft int
}

type brokenRule struct {
	rule     string
	schedule *explore.Schedule
}

// note adds the rules that s breaks and no earlier schedule broke. When enough schedules have run after the first one
// that broke a rule, note returns true, which stops the search.
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
