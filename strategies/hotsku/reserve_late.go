package hotsku

import (
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ReserveLate is reserve with a mistake on purpose: the UPDATE that expires a
// reservation does not check its state again. Two sweepers, or a sweeper and a
// late payment, may both find the reservation overdue, and both give its units
// back.
var ReserveLate = family.Strategy(catalog.Info{
	Name:       "reserve-late",
	Source:     "a mistake with deadlines: read, decide, then write",
	Guarantees: catalog.Robust.Breaks(catalog.Cancel),
	Repair:     "reserve",
	Also:       []string{"reserve.go", "order_first.go"},
	Reserves:   true,
	Stored:     catalog.Stored{Reads: "SELECT run, num"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		// The flaw: TRUE replaces the check that the reservation is overdue.
		return &reserve{orderFirst{d.Ledger}, d.Log, "TRUE"}, nil
	},
})
