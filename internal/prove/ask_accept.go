package prove

import (
	"context"

	"seckill/internal/explore"
	"seckill/internal/ledger"
)

var _ = addQuestion(Question{
	column: 101, ID: "accepted", Title: "accepted is kept",
	Asks: "A buyer is answered before the order is written; the process that accepted it, or the one that writes, dies, or a reply or a command is lost: " +
		"does every accepted request come to an order or a refusal, and is its buyer told which?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		w, err := b.open(ctx)
		if err != nil {
			return Cell{}, err
		}
		if two, err := w.Accepts(ctx); err != nil || !two {
			return Cell{Answer: NotAsked, Text: "it answers when the order is written"}, err
		}
		return b.stands(ctx, "it breaks when every buyer waits", func(processes int) (Cell, error) {
			faults := []explore.Fault{explore.Dies, explore.ReplyLost, explore.CommandLost}
			var scenarios []*explore.Scenario
			for _, s := range []explore.Scenario{
				{Name: "one is accepted, one buys, and writes for both", Buyers: accepting(processes, explore.Accepts, explore.Buys)},
				{Name: "one process accepts and writes; a reply or a command is lost, or it dies", Buyers: accepting(1, explore.Accepts, explore.Buys), Faults: faults},
				{Name: "one accepts, another writes; a reply or a command is lost, or one dies", Buyers: accepting(processes, explore.Accepts, explore.Buys), Faults: faults},
				{Name: "two accept the same request; a reply or a command is lost, or one dies", Buyers: twice(processes, 1, explore.Accepts), Faults: faults},
			} {
				s.Stock, s.Next, s.MaxFaults = 6, true, min(1, len(s.Faults))
				scenarios = append(scenarios, &s)
			}
			return b.search(ctx, "accepted", keptPromise, something, scenarios...)
		})
	},
})

// accepting are buyers who ask again when an answer was lost.
func accepting(processes int, does ...explore.Does) []explore.Buyer {
	list := buyers(processes, does...)
	for i := range list {
		if list[i].Does == explore.Accepts {
			list[i].Again = 1
		}
	}
	return list
}

// keptPromise is what this question is about; others ask for the rest.
func keptPromise(rule string) bool {
	return rule == ledger.RuleLostRequest || rule == explore.RuleUntold
}
