package hotsku

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// UnitRowsHasty is UnitRows, but it does not wait for the buyers who hold the
// other units. If these buyers give up, the answer "sold out" was wrong.
var UnitRowsHasty = family.Strategy(catalog.Info{
	Name:   "unit-rows-hasty",
	Source: "a mistake with SKIP LOCKED: nothing found is not sold out",
	Guarantees: catalog.Guarantees{}.
		Holds(catalog.Oversell, catalog.LostUpdate, catalog.Processes,
			catalog.Cancel, catalog.DeadHolder,
			catalog.LostReply, catalog.LateCommand, catalog.OtherSKUs).
		Breaks(catalog.SoldOut, catalog.BuyerLeaves, catalog.Reset),
	Repair: "unit-rows",
	Needs:  UnitRows.Needs,
	Stock:  seckill.InUnits,
	Also:   []string{"unit_rows.go", "bucketed.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &unitRowsHasty{unitStock{d.Ledger}}, nil
	},
})

type unitRowsHasty struct{ unitStock }

func (s *unitRowsHasty) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	seen, err := s.countFree(ctx, p)
	if err != nil {
		return seckill.Receipt{}, err
	}
	r, err := s.sellUnits(ctx, p, seen, func(tx *gorm.DB) ([]int64, error) {
		return s.lockFree(tx, p, seen)
	})
	if errors.Is(err, errTooFew) { // the flaw: others may yet give units back
		err = seckill.ErrSoldOut
	}
	return r, err
}
