package prove

import (
	"context"

	"seckill/internal/explore"
	"seckill/internal/ledger"
)

var _ = addQuestion(Question{
	column: 96, ID: "cancel", Title: "cancelling",
	Asks: "Two cancel one order, or one cancels while another buys; replies are lost, a process dies, and the cancellation is sent again: " +
		"is each order given back once, and only once? Reservations, where there are any, are paid, cancelled and swept, too.",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks when nothing is cancelled", func(processes int) (Cell, error) {
			faults := []explore.Fault{explore.ReplyLost, explore.CommandLost, explore.Dies}
			beside := buyers(processes, explore.Buys, explore.Cancels)
			beside[1].Again = 1
			more := append(b.shared(2, explore.Cancels, explore.Scenario{Name: "a shared transaction beside one who cancels", Stock: 6}),
				b.reserved(faults)...)
			return b.search(ctx, "cancel", wrongStock, something, append(more,
				&explore.Scenario{Name: "two cancel the same order", Stock: 4, Next: true, Buyers: twice(processes, 0, explore.Cancels)},
				&explore.Scenario{Name: "two cancel the same order, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
					Buyers: twice(processes, 1, explore.Cancels), Faults: faults, MaxFaults: 1},
				&explore.Scenario{Name: "one buys, one cancels, and again; a reply or a command is lost, or one dies", Stock: 4, Next: true,
					Buyers: beside, Faults: faults, MaxFaults: 1})...)
		})
	},
})

// reserved are the ways in which a payment, a cancellation and sweepers meet at
// one reservation. None for a strategy without reservations.
func (b *bench) reserved(faults []explore.Fault) (list []*explore.Scenario) {
	if !b.info.Reserves {
		return nil
	}
	at := func(again int, does ...explore.Does) []explore.Buyer {
		all := buyers(2, does...)
		for i := range all {
			all[i].Quantity, all[i].Again = 2, again
			if i > 0 {
				all[i].Same = "A"
			}
		}
		return all
	}
	for _, s := range []explore.Scenario{
		{Name: "one pays, a sweeper comes", Buyers: at(0, explore.Pays, explore.Sweeps)},
		{Name: "one pays after the deadline", Buyers: at(0, explore.PaysLate)},
		{Name: "one cancels, a sweeper comes", Buyers: at(0, explore.Releases, explore.Sweeps)},
		{Name: "one pays, one cancels", Buyers: at(0, explore.Pays, explore.Releases)},
		{Name: "two sweepers", Buyers: at(0, explore.Sweeps, explore.Sweeps)},
		{Name: "one pays, one cancels, a sweeper comes", Buyers: at(0, explore.Pays, explore.Releases, explore.Sweeps)},
		{Name: "one pays, a sweeper comes; a reply or a command is lost, or one dies", Buyers: at(1, explore.Pays, explore.Sweeps), Faults: faults, MaxFaults: 1},
	} {
		s.Stock, s.Next = 3, true
		list = append(list, &s)
	}
	return list
}

// wrongStock: the ledger is wrong. That nothing was sold may be a death's doing,
// and that a lock stays behind is another question.
func wrongStock(rule string) bool {
	return explore.LedgerRule(rule) && rule != ledger.RuleNothingSold
}
