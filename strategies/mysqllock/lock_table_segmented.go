package mysqllock

import (
	"embed"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed lock_table_segmented.go lock_table_central.go central.go tables.go
//go:embed lock_table_segmented.en.md lock_table_segmented.zh.md
var tableSegmentedFiles embed.FS

// LockTableSegmented is lock-table-central with a hundred central rows. The
// lock's name decides which of them is locked.
var LockTableSegmented = catalog.Info{
	Name:   "lock-table-segmented",
	Title:  "Lock table, version 3: a segmented lock",
	Family: "mysqllock",
	Source: "B, version 3",
	Idea: "As lock-table-central, but the row that is locked first is one of " +
		"center_lock_00 to center_lock_99: the CRC-32 of the lock's name " +
		"modulo 100.",
	Promises: "One holder at a time, with any number of processes, while " +
		"every holder finishes before its deadline and all clocks agree.",
	Breaks: "A slow holder frees its successor's lock; a clock that is ahead " +
		"takes locks that are alive; one in a hundred pairs of SKUs share a " +
		"row.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.OtherSKUs),
	Needs:   []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:   ledger.InRow,
	Options: tableOptions,
	Files:   tableSegmentedFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &tableLock{d.LockDB, segment, d.Settings.RecordLock,
			d.Settings.LockPoll, d.Now, d.Observe}
		return l, createCentral(d.LockDB)
	},
	Key: stockKey,
}
