package mysqllock

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// MySQLCounter uses a record of the lock table as a counter. Unlike a number
// in Redis, this counter is in the same database as the orders, so one
// transaction writes both.
var MySQLCounter = family.Strategy(catalog.Info{
	Name:       "mysql-counter",
	Source:     "B, the counter in the lock table",
	Guarantees: catalog.Robust,
	Stock:      seckill.InLockTable,
	Stored: catalog.Stored{Reads: "SELECT count",
		Writes: "UPDATE lock_record SET count"},
	Also: []string{"central.go", "tables.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &mysqlCounter{d.Ledger}, createCentralTables(d.DB)
	},
})

type mysqlCounter struct{ store *ledger.Store }

// counterKey returns the name of a SKU's counter. It differs from stockKey,
// because a lock of the SKU may have a record in the same table.
func counterKey(sku int64) string {
	return fmt.Sprint("seckill:stock:", sku)
}

func (s *mysqlCounter) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		key := counterKey(p.SKU)
		if err := lockCentralRow(tx, segmentRow(key)); err != nil {
			return err
		}
		count, run, err := s.readCount(tx, key)
		if err != nil {
			return err
		}
		left := count - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		if err := s.addUnits(tx, p.SKU, -p.Quantity); err != nil {
			return err
		}
		err = tx.Exec("UPDATE stock SET num = num - ? WHERE id = ?",
			p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, run, left)
		return err
	})
	return r, err
}

func (s *mysqlCounter) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := lockCentralRow(tx, segmentRow(counterKey(o.SKUID)))
		if err != nil {
			return err
		}
		o, back, err := s.store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		if err := s.addUnits(tx, o.SKUID, o.Quantity); err != nil {
			return err
		}
		return s.store.ReturnUnits(tx, o)
	})
}

// addUnits changes the count. The caller then changes the stock row by the
// same number, so that the audit can compare the count with the row.
func (s *mysqlCounter) addUnits(tx *gorm.DB, sku, units int64) error {
	return tx.Exec("UPDATE lock_record SET count = count + ? "+
		"WHERE name = ?", units, counterKey(sku)).Error
}

// readCount reads the count, and the run for which the count was set. The run
// is in the record's description.
func (s *mysqlCounter) readCount(
	tx *gorm.DB, key string,
) (count, run int64, err error) {
	var record struct {
		Count       int64
		Description string
	}
	err = s.store.ReadIn(tx, &record, "SELECT count, description "+
		"FROM lock_record WHERE name = ?", key)
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(record.Description, runText, &run); err != nil {
		return 0, 0, fmt.Errorf("%w: the record %s is no counter: %w",
			seckill.ErrUnknownSKU, key, err)
	}
	return record.Count, run, nil
}

const runText = "stock of run %d"

// Reset sets the count to the stock in the ledger, unless this was done before
// for the current sale. It ignores the caller's stock, because another reset
// may have begun a new sale meanwhile.
func (s *mysqlCounter) Reset(ctx context.Context, sku, _ int64) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		key := counterKey(sku)
		if err := lockCentralRow(tx, segmentRow(key)); err != nil {
			return err
		}
		var set struct{ Initial, Run int64 }
		err := s.store.ReadIn(tx, &set,
			"SELECT initial, run FROM stock WHERE id = ?", sku)
		if err != nil {
			return err
		}
		_, run, err := s.readCount(tx, key)
		if err == nil && run == set.Run {
			return nil
		}
		return tx.Exec("INSERT INTO lock_record "+
			"(name, count, description, status) VALUES (?, ?, ?, 1) "+
			"ON DUPLICATE KEY UPDATE count = VALUES(count), "+
			"description = VALUES(description), status = 1",
			key, set.Initial, fmt.Sprintf(runText, set.Run)).Error
	})
}

func (s *mysqlCounter) Count(
	ctx context.Context, sku int64,
) (left int64, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var current, run int64
		err := s.store.ReadIn(tx, &current,
			"SELECT run FROM stock WHERE id = ?", sku)
		if err != nil {
			return err
		}
		if left, run, err = s.readCount(tx, counterKey(sku)); err != nil {
			return err
		}
		if run != current {
			return fmt.Errorf("%w: %s was not set for run %d",
				seckill.ErrUnknownSKU, counterKey(sku), current)
		}
		return nil
	})
	return left, err
}
