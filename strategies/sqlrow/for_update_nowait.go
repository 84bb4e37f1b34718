package sqlrow

import (
	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// ForUpdateNowait locks the row or gives up at once. When many buyers come at
// the same time, it refuses most of them although units are left.
var ForUpdateNowait = family.Strategy(catalog.Info{
	Name:       "for-update-nowait",
	Source:     "D: NOWAIT, to lock without blocking",
	Guarantees: catalog.Robust,
	Needs:      ForUpdate.Needs,
	Also:       []string{"for_update.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		// If the row is locked, NOWAIT fails at once: the buyer gets ErrBusy.
		return &forUpdate{d.Ledger, "id", "FOR UPDATE NOWAIT"}, nil
	},
})
