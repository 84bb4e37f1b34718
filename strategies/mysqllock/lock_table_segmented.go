package mysqllock

import (
	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// LockTableSegmented is lock-table-central with a hundred central rows. The
// name of the lock decides which central row is locked.
var LockTableSegmented = catalog.Info{
	Name:   "lock-table-segmented",
	Source: "B, version 3",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	Also:  []string{"lock_table_central.go", "central.go", "tables.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return newTableLock(d, segmentRow), createCentralTables(d.LockDB)
	},
	Key: stockKey,
}
