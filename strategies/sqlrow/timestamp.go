package sqlrow

import (
	"context"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Timestamp is optimistic locking by the time of the last change. After two
// writes in one second, or if the processes' clocks differ, an old time can
// look current. Then updates are lost.
var Timestamp = family.Strategy(catalog.Info{
	Name:       "timestamp",
	Source:     "A, fourth idea: the timestamp instead of a version number",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Repair:     "version",
	Also:       []string{"version.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s := &timestamp{d.Ledger, d.Settings.Retries,
			d.Now, wholeSeconds}
		if d.Settings.MicrosecondTS {
			s.layout = microseconds
		}
		return s, nil
	},
})

type timestamp struct {
	store   *ledger.Store
	retries int
	now     func() time.Time // the clock of this process
	layout  string
}

// Layouts of the time. The column keeps microseconds, but a comparison uses
// only as many characters as the layout has. With the layout of whole seconds,
// the column behaves like a TIMESTAMP without a fraction.
const (
	wholeSeconds = "2006-01-02 15:04:05"
	microseconds = "2006-01-02 15:04:05.000000"
)

type timestampedRow struct {
	Num, Run int64
	At       string
}

func (s *timestamp) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = retryConflicts(ctx, s.retries, func() error {
		old, err := s.readRow(ctx, p.SKU)
		if err != nil {
			return err
		}
		left := old.Num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		return s.store.Tx(ctx, func(tx *gorm.DB) error {
			err := s.writeStock(tx, p.SKU, left, old.At)
			if err != nil {
				return err
			}
			r, err = s.store.Record(tx, p, old.Run, left)
			return err
		})
	})
	return r, err
}

func (s *timestamp) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return retryConflicts(ctx, s.retries, func() error {
		old, err := s.readRow(ctx, o.SKUID)
		if err != nil {
			return err
		}
		return s.store.CancelOrder(ctx, orderID, func(
			tx *gorm.DB, o ledger.Order,
		) error {
			return s.writeStock(tx, o.SKUID, old.Num+o.Quantity, old.At)
		})
	})
}

func (s *timestamp) readRow(
	ctx context.Context, sku int64,
) (old timestampedRow, err error) {
	err = s.store.Read(ctx, &old,
		"SELECT num, run, SUBSTR(updated_at, 1, ?) AS at "+
			"FROM stock WHERE id = ?", len(s.layout), sku)
	return old, err
}

// writeStock reads the clock after the row was read. So the new time is later
// than the old time, if the clock is fine enough to tell them apart.
func (s *timestamp) writeStock(tx *gorm.DB, sku, num int64, old string) error {
	at := s.now().UTC().Format(s.layout)
	rows, _, err := s.store.Exec(tx,
		"UPDATE stock SET num = ?, updated_at = ? "+
			"WHERE id = ? AND SUBSTR(updated_at, 1, ?) = ?",
		num, at, sku, len(s.layout), old)
	if err == nil && rows == 0 {
		err = seckill.ErrConflict
	}
	return err
}
