package prove

import (
	"context"

	"seckill/internal/explore"
)

var _ = addQuestion(Question{
	column: 40, ID: "dead-holder", Title: "dead holder",
	Asks: "A buyer's process dies before any of its commands: is the stock right, and do the others get through, how long after the death?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks with every buyer alive", func(processes int) (Cell, error) {
			if processes == 1 {
				return Cell{Answer: NotAsked, Text: "a dead process takes the lock with it; across processes it locks nothing"}, nil
			}
			return b.deadHolder(ctx)
		})
	},
})

func (b *bench) deadHolder(ctx context.Context) (Cell, error) {
	scenarios := []*explore.Scenario{
		{Name: "two buyers, one may die", Stock: 5, Next: true, Buyers: buyers(2, explore.Buys, explore.Buys), Faults: []explore.Fault{explore.Dies}},
	}
	scenarios = append(scenarios, b.shared(2, explore.Buys, explore.Scenario{Name: "a shared transaction, one process may die, or one buyer leave",
		Stock: 6, Faults: []explore.Fault{explore.Dies, explore.Leaves}})...)
	if b.info.Locker != nil {
		contenders := buyers(3, explore.Locks, explore.Locks, explore.Locks)
		scenarios = append(scenarios,
			&explore.Scenario{Name: "a third contender dies first; two find what it left behind", Buyers: contenders, DiesFirst: true},
			&explore.Scenario{Name: "one has the lock, two wait for it, one may die", Buyers: contenders, InLine: true,
				Faults: []explore.Fault{explore.Dies}})
	}
	c, err := b.faulty(ctx, "dead-holder", anyRule, scenarios...)
	if err != nil || c.Answer != Holds {
		return c, err
	}
	return b.timeAfterDeath(ctx, c)
}
