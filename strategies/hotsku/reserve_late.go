package hotsku

import (
	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ReserveLate is reserve, and lets a reservation expire by what it read
// before, on purpose: two sweepers, or one and a late payment, find it
// overdue, and each gives its units back.
var ReserveLate = catalog.Info{
	Name:   "reserve-late",
	Source: "a mistake with deadlines: read, decide, then write",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.Cancel),
	Repair:   "reserve",
	Needs:    []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:    seckill.InRow,
	Also:     []string{"reserve.go", "order_first.go"},
	Reserves: true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		// The SELECT has said that it is overdue. Here nothing asks again.
		return &reserve{orderFirst{d.Ledger}, d.Log, "TRUE"}, nil
	},
}
