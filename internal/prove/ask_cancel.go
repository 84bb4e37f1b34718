package prove

import (
	"context"

	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/ledger"
)

var _ = addQuestion(Question{
	column: 96, ID: "cancel", Title: "cancelling",
	Asks: "Two cancel one order, or one cancels while another buys; replies are lost, a process dies, and the cancellation is sent again: " +
		"is each order given back once, and only once?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks when nothing is cancelled", func(processes int) (Cell, error) {
			faults := []explore.Fault{fault.ReplyLost, fault.CommandLost, fault.Dies}
			beside := buyers(processes, explore.Buys, explore.Cancels)
			beside[1].Again = 1
			more := append(b.shared(2, explore.Cancels, explore.Scenario{Name: "a shared transaction beside one who cancels", Stock: 6}),
				b.followed(processes, explore.Scenario{Name: "a worker beside one who buys and one who cancels; a reply or a command is lost, or one dies",
					Stock: 4, Faults: faults, MaxFaults: 1}, explore.Buys, explore.Cancels, explore.Settles)...)
			return b.search(ctx, "cancel", wrongStock, something, append(more,
				&explore.Scenario{Name: "two cancel the same order", Stock: 4, Next: true, Buyers: twice(processes, 0, explore.Cancels)},
				&explore.Scenario{Name: "two cancel the same order, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
					Buyers: twice(processes, 1, explore.Cancels), Faults: faults, MaxFaults: 1},
				&explore.Scenario{Name: "one buys, one cancels, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
					Buyers: beside, Faults: faults, MaxFaults: 1})...)
		})
	},
})

// wrongStock: the ledger is wrong. That nothing was sold may be a death's doing,
// and that a lock stays behind is another question.
func wrongStock(rule string) bool {
	return explore.LedgerRule(rule) && rule != ledger.RuleNothingSold
}
