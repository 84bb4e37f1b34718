package sqlrow

import (
	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ForUpdateAutocommit is naive with FOR UPDATE at the end of its read. No
// transaction surrounds the read, so the row is locked during the SELECT only.
// It is free again while the program computes.
var ForUpdateAutocommit = catalog.Info{
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
}
