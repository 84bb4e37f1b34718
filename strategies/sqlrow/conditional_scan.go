package sqlrow

import (
	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ConditionalScan is the strategy Conditional, but the column in its WHERE has
// no index. So the UPDATE scans the table and locks every row. Buyers of all
// SKUs wait for each other.
var ConditionalScan = family.Strategy(catalog.Info{
	Name:       "conditional-scan",
	Source:     "A, fourth idea: why to update by a primary or unique key",
	Guarantees: catalog.Robust.Breaks(catalog.OtherSKUs),
	Needs:      []backend.Capability{backend.SQL, backend.RowLocks},
	Also:       []string{"conditional.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &conditional{d.Ledger, "code"}, nil
	},
})
