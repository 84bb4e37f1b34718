package prove

import (
	"context"
	"maps"
	"slices"

	"seckill/internal/explore"
	"seckill/internal/ledger"
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
	cell Cell                         // their bounds, added up
	by   map[string]*explore.Schedule // the first broken schedule of each rule
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
	s := &soundness{cell: Cell{Answer: Holds, Exhausted: true}, by: map[string]*explore.Schedule{}}
	l := b.limits(nil)
	l.Reduce, l.Schedules, l.Broken = true, 2*l.Schedules, s.note
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

// note keeps what a schedule broke. The search goes on: others may break other rules.
func (s *soundness) note(o *explore.Schedule) (stop bool) {
	for _, p := range o.Problems {
		if s.by[p.Rule] == nil {
			s.by[p.Rule] = o
		}
	}
	return false
}

// unsound: the stock came out wrong, with every process alive.
func (s *soundness) unsound() bool {
	for rule := range s.by {
		if explore.LedgerRule(rule) {
			return true
		}
	}
	return false
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
		return b.verdict(ctx, question, s, counts)
	}
}

// verdict breaks when one of the rules was broken, with the shortest schedule
// that shows it.
func (b *bench) verdict(ctx context.Context, question string, s *soundness, counts func(rule string) bool) (Cell, error) {
	c := s.cell
	// What the ledger shows says more than that a buyer was left waiting.
	for _, counts := range []func(string) bool{
		func(rule string) bool { return counts(rule) && explore.LedgerRule(rule) }, counts,
	} {
		var first *explore.Schedule
		for _, rule := range slices.Sorted(maps.Keys(s.by)) { // of equals, two runs take the same
			if o := s.by[rule]; counts(rule) && (first == nil || shorter(o, first)) {
				first = o
			}
		}
		if first != nil {
			return b.broken(ctx, question, c, first, counts)
		}
	}
	return c, nil
}

func shorter(a, b *explore.Schedule) bool {
	return a.Preemptions < b.Preemptions || a.Preemptions == b.Preemptions && len(a.Steps) < len(b.Steps)
}

func isOversell(rule string) bool { return rule == ledger.RuleOversold || rule == ledger.RuleNegative }
