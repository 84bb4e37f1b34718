package sqlrow

import (
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ForUpdateScan is for-update without an index on the column that finds its
// row. So the SELECT scans the table and locks every row.
var ForUpdateScan = family.Strategy(catalog.Info{
	Name:       "for-update-scan",
	Source:     "A, third idea; D: row lock or table lock",
	Guarantees: catalog.Robust.Breaks(catalog.OtherSKUs),
	Needs:      ForUpdate.Needs,
	Also:       []string{"for_update.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &forUpdate{d.Ledger, "code", "FOR UPDATE"}, nil
	},
})
