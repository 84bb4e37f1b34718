package mysqllock

import (
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// LockTableSegmented is lock-table-central with a hundred central rows. The
// name of the lock decides which of them is locked.
var LockTableSegmented = family.Strategy(catalog.Info{
	Name:       "lock-table-segmented",
	Source:     "B, version 3",
	Guarantees: LockTableCentral.Guarantees,
	Also:       []string{"lock_table_central.go", "central.go", "tables.go"},
	Stored:     catalog.Stored{LockTable: "lock_record"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return newTableLock(d, segmentRow), createCentralTables(d.LockDB)
	},
})
