package hotsku

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Bucketed spreads the stock over several rows, the buckets. If no single
// bucket has enough units, the buyer locks all buckets, takes the units, and
// spreads the remaining units evenly.
var Bucketed = family.Strategy(catalog.Info{
	Name:       "bucketed",
	Source:     "common practice in large shops: split the hot row",
	Guarantees: catalog.Robust,
	Stock:      seckill.InBuckets,
	Stored:     catalog.Stored{Reads: "SELECT run, initial"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &bucketed{bucketStock{d.Ledger}}, nil
	},
})

type bucketed struct{ bucketStock }

func (s *bucketed) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	seen, err := s.readStock(ctx, p)
	if err != nil {
		return r, err
	}
	if seen.Piece != nil {
		r, err = s.sellUnits(ctx, p, seen, func(tx *gorm.DB) error {
			return s.takeOne(tx, p, seen)
		})
		if !errors.Is(err, errTooFew) {
			return r, err
		}
	}
	// The first transaction has ended, so this buyer holds no lock. All buyers
	// lock the buckets in the same order, so that they do not deadlock.
	return s.sellUnits(ctx, p, seen, func(tx *gorm.DB) error {
		return s.takeAny(tx, p, seen)
	})
}

// takeAny locks all buckets, so that nobody else can take or move units, and
// then decides whether enough are left. It spreads the remaining units evenly,
// so that the next buyers need only one bucket each.
func (s *bucketed) takeAny(
	tx *gorm.DB, p seckill.Purchase, seen stockView,
) error {
	var all struct{ Units *int64 }
	err := s.store.ReadIn(tx, &all, "SELECT SUM(num) AS units "+
		"FROM stock_buckets FORCE INDEX (PRIMARY) "+
		"WHERE sku_id = ? AND run = ? FOR UPDATE", p.SKU, seen.Run)
	switch {
	case err != nil:
		return err
	case all.Units == nil:
		return ledger.ErrReset
	case *all.Units < p.Quantity:
		return seckill.ErrSoldOut
	}
	_, _, err = s.store.Exec(tx, "UPDATE stock_buckets "+
		"SET num = "+evenShare("?", "bucket")+" WHERE sku_id = ? AND run = ?",
		*all.Units-p.Quantity, p.SKU, seen.Run)
	return err
}

// bucketCount is the number of rows that a stock has. More buckets shorten the
// queues on a server with many cores, but scatter the last units more. All
// processes must use the same number.
const bucketCount = 4

type bucketStock struct{ store *ledger.Store }

// homeBucket returns the bucket that a buyer tries first, in any process. The
// multiplication spreads consecutive user numbers over the buckets.
func homeBucket(user int64) int64 {
	return int64(uint64(user) * 0x9E3779B97F4A7C15 >> 32 % bucketCount)
}

// readStock reads the units left in all buckets. It also finds the first
// bucket that has enough, from the buyer's home bucket on. It takes no lock,
// so other buyers may buy these units first.
func (s *bucketStock) readStock(
	ctx context.Context, p seckill.Purchase,
) (stockView, error) {
	return readPieces(ctx, s.store, p, `
(SELECT SUM(b.num) FROM stock_buckets b
  WHERE b.sku_id = stock.id AND b.run = stock.run) AS units,
(SELECT b.bucket FROM stock_buckets b
  WHERE b.sku_id = stock.id AND b.run = stock.run AND b.num >= ?
  ORDER BY b.bucket < ?, b.bucket LIMIT 1) AS piece`,
		p.Quantity, homeBucket(p.User))
}

// A stockView is the state of a stock in pieces (buckets or unit rows).
type stockView struct {
	Run, Initial int64
	Started      bool
	Units        *int64 // units left; nil if the run has no pieces yet
	Piece        *int64 // a bucket with enough units, or nil
}

