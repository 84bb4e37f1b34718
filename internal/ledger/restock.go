package ledger

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Restock says how many units to add to the stock of a SKU's current run. Key is its idempotency key: the
// units of one key are added once, however often the call is repeated.
type Restock struct {
	SKU, Units int64
	Key        string
}

// A RestockPreparer is a Strategy whose Restore reads more than an order's row in the table orders. PrepareRestock
// writes these other records for a restock, in the transaction that writes the restock's row.
type RestockPreparer interface {
	PrepareRestock(tx *gorm.DB, o Order) error
}

// AddUnits adds the units of a Restock to the stock of a run, in two steps:
//
//  1. One transaction raises the run's initial stock and writes a row with the key: an active order
//     of the operator for the new units.
//  2. The strategy cancels this order by Restore, which adds the units to the strategy's stock once.
//     Restore uses the same lock or version as a sale.
//
// Between the steps the units are neither left nor sold. If the call ends there, another call with
// the same key goes on with step 2. Calls with one key may run at the same time, in any process.
//
// The Store must be bound to the strategy. AddUnits returns the row and whether an earlier call wrote
// it. The row's Remaining is the initial stock including the new units. ErrPending means that the row
// is written, but the units are not in the stock yet. ErrMismatch means that the key was used for
// another number of units, or with another strategy. Other errors are those of Strategy.Deduct.
func AddUnits(ctx context.Context, s *Store, strategy seckill.Strategy, r Restock) (Order, bool, error) {
	var o Order
	var replayed bool
	var err error
	for range 2 { // If another call with the same key writes the row after FindRequest, the second round finds it.
		o, err = s.FindRequest(ctx, r.SKU, judge.OperatorOf(r.Key), r.Key)
		replayed = err == nil
		if !errors.Is(err, seckill.ErrUnknownOrder) {
			break
		}
		if o, err = placeRestock(ctx, s, strategy, r); !errors.Is(err, seckill.ErrDuplicate) {
			break
		}
	}
	if err == nil && (o.Quantity != r.Units || o.Strategy != s.strategy) {
		err = seckill.ErrMismatch
	}
	if err == nil && o.Status == Active {
		o.Status, err = Cancelled, finishRestock(ctx, strategy, o)
	}
	return o, replayed, err
}

// placeRestock is the first step of AddUnits: it raises the initial stock and writes the row. A strategy may keep a
// count of its own, which a reset writes later than the stock row. Until that count is written, placeRestock returns
// ErrUnavailable. If it went on, the reset would write a count that includes the new units, and Restore would add them
// again.
func placeRestock(ctx context.Context, s *Store, strategy seckill.Strategy, r Restock) (Order, error) {
	var o Order
	set, err := s.SKU(ctx, r.SKU)
	if c, counts := strategy.(seckill.Counter); err == nil && counts {
		if _, err = c.Count(ctx, r.SKU); errors.Is(err, seckill.ErrUnknownSKU) {
			// The SKU exists, so ErrUnknownSKU would mislead the caller. The verb %v hides it from errors.Is.
			err = fmt.Errorf("%w: %v", seckill.ErrUnavailable, err)
		}
	}
	if err != nil {
		return o, err
	}
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		rows, initial, err := s.Exec(tx, "UPDATE stock SET initial = LAST_INSERT_ID(initial + ?) "+
			"WHERE id = ? AND run = ?", r.Units, r.SKU, set.Run)
		switch {
		case err != nil:
			return err
		case rows == 0:
			return ErrReset
		case initial > seckill.MaxStock:
			return fmt.Errorf("%w: the stock would be %d units, and %d are allowed",
				seckill.ErrInvalid, initial, int64(seckill.MaxStock))
		}
		p := seckill.Purchase{SKU: r.SKU, User: judge.OperatorOf(r.Key), Quantity: r.Units, RequestID: r.Key}
		id, receipt, err := s.Place(tx, p, set.Run, initial)
		if err != nil {
			return err
		}
		o = Order{ID: id, PublicID: receipt.OrderID, RequestID: r.Key, Run: set.Run, UserID: p.User, SKUID: r.SKU,
			Quantity: r.Units, Remaining: initial, Status: Active, Strategy: s.strategy}
		if prepares, ok := strategy.(RestockPreparer); ok {
			return prepares.PrepareRestock(tx, o)
		}
		return nil
	})
	return o, err
}

// finishRestock is the second step of AddUnits: it cancels the operator's order, which adds the units to the stock.
func finishRestock(ctx context.Context, strategy seckill.Strategy, o Order) error {
	err := strategy.Restore(ctx, o.PublicID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return ErrReset
	case seckill.NothingTaken(err): // Step 2 added nothing, but step 1 is committed.
		return fmt.Errorf("%w: the restock is on record, and its units are not in the stock yet: %v",
			seckill.ErrPending, err)
	}
	return err
}
