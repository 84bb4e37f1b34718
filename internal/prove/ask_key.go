package prove

import (
	"context"

	"seckill/internal/explore"
)

var _ = addQuestion(Question{
	column: 100, ID: "same-key", Title: "one key, one order",
	Asks: "Two copies of one request go through the whole service, in two processes; replies are lost, and they are sent again: " +
		"is there one order, and is no copy refused that has it? And has one user who buys with two keys one order?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		if b.options.Service == nil {
			return Cell{Answer: NotAsked, Text: "there is no service to ask"}, nil
		}
		return b.stands(ctx, "it breaks when every request comes once", func(processes int) (Cell, error) {
			return b.search(ctx, "same-key", explore.LedgerRule, something,
				&explore.Scenario{Name: "two copies of one request, for the last units", Stock: 2, Buyers: twice(processes, 1, explore.Asks)},
				&explore.Scenario{Name: "two copies of one request, and again; a reply or a command is lost", Stock: 4, Buyers: twice(processes, 1, explore.Asks),
					Faults: []explore.Fault{explore.ReplyLost, explore.CommandLost}, MaxFaults: 1},
				&explore.Scenario{Name: "one user buys with two keys", Stock: 5, Buyers: oneUser(processes)})
		})
	},
})

// oneUser is two actors who are the same user, each with a request of their own.
func oneUser(processes int) []explore.Buyer {
	list := buyers(processes, explore.Asks, explore.Asks)
	list[1].User = list[0].Name
	return list
}
