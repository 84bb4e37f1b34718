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

//go:embed bucketed.go buckets.go
//go:embed bucketed.en.md bucketed.zh.md
var bucketedFiles embed.FS

// Bucketed spreads the hot row over several.
var Bucketed = catalog.Info{
	Name:   "bucketed",
	Title:  "The stock in several rows",
	Family: "hotsku",
	Source: "common practice in large shops: split the hot row",
	Idea: "The stock is spread over four rows. A buyer takes from one that " +
		"has enough; if none has, they lock all, take, and spread the rest.",
	Promises: "Never oversells, loses no update, and says sold out only when " +
		"all rows together have too few, with any number of processes.",
	Breaks: "Nothing breaks the stock; what remains is not exact beside " +
		"others, and on few cores nothing is gained.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: ledger.InBuckets,
	Files: bucketedFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &bucketed{bucketStock{d.Ledger}}, nil
	},
}

type bucketed struct{ bucketStock }

func (s *bucketed) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	seen, err := s.look(ctx, p)
	if err != nil {
		return r, err
	}
	if seen.Piece != nil {
		r, err = s.sell(ctx, p, seen, func(tx *gorm.DB) error {
			return s.takeOne(tx, p, seen)
		})
		if !errors.Is(err, errTooFew) {
			return r, err
		}
	}
	// The first transaction, if there was one, has ended and holds no bucket
	// any more: all are locked from the first to the last, by everybody.
	return s.sell(ctx, p, seen, func(tx *gorm.DB) error {
		return s.takeAny(tx, p, seen)
	})
}

// takeAny locks all buckets, so that no unit can move, and decides. What is
// left it spreads evenly: the next buyers find it in one bucket again.
func (s *bucketed) takeAny(
	tx *gorm.DB, p seckill.Purchase, seen ledger.Sight,
) error {
	var all struct{ Units *int64 }
	err := s.store.ReadIn(tx, &all, "SELECT SUM(num) AS units "+
		"FROM stock_buckets FORCE INDEX (PRIMARY) "+
		"WHERE sku_id = ? AND run = ? FOR UPDATE", p.SKU, seen.Run)
	switch {
	case err != nil:
		return err
	case all.Units == nil:
		return fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)
	case *all.Units < p.Quantity:
		return seckill.ErrSoldOut
	}
	_, _, err = s.store.Exec(tx, "UPDATE stock_buckets "+
		"SET num = "+evenly("?", "bucket")+" WHERE sku_id = ? AND run = ?",
		*all.Units-p.Quantity, p.SKU, seen.Run)
	return err
}
