package prove

import (
	"context"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// answerQuestion asks a question and returns its cell.
func (t *trial) answerQuestion(ctx context.Context, q Question) (Cell, error) {
	if q.applies != nil {
		if why, err := q.applies(ctx, t); why != "" || err != nil {
			return Cell{Answer: NotAsked, Text: why}, err
		}
	}
	if q.ask != nil && q.premise == "" {
		return q.ask(ctx, t)
	}
	var err error
	t.processes, err = t.processesWithoutFlaw(ctx)
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
	if err != nil || c.Answer == Breaks || q.then == nil {
		return c, err
	}
	return q.then(ctx, t, c)
}

func notAsked(why string) (Cell, error) { return Cell{Answer: NotAsked, Text: why}, nil }

// anyRule counts every broken rule.
func anyRule(string) bool { return true }

// notOverlap counts all rules but those about the lock: the question is whether the stock is right.
func notOverlap(rule string) bool {
	return !slices.Contains([]string{explore.RuleOverlap, explore.RuleStolen, explore.RuleKept}, rule)
}

// wrongStock counts the rules of the ledger, but not that nothing was sold: a buyer who dies
// may be the only one who could buy.
func wrongStock(rule string) bool {
	return explore.LedgerRule(rule) && rule != judge.RuleNothingSold
}

// atTheLock counts the rules about the lock: two holders, or a lock that another has freed or renewed.
func atTheLock(rule string) bool { return !notOverlap(rule) }

// search runs a question's scenarios in turn. Behind the first broken schedule it goes on
// for other rules, with fewer schedules of each scenario.
func (t *trial) search(ctx context.Context, q Question, scenarios []*explore.Scenario) (Cell, error) {
	w, err := t.openWorld(ctx)
	if err != nil {
		return Cell{}, err
	}
	c, seen := Cell{Answer: Holds, Exhausted: true}, explore.Result{}
	broken := t.brokenRules(q.breaks)
	for _, s := range scenarios {
		s.MaxFaults = min(1, len(s.Faults)) // one thing goes wrong
		l := t.searchLimits(broken)
		// Each command before which the first dies is a beginning of its own, and so is each
		// moment at which one of many comes.
		if s.DiesFirst || len(s.Buyers) > 4 {
			l.Schedules, l.Random = 2*l.Schedules, 2*l.Random
		}
		// Overlaps of holders, and waits for each other, depend on the order of
		// commands to different servers, too.
		l.Reduce = !q.breaks(explore.RuleOverlap) && !slices.ContainsFunc(s.Buyers,
			func(t explore.Buyer) bool { return t.Other })
		res, err := w.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.addBounds(res)
		seen.Faulty, seen.Renewed = seen.Faulty+res.Faulty, seen.Renewed+res.Renewed
		if q.nothing != nil && len(broken.list) == 0 {
			if why := q.nothing(t, seen); why != "" {
				return notAsked(why)
			}
		}
	}
	return t.keepCounterexamples(ctx, q.ID, c, broken)
}

// searchLimits returns the limits of one search: Options.Schedules schedules in order, those
// with the fewest preemptions first, then some at random. broken notes each broken rule.
func (t *trial) searchLimits(broken *brokenRules) explore.Limits {
	broken.left = broken.behind
	return explore.Limits{Schedules: t.options.Schedules, Time: t.options.Budget,
		Random: t.options.Schedules / 4, Seed: t.options.Seed, Broken: broken.note}
}

// addBounds adds a search's bounds to a cell.
func (c *Cell) addBounds(r explore.Result) {
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
