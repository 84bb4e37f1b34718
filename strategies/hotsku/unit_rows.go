package hotsku

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// UnitRows has a row for each unit. A buyer who finds too few free units waits
// for the buyers who hold the other units.
var UnitRows = family.Strategy(catalog.Info{
	Name:       "unit-rows",
	Source:     "ticket shops: every seat is a row; SKIP LOCKED",
	Guarantees: catalog.Robust.Holds(catalog.SoldOut),
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.SkipLocked,
		backend.ReadCommitted},
	Stock: seckill.InUnits,
	Also:  []string{"bucketed.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &unitRows{unitStock{d.Ledger}}, nil
	},
})

type unitRows struct{ unitStock }

// maxLooks bounds how often a buyer tries to take units. A buyer tries again
// only if others have given units back meanwhile.
const maxLooks = 8

func (s *unitRows) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	for range maxLooks {
		// Units that a buyer holds but has not bought count as free here.
		seen, err := s.countFree(ctx, p)
		if err != nil {
			return r, err
		}
		r, err = s.sellUnits(ctx, p, seen, func(tx *gorm.DB) ([]int64, error) {
			return s.lockFree(tx, p, seen)
		})
		if errors.Is(err, errTooFew) {
			// The first transaction has ended, so it holds no units any more.
			r, err = s.sellUnits(ctx, p, seen,
				func(tx *gorm.DB) ([]int64, error) {
					return s.lockInOrder(tx, p, seen)
				})
		}
		if !errors.Is(err, errTooFew) {
			return r, err
		}
	}
	return r, fmt.Errorf("%w: the last units were held, sold and given back "+
		"%d times meanwhile", seckill.ErrBusy, maxLooks)
}

// lockInOrder locks free units from the first on. If another buyer holds a
// unit, lockInOrder waits until that buyer has bought the unit or rolled back.
// All buyers lock the units in the same order, so that they do not deadlock.
func (s *unitRows) lockInOrder(
	tx *gorm.DB, p seckill.Purchase, seen stockView,
) ([]int64, error) {
	return s.lockUnits(tx, "id >= 1 ORDER BY id LIMIT ? FOR UPDATE",
		p.SKU, seen.Run, p.Quantity)
}

const (
	// maxUnits is the largest stock that gets a row for each unit. Every reset
	// writes these rows, even if another strategy sells the SKU.
	maxUnits = 20_000
	// maxCounted bounds how many free units a purchase counts, in addition to
	// those that it wants. Without a bound, a large stock would make each
	// purchase slow.
	maxCounted = 1000
)

// unitStock is a stock with a row in stock_units for each unit. Its store uses
// READ COMMITTED, so that a read locks only the rows that it finds.
type unitStock struct{ store *ledger.Store }

// countFree counts the units that are not sold, including those that a buyer
// holds. It takes no lock, so other buyers may buy these units first.
func (s *unitStock) countFree(
	ctx context.Context, p seckill.Purchase,
) (stockView, error) {
	const ofSale = " FROM stock_units WHERE sku_id = ? " +
		"AND run = (SELECT s.run FROM stock s WHERE s.id = ?)"
	seen, err := readPieces(ctx, s.store, p, "(SELECT IF(initial = 0 OR "+
		"EXISTS (SELECT 1"+ofSale+"), COUNT(*), NULL) FROM "+
		"(SELECT 1"+ofSale+" AND order_id IS NULL LIMIT ?) free) AS units",
		p.SKU, p.SKU, p.SKU, p.SKU, p.Quantity+maxCounted)
	if seen.Initial > maxUnits {
		err = fmt.Errorf("%w: %s keeps a row for each unit, %d at most, "+
			"and the sale has %d", seckill.ErrTooManyUnits,
			s.store.Strategy(), maxUnits, seen.Initial)
	}
	return seen, err
}

// sellUnits writes the order, calls the function find, which locks the order's
// units, and marks these units as sold. All of it is one transaction.
func (s *unitStock) sellUnits(
	ctx context.Context, p seckill.Purchase, seen stockView,
	find func(tx *gorm.DB) (units []int64, err error),
) (r seckill.Receipt, err error) {
	err = s.store.ReadCommitted().Tx(ctx, func(tx *gorm.DB) error {
		order, receipt, err := s.store.Place(tx, p, seen.Run,
			*seen.Units-p.Quantity)
		if err != nil {
			return err
		}
		units, err := find(tx)
		if err == nil && int64(len(units)) < p.Quantity {
			err = errTooFew
		}
		if err != nil {
			return err
		}
		r = receipt
		return s.markSold(tx, p.SKU, seen.Run, order, units)
	})
	return r, err
}

// startUnit returns the unit at which a buyer begins to search. Buyers begin
// at different units, so that few of them try to lock the same unit.
func startUnit(user, units int64) int64 {
	return 1 + int64(uint64(user)*0x9E3779B97F4A7C15>>32)%max(1, units)
}

