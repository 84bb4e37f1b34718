package sqlrow

import (
	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ForUpdateAutocommit is naive with FOR UPDATE at the end of its SELECT. No
// transaction surrounds the SELECT, so the row is locked only while the SELECT
// runs. While the program computes, the row is not locked.
var ForUpdateAutocommit = family.Strategy(catalog.Info{
	Name: "for-update-autocommit",
	Source: "A, third idea: why the business code must be in the " +
		"transaction",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Needs:      []backend.Capability{backend.SQL, backend.RowLocks},
	Repair:     "for-update",
	Also:       []string{"naive.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &naive{d.Ledger, " FOR UPDATE"}, nil
	},
})
