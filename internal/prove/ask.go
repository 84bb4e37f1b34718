package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// answer asks a question.
func (b *bench) answer(ctx context.Context, q Question) (Cell, error) {
	if q.applies != nil {
		if why, err := q.applies(ctx, b); why != "" || err != nil {
			return Cell{Answer: NotAsked, Text: why}, err
		}
	}
	if q.ask != nil && q.premise == "" {
		return q.ask(b, ctx, 0)
	}
	processes, err := b.premise(ctx)
	switch {
	case err != nil:
		return Cell{}, err
	case processes == 0 && q.premise != "":
		return notAsked(q.premise)
	case processes == 1 && q.across != "":
		return notAsked(q.across)
	case q.ask != nil:
		return q.ask(b, ctx, processes)
	}
	c, err := b.search(ctx, q, q.scenarios(b, processes))
	if err != nil || c.Answer == Breaks || q.then == nil {
		return c, err
	}
	return q.then(b, ctx, c)
}

func notAsked(why string) (Cell, error) { return Cell{Answer: NotAsked, Text: why}, nil }

// QuestionIDs are those of all questions.
func QuestionIDs() (ids []string) {
	for _, q := range Questions() {
		ids = append(ids, q.ID)
	}
	return ids
}

// choose returns the questions with these ids, or all, in their order.
func choose(ids []string) ([]Question, error) {
	known := QuestionIDs()
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("there is no question %q, only %s", id, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(Questions(), func(q Question) bool { return ids != nil && !slices.Contains(ids, q.ID) }), nil
}

// Rules by which a schedule counts as broken.
func anyRule(string) bool { return true }

// notOverlap leaves two holders out: the question is whether the stock is right.
func notOverlap(rule string) bool {
	return !slices.Contains([]string{explore.RuleOverlap, explore.RuleStolen, explore.RuleKept}, rule)
}

// wrongStock: the ledger is wrong. That nothing was sold may be a death's doing,
// and that a lock stays behind is another question.
func wrongStock(rule string) bool {
	return explore.LedgerRule(rule) && rule != judge.RuleNothingSold
}

// atTheLock is two holders, or a lock that another has freed or renewed.
func atTheLock(rule string) bool { return !notOverlap(rule) }

// search runs a question's scenarios in turn. Behind the first broken schedule it goes on
// for other rules, with fewer schedules of each scenario.
func (b *bench) search(ctx context.Context, q Question, scenarios []*explore.Scenario) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	c, seen := Cell{Answer: Holds, Exhausted: true}, explore.Result{}
	broken := b.brokenRules(q.breaks)
	for _, s := range scenarios {
		s.MaxFaults = min(1, len(s.Faults)) // one thing goes wrong
		l := b.limits(broken)
		// Each command before which the first dies is a beginning of its own, and so is each moment at which one of many comes.
		if s.DiesFirst || len(s.Buyers) > 4 {
			l.Schedules, l.Random = 2*l.Schedules, 2*l.Random
		}
		// Overlaps of holders, and waits for each other, depend on the order of
		// commands to different servers, too.
		l.Reduce = !q.breaks(explore.RuleOverlap) && !slices.ContainsFunc(s.Buyers, func(b explore.Buyer) bool { return b.Other })
		res, err := w.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.add(res)
		seen.Faulty, seen.Renewed = seen.Faulty+res.Faulty, seen.Renewed+res.Renewed
		if q.nothing != nil && len(broken.list) == 0 {
			if why := q.nothing(b, seen); why != "" {
				return notAsked(why)
			}
		}
	}
	return b.verdict(ctx, q.ID, c, broken)
}

// limits of one search: the schedules with the fewest preemptions first, so
// many of them, then some at random. Each broken rule is noted.
func (b *bench) limits(broken *brokenRules) explore.Limits {
	broken.left = broken.behind
	return explore.Limits{Schedules: b.options.Schedules, Time: b.options.Budget,
		Random: b.options.Schedules / 4, Seed: b.options.Seed, Broken: broken.note}
}

// add adds a search's bounds to a cell.
func (c *Cell) add(r explore.Result) {
	c.Schedules += r.Schedules
	c.Random += r.Random
	c.Orders += r.Orders
	c.Cut += r.Cut
	c.Pruned += r.Pruned
	if r.Exhausted() {
		return
	}
	switch first := c.Exhausted; {
	case r.Preemptions < 0:
		c.Preemptions = nil
	case first || c.Preemptions != nil && r.Preemptions < *c.Preemptions:
		c.Preemptions = &r.Preemptions
	}
	c.Exhausted = false
}

// survived are the faults that a strategy survives, by the questions that asked.
var survived = []struct {
	question string
	faults   []explore.Fault
}{{"dead-holder", dies}, {"lease-end", ends}, {"lost-reply", lost}, {"late-command", late}}

// twoFaults draws schedules with two faults at random.
func (b *bench) twoFaults(ctx context.Context, processes int) (Cell, error) {
	var faults []explore.Fault
	for _, s := range survived {
		c, asked := b.cells[s.question]
		if !asked {
			q, err := choose([]string{s.question})
			if err == nil {
				c, err = b.answer(ctx, q[0])
			}
			if err != nil {
				return c, err
			}
		}
		if c.Answer == Holds {
			faults = append(faults, s.faults...)
		}
	}
	if len(faults) == 0 {
		return notAsked("it survives no single fault")
	}
	c, broken := Cell{Answer: Holds}, b.brokenRules(wrongStock)
	for _, second := range []explore.Does{explore.Buys, explore.Cancels} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true, Buyers: buyers(processes, explore.Buys, second), Faults: faults, MaxFaults: 2}
		l := b.limits(broken)
		l.Schedules, l.Random = 1, max(b.options.Schedules/2, 1)
		res, err := b.world.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.add(res)
	}
	return b.verdict(ctx, "two-faults", c, broken)
}
