package prove

import (
	"cmp"
	"context"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
)

// What a strategy does without any fault decides what else it is asked: a
// question whose answer is known teaches nothing.

func (b *bench) faultless(processes int) []*explore.Scenario {
	where := map[int]string{1: "one process", 2: "two processes"}[processes]
	few := b.shared(processes, explore.Buys, explore.Scenario{Name: "a shared transaction, enough for some, " + where, Stock: 3})
	many := b.shared(processes, explore.Buys, explore.Scenario{Name: "a shared transaction, enough for the batch, " + where, Stock: 6})
	return slices.Concat([]*explore.Scenario{
		{Name: "two buyers, enough for one, " + where, Stock: 2, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Buys)},
		{Name: "two buyers, enough for both, " + where, Stock: 5, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Buys)},
		{Name: "one buys, one cancels, " + where, Stock: 4, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Cancels)},
	}, few, many, copied(few, "A"), copied(many, "A"), copied(many, "B"))
}

// soundness is what the searches without faults found.
type soundness struct {
	cell   Cell         // their bounds, added up
	broken *brokenRules // all that there are, whatever a question counts
}

// sound explores what happens without any fault, once for a bench.
func (b *bench) sound(ctx context.Context, processes int) (*soundness, error) {
	if s := b.sounds[processes]; s != nil {
		return s, nil
	}
	w, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	s := &soundness{cell: Cell{Answer: Holds, Exhausted: true}, broken: &brokenRules{counts: anyRule}}
	l := b.limits(s.broken)
	l.Reduce, l.Schedules = true, 2*l.Schedules
	for _, scenario := range b.faultless(processes) {
		res, err := w.Search(ctx, scenario, l)
		if err != nil {
			return nil, err
		}
		s.cell.add(res)
	}
	b.sounds[processes] = s
	return s, nil
}

// unsound: the stock came out wrong, with every process alive.
func (s *soundness) unsound() bool {
	return slices.ContainsFunc(s.broken.list, func(r brokenRule) bool { return explore.LedgerRule(r.rule) })
}

// premise is how many processes a question about faults uses: two, or one where
// two break by themselves; 0 where one does, too.
func (b *bench) premise(ctx context.Context) (processes int, err error) {
	for _, n := range []int{2, 1} {
		s, err := b.sound(ctx, n)
		if err != nil {
			return 0, err
		}
		if !s.unsound() {
			return n, nil
		}
	}
	return 0, nil
}

// withoutFault asks what the searches without faults found.
func withoutFault(question string, processes int, counts func(rule string) bool) func(*bench, context.Context, int) (Cell, error) {
	return func(b *bench, ctx context.Context, _ int) (Cell, error) {
		s, err := b.sound(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return b.verdict(ctx, question, s.cell, s.of(counts))
	}
}

// of are the rules that count, the gravest first: what the ledger shows says more than
// that a buyer was left waiting, and a short schedule more than a long one.
func (s *soundness) of(counts func(rule string) bool) *brokenRules {
	list := slices.DeleteFunc(slices.Clone(s.broken.list), func(r brokenRule) bool { return !counts(r.rule) })
	grave := func(r brokenRule) int {
		if explore.LedgerRule(r.rule) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b brokenRule) int {
		return cmp.Or(cmp.Compare(grave(a), grave(b)), cmp.Compare(a.schedule.Preemptions, b.schedule.Preemptions),
			cmp.Compare(len(a.schedule.Steps), len(b.schedule.Steps)))
	})
	return &brokenRules{counts: counts, list: list}
}

func isOversell(rule string) bool { return rule == judge.RuleOversold || rule == judge.RuleNegative }
