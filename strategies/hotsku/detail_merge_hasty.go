package hotsku

import (
	"embed"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed detail_merge_hasty.go detail_merge.go detail_counter.go
//go:embed detail_merger.go detail_take.lua detail_seed.lua
//go:embed detail_merge_hasty.en.md detail_merge_hasty.zh.md
var detailMergeHastyFiles embed.FS

// DetailMergeHasty is detail-merge without its barrier. On purpose.
var DetailMergeHasty = catalog.Info{
	Name:   "detail-merge-hasty",
	Title:  "Orders first, the counter rebuilt beside them",
	Family: "hotsku",
	Source: "a counter that is refreshed from the orders now and then",
	Idea: "As detail-merge, but a purchase does not hold the epoch: a " +
		"counter that is empty is rebuilt at once, while orders are on " +
		"their way.",
	Promises: "No unit of one counter is sold twice, and the stock row " +
		"follows every order once.",
	Breaks: "An order that is not committed yet is missing from the sum. The " +
		"new counter deals its units out again, and both are sold.",
	Guarantees: catalog.Guarantees{}.
		Holds(catalog.LostUpdate, catalog.OtherSKUs).
		Breaks(catalog.Oversell, catalog.Processes),
	Repair:  "detail-merge",
	Needs:   detailNeeds,
	Stock:   ledger.InDetails,
	Options: detailOptions,
	Files:   detailMergeHastyFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := newDetailMerge(d)
		s.enter, s.left, s.pause = s.enterUnasked, asSeen, 0
		return s, nil
	},
}

// enterUnasked writes the first unit as the counter gave it. Nothing keeps the
// epoch from ending before the COMMIT: the lock in rebuild waits for nothing.
func (s *detailMerge) enterUnasked(
	tx *gorm.DB, p seckill.Purchase, d dealt,
) (rows int64, err error) {
	rows, _, err = s.store.Exec(tx, "INSERT INTO stock_details "+
		"(sku_id, run, epoch, unit, change_by, merged) "+
		"VALUES (?, ?, ?, ?, ?, 0)",
		p.SKU, d.run, d.epoch, d.first(p), -p.Quantity)
	return rows, err
}

// asSeen is what the orders had left when the buyer looked.
func asSeen(_ *gorm.DB, _ int64, seen ledger.Sight) (int64, error) {
	return *seen.Units, nil
}
