package hotsku

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// BucketedHasty is Bucketed without the second step, which takes from all
// buckets together. If the last two units are in two buckets, nobody can buy
// both: the strategy says sold out although enough units are left.
var BucketedHasty = family.Strategy(catalog.Info{
	Name:   "bucketed-hasty",
	Source: "a mistake of many split stocks: two pieces of one are not two",
	Guarantees: catalog.Guarantees{}.
		Holds(catalog.Oversell, catalog.OtherSKUs).
		Breaks(catalog.LostUpdate, catalog.Processes),
	Refuses: true,
	Repair:  "bucketed",
	Stock:   seckill.InBuckets,
	Stored:  catalog.Stored{Reads: "SELECT run, initial"},
	Also:    []string{"bucketed.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &bucketedHasty{bucketStock{d.Ledger}}, nil
	},
})

type bucketedHasty struct{ bucketStock }

func (s *bucketedHasty) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	seen, err := s.readStock(ctx, p)
	if err != nil {
		return r, err
	}
	if seen.Piece == nil { // the flaw: all buckets together may have enough
		return r, seckill.ErrSoldOut
	}
	r, err = s.sellUnits(ctx, p, seen, func(tx *gorm.DB) error {
		return s.takeOne(tx, p, seen)
	})
	if errors.Is(err, errTooFew) {
		err = fmt.Errorf("%w: another buyer was faster",
			seckill.ErrConflict)
	}
	return r, err
}