// lockFree locks units that are neither sold nor held (SKIP LOCKED). It begins
// at the buyer's start unit. After the last unit it goes on with the first.
func (s *unitStock) lockFree(
	tx *gorm.DB, p seckill.Purchase, seen stockView,
) ([]int64, error) {
	start := startUnit(p.User, seen.Initial)
	units, err := s.lockUnits(tx, "id >= ? ORDER BY id LIMIT ? "+
		"FOR UPDATE SKIP LOCKED", p.SKU, seen.Run, start, p.Quantity)
	short := p.Quantity - int64(len(units))
	if err != nil || short == 0 || start == 1 {
		return units, err
	}
	more, err := s.lockUnits(tx, "id < ? ORDER BY id LIMIT ? "+
		"FOR UPDATE SKIP LOCKED", p.SKU, seen.Run, start, short)
	return append(units, more...), err
}

// lockUnits locks free units and returns their ids. It forces an index that
// lists the free units in the order of their ids. With another index, the
// server would lock every free unit before it sorts them.
func (s *unitStock) lockUnits(
	tx *gorm.DB, which string, args ...any,
) (units []int64, err error) {
	err = tx.Raw("SELECT id FROM stock_units FORCE INDEX (stock_units_free) "+
		"WHERE sku_id = ? AND run = ? AND order_id IS NULL AND "+which,
		args...).Scan(&units).Error
	return units, err
}

func (s *unitStock) markSold(
	tx *gorm.DB, sku, run, order int64, units []int64,
) error {
	args := []any{order, sku, run}
	for _, id := range units {
		args = append(args, id)
	}
	_, _, err := s.store.Exec(tx, "UPDATE stock_units "+
		"FORCE INDEX (PRIMARY) SET order_id = ? "+
		"WHERE sku_id = ? AND run = ? AND id IN (?"+
		strings.Repeat(", ?", len(units)-1)+")", args...)
	return err
}

// Restore frees the units of an order. It takes the locks in the same order as
// Deduct: first the order, then its units. Nobody else can hold these units.
func (s *unitStock) Restore(ctx context.Context, orderID string) error {
	return s.store.ReadCommitted().CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx, "UPDATE stock_units "+
			"FORCE INDEX (stock_units_free) SET order_id = NULL "+
			"WHERE sku_id = ? AND run = ? AND order_id = ?",
			o.SKUID, o.Run, o.ID)
	})
}

// Reset deletes the rows of free units of earlier runs. So it waits for buyers
// who hold such units. Then it writes the rows of this run, if there are none
// yet. ledger.Sweep deletes the sold units of earlier runs.
func (s *unitStock) Reset(ctx context.Context, sku, _ int64) error {
	var set struct {
		Run, Initial int64
		There        bool
	}
	err := s.store.Read(ctx, &set, "SELECT run, initial, EXISTS ("+
		"SELECT 1 FROM stock_units u WHERE u.sku_id = stock.id "+
		"AND u.run = stock.run) AS there FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	return s.store.ReadCommitted().Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, "DELETE FROM stock_units "+
			"WHERE sku_id = ? AND run < ? AND order_id IS NULL",
			sku, set.Run)
		if err != nil || set.There || set.Initial > maxUnits ||
			set.Initial == 0 {
			return err
		}
		return s.writeUnits(tx, ledger.Order{
			SKUID: sku, Run: set.Run, Quantity: set.Initial}, nil)
	})
}

// PrepareRestock writes the new units of a restock as sold to the order o. The
// restock then cancels o, and Restore frees the units.
func (s *unitStock) PrepareRestock(tx *gorm.DB, o ledger.Order) error {
	if o.Remaining > maxUnits {
		return fmt.Errorf("%w: %s keeps a row for each unit, %d at most",
			seckill.ErrTooManyUnits, s.store.Strategy(), maxUnits)
	}
	o.Remaining -= o.Quantity // the number of units before the restock
	return s.writeUnits(tx, o, o.ID)
}

// writeUnits writes o.Quantity rows. Their ids begin with o.Remaining + 1.
func (s *unitStock) writeUnits(
	tx *gorm.DB, o ledger.Order, holder any,
) error {
	// One recursive query counts to 1000 and another counts the thousands,
	// because the server limits the depth of a recursion.
	_, _, err := s.store.Exec(tx, `
INSERT IGNORE INTO stock_units (sku_id, run, id, order_id)
WITH RECURSIVE
  ones (n) AS (SELECT 1 UNION ALL
    SELECT n + 1 FROM ones WHERE n < LEAST(1000, ?)),
  thousands (n) AS (SELECT 0 UNION ALL
    SELECT n + 1000 FROM thousands WHERE n + 1000 < ?)
SELECT ?, ?, ? + thousands.n + ones.n, ? FROM thousands JOIN ones
 WHERE thousands.n + ones.n <= ?`,
		o.Quantity, o.Quantity, o.SKUID, o.Run, o.Remaining, holder,
		o.Quantity)
	return err
}

func (s *unitStock) Count(ctx context.Context, sku int64) (int64, error) {
	const units = "(SELECT COUNT(*) FROM stock_units u " +
		"WHERE u.sku_id = stock.id AND u.run = stock.run"
	var left struct{ Initial, Units, Free int64 }
	err := s.store.Read(ctx, &left, "SELECT initial, "+units+") AS units, "+
		units+" AND u.order_id IS NULL) AS free FROM stock WHERE id = ?", sku)
	if err == nil && left.Units != left.Initial {
		err = fmt.Errorf("%w: the sale of SKU %d has %d units and %d rows",
			seckill.ErrUnknownSKU, sku, left.Initial, left.Units)
	}
	return left.Free, err
}