// readPieces reads a stock in pieces without a lock. It returns an error if
// the purchase must be refused, and ErrConflict if a reset has not written the
// pieces yet. The argument pieces is SQL that reads the columns units and
// piece from the strategy's own table. One statement reads everything, because
// units that move between pieces could otherwise be counted twice or missed.
func readPieces(
	ctx context.Context, store *ledger.Store, p seckill.Purchase,
	pieces string, args ...any,
) (seen stockView, err error) {
	err = store.Read(ctx, &seen, "SELECT run, initial, "+store.Started()+
		" AS started, "+pieces+" FROM stock WHERE id = ?",
		append(args, p.SKU)...)
	switch {
	case err != nil:
		return seen, err
	case !seen.Started:
		return seen, seckill.ErrNotStarted
	case seen.Units == nil:
		return seen, fmt.Errorf("%w: the stock of %s is not set for run %d "+
			"of SKU %d: if that lasts, reset the sale",
			seckill.ErrConflict, store.Strategy(), seen.Run, p.SKU)
	case *seen.Units < p.Quantity:
		return seen, seckill.ErrSoldOut
	}
	return seen, nil
}

// sellUnits writes the order and calls the function take, which takes the
// order's units, in one transaction. The order's column remaining gets
// seen.Units minus the units of this order.
func (s *bucketStock) sellUnits(
	ctx context.Context, p seckill.Purchase, seen stockView,
	take func(tx *gorm.DB) error,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		_, r, err = s.store.Place(tx, p, seen.Run,
			*seen.Units-p.Quantity)
		if err != nil {
			return err
		}
		return take(tx)
	})
	return r, err
}

// errTooFew means that others bought the units after this buyer's read.
var errTooFew = errors.New("too few units")

func (s *bucketStock) takeOne(
	tx *gorm.DB, p seckill.Purchase, seen stockView,
) error {
	rows, _, err := s.store.Exec(tx, "UPDATE stock_buckets "+
		"SET num = num - ? "+
		"WHERE sku_id = ? AND bucket = ? AND run = ? AND num >= ?",
		p.Quantity, p.SKU, *seen.Piece, seen.Run, p.Quantity)
	if err == nil && rows == 0 {
		err = errTooFew
	}
	return err
}

// Restore gives the units to the buyer's home bucket. It takes the locks in
// the same order as Deduct: first the order, then the bucket.
func (s *bucketStock) Restore(ctx context.Context, orderID string) error {
	return s.store.CancelOrder(ctx, orderID, func(
		tx *gorm.DB, o ledger.Order,
	) error {
		return s.store.GiveBack(tx, "UPDATE stock_buckets "+
			"SET num = num + ? WHERE sku_id = ? AND bucket = ? AND run = ?",
			o.Quantity, o.SKUID, homeBucket(o.UserID), o.Run)
	})
}

// Reset spreads the stock in the ledger over the buckets. If the buckets
// already belong to the ledger's run, Reset changes nothing: the sale may have
// begun. Reset waits for buyers of the earlier run who have locked a bucket.
// All other buyers of that run find that it has ended.
func (s *bucketStock) Reset(ctx context.Context, sku, _ int64) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, `
INSERT INTO stock_buckets (sku_id, bucket, run, num)
SELECT s.id, b.bucket, s.run, `+evenShare("s.initial", "b.bucket")+`
  FROM stock s JOIN (SELECT 0 AS bucket UNION ALL SELECT 1
    UNION ALL SELECT 2 UNION ALL SELECT 3) b
 WHERE s.id = ? ORDER BY b.bucket
ON DUPLICATE KEY UPDATE
  num = IF(stock_buckets.run = VALUES(run), stock_buckets.num, VALUES(num)),
  run = VALUES(run)`, sku)
		return err
	})
}

// evenShare returns the SQL for one bucket's share of the given units. Units
// that do not divide evenly go to the first buckets.
func evenShare(units, bucket string) string {
	return fmt.Sprintf("(%s + %d - %s) DIV %d",
		units, bucketCount-1, bucket, bucketCount)
}

func (s *bucketStock) Count(ctx context.Context, sku int64) (int64, error) {
	var left struct{ Units *int64 }
	err := s.store.Read(ctx, &left, "SELECT SUM(num) AS units "+
		"FROM stock_buckets WHERE sku_id = ? "+
		"AND run = (SELECT run FROM stock WHERE id = ?)", sku, sku)
	if err == nil && left.Units == nil {
		err = fmt.Errorf("%w: the buckets of SKU %d were not set for its run",
			seckill.ErrUnknownSKU, sku)
	}
	if err != nil {
		return 0, err
	}
	return *left.Units, nil
}
