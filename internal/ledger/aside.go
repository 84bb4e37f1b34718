package ledger

import (
	"context"
	"fmt"

	"seckill/internal/seckill"
)

// splitSchema are the stocks in pieces (StockStore.Split). On SQLite no strategy
// uses them: it locks the whole database, so pieces would gain nothing there.
//
// A SKU has the same few buckets for ever, and a reset writes its run into them.
// Units belong to one run. Theirs is the index that a buyer looks for free units
// in: it has everything that the look asks for, in the order of the look, so that
// no row is locked on the way to the one that is taken.
var splitSchema = []string{
	`CREATE TABLE IF NOT EXISTS stock_buckets (
	sku_id BIGINT NOT NULL,
	bucket BIGINT NOT NULL,
	run    BIGINT NOT NULL,
	num    BIGINT NOT NULL,
	PRIMARY KEY (sku_id, bucket)
) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS stock_units (
	sku_id   BIGINT NOT NULL,
	run      BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	order_id BIGINT NULL,
	PRIMARY KEY (sku_id, run, id),
	KEY stock_units_free (sku_id, run, order_id, id)
) ENGINE=InnoDB`,
}

// A Sight is what one look saw of a sale whose stock is in pieces.
type Sight struct {
	Run, Initial int64
	Started      bool
	Units        *int64 // that are left, nil: no stock was set for this run
	Piece        *int64 // the strategy's own; nil: there is none
}

// LookAside is Look for a stock in pieces. pieces are the columns units and
// piece, which the strategy reads from its own table; args are theirs. All is
// one statement, so it sees one moment: units are never counted twice, or missed,
// because they move. ErrConflict while a reset has not set the pieces yet.
func (s *Store) LookAside(ctx context.Context, p seckill.Purchase, pieces string, args ...any) (Sight, error) {
	var seen Sight
	err := s.Read(ctx, &seen, "SELECT run, initial, "+s.Started()+" AS started, "+pieces+
		" FROM stock WHERE id = ?", append(args, p.SKU)...)
	switch {
	case err != nil:
		return seen, err
	case !seen.Started:
		return seen, seckill.ErrNotStarted
	case seen.Units == nil:
		return seen, fmt.Errorf("%w: the stock of %s is not set for run %d of SKU %d: if that lasts, reset the sale",
			seckill.ErrConflict, s.strategy, seen.Run, p.SKU)
	case *seen.Units < p.Quantity:
		return seen, seckill.ErrSoldOut
	}
	return seen, nil
}
