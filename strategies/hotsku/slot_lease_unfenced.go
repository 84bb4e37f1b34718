package hotsku

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed slot_lease_unfenced.go slot_lease.go slot_shelf.go slot_stretch.go
//go:embed slot_lease_unfenced.en.md slot_lease_unfenced.zh.md
var slotLeaseUnfencedFiles embed.FS

// SlotLeaseUnfenced is slot-lease without its unique key. On purpose.
var SlotLeaseUnfenced = catalog.Info{
	Name:   "slot-lease-unfenced",
	Title:  "Leased slots, without the unique key",
	Family: "hotsku",
	Source: "stock dealt out to application servers",
	Idea: "As slot-lease, but a process may sell what it has leased, and " +
		"nothing looks whether it is sold: the lease is the only guard.",
	Promises: "Right as long as each process sells within its leases.",
	Breaks: "A process whose lease ends before it has sold what it leased, " +
		"as it sleeps or has few buyers, sells what another has sold.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.LeaseEnd),
	Repair:  "slot-lease",
	Needs:   []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:   ledger.InSlots,
	Options: slotOptions,
	Files:   slotLeaseUnfencedFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		// The unique key of slot_sold has (sku_id, run, slot, claim). With a
		// claim of its own no row is like another, and the key refuses none.
		return newSlotLease(d, func(order int64) int64 { return order }), nil
	},
}
