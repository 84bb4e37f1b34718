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

// LockTableSegmented is lock-table-central with a hundred central rows, and
// that is the whole difference: a lock's name says which of them is passed.
var LockTableSegmented = catalog.Info{
	Name:   "lock-table-segmented",
	Title:  "Lock table, version 3: a hundred central rows",
	Family: "mysqllock",
	Source: "B, version 3",
	Idea: "As lock-table-central, but the row that is locked first is " +
		"one of center_lock_00 to center_lock_99, chosen by the CRC-32 " +
		"of the lock's name modulo 100.",
	Promises: "One holder at a time across any number of processes, " +
		"while every holder is done before his deadline and all clocks " +
		"agree. One in a hundred pairs of names wait for each other " +
		"while somebody takes or frees one of them; the others do " +
		"not. A dead holder blocks the others until his deadline, " +
		"however he died, as with lock-table-central.",
	Breaks: "The same as lock-table-central, but for the hundredth part " +
		"of the names: a slow holder works on beside his successor and " +
		"frees by name; clocks that differ; a year's deadline for who " +
		"names none. With the record read FOR UPDATE, too, the " +
		"deadlock of version 1 is back: names of different segments " +
		"may lie in one gap, so two first uses lock it, and wait for " +
		"each other with their INSERTs. Each is counted and tried " +
		"again. (With one central row that cannot be.)",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.OtherSKUs),
	Needs:   []backend.Capability{backend.SQL, backend.RowLocks},
	Stock:   ledger.HomeRow,
	Options: tableOptions,
	Files:   tableSegmentedFiles,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &tableLock{d.LockDB, segment, d.Settings.RecordLock,
			d.Settings.LockPoll, d.Now, d.Observe}
		return l, createCentral(d.LockDB)
	},
	Key: stockKey,
}
