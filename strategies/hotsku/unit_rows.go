package hotsku

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed unit_rows.go units.go
//go:embed unit_rows.en.md unit_rows.zh.md
var unitRowsFiles embed.FS

// UnitRows has a row for each unit.
var UnitRows = catalog.Info{
	Name:   "unit-rows",
	Title:  "A row for each unit",
	Family: "hotsku",
	Source: "ticket shops: every seat is a row; SKIP LOCKED",
	Idea: "SELECT free rows FOR UPDATE SKIP LOCKED, from a place of the " +
		"buyer's own, and write the order into them. Buyers who find too few " +
		"wait for those who hold the rest.",
	Promises: "Never sells a unit twice, loses none, and says sold out only " +
		"when too few are free, with any number of processes.",
	Breaks: "Nothing breaks the stock; a sale has 20,000 units at most, and " +
		"a reset writes all their rows.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs,
			catalog.SoldOut),
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.SkipLocked},
	Stock: ledger.InUnits,
	Files: unitRowsFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &unitRows{unitStock{d.Ledger}}, nil
	},
}

type unitRows struct{ unitStock }

// mostLooks bounds how often a buyer looks again. Each further look means that
// others gave units back meanwhile.
const mostLooks = 8

func (s *unitRows) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	for range mostLooks {
		// Says sold out when too few are free, held ones counted as free.
		seen, err := s.look(ctx, p)
		if err != nil {
			return r, err
		}
		r, err = s.sell(ctx, p, seen, func(tx *gorm.DB) ([]int64, error) {
			return s.free(tx, p, seen)
		})
		if errors.Is(err, errTooFew) {
			// The first transaction has ended and holds nothing any more.
			r, err = s.sell(ctx, p, seen,
				func(tx *gorm.DB) ([]int64, error) {
					return s.wait(tx, p, seen)
				})
		}
		if !errors.Is(err, errTooFew) {
			return r, err
		}
	}
	return r, fmt.Errorf("%w: the last units were held, sold and given back "+
		"%d times meanwhile", seckill.ErrBusy, mostLooks)
}

// wait finds free units from the beginning on, and waits for holders: they sell
// the unit, or roll back. All who wait do so in this order.
func (s *unitRows) wait(
	tx *gorm.DB, p seckill.Purchase, seen ledger.Sight,
) ([]int64, error) {
	return s.find(tx, "id >= 1 ORDER BY id LIMIT ? FOR UPDATE",
		p.SKU, seen.Run, p.Quantity)
}
