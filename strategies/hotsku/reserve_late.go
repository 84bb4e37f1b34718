package hotsku

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed reserve_late.go reserve.go order_first.go
//go:embed reserve_late.en.md reserve_late.zh.md
var reserveLateFiles embed.FS

// ReserveLate is reserve, and lets a reservation expire by what it read
// before. On purpose.
var ReserveLate = catalog.Info{
	Name:   "reserve-late",
	Title:  "Reserve, then pay, expired twice",
	Family: "hotsku",
	Source: "a mistake with deadlines: read, decide, then write",
	Idea: "As reserve, but a reservation that was read as overdue is given " +
		"back without another look at its state.",
	Promises: "Right as long as only one sweeper runs and neither a payment " +
		"nor a cancellation meets it at the deadline.",
	Breaks: "A late payment and a sweeper, or two sweepers, find the same " +
		"reservation overdue, and each gives its units back.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.Cancel),
	Repair:   "reserve",
	Needs:    []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:    ledger.InRow,
	Files:    reserveLateFiles,
	Reserves: true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		// The SELECT has said that it is overdue. Here nothing asks again.
		return &reserve{orderFirst{d.Ledger}, d.Log, "TRUE"}, nil
	},
}
