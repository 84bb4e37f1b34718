package ledger

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Restock says how many units to add to the stock of a SKU's current run. A call with a key that
// was used before adds nothing.
type Restock struct {
	SKU, Units int64
	Key        string
}

// A RestockPreparer is a Strategy that keeps more of an order than its row in the table orders.
// PrepareRestock writes what Restore will look for. It does so in the transaction that writes the
// row of the restock.
type RestockPreparer interface {
	PrepareRestock(tx *gorm.DB, o Order) error
}

// AddUnits adds the units of a Restock to the stock of a run, in two steps:
//
//  1. One transaction raises the run's initial stock and writes a row with the key: an order of
//     the new units, which the operator holds.
//  2. The strategy cancels that order. Restore puts the units where the strategy keeps its stock,
//     once, and under the guard under which it sells.
//
// Between the steps the units are neither left nor sold. If the call ends there, another call
// with the same key goes on with step 2. Copies of a call may run at once, in any process.
//
// The Store must be bound to the strategy. AddUnits returns the row, whose Remaining is the initial
// stock with the new units, and whether an earlier call had written the row. ErrPending means that the
// row is written, and the units have not arrived. ErrMismatch means that the key belongs to other
// units, or to another strategy. Other errors are as for Deduct.
func AddUnits(ctx context.Context, s *Store, strategy seckill.Strategy, r Restock) (Order, bool, error) {
	var o Order
	var replayed bool
	var err error
	for range 2 { // a copy of the call may write the row after we have looked
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

// placeRestock is the first step of AddUnits: it raises the initial stock and writes the row. A
// reset first writes the stock row, and later the strategy's own count. placeRestock refuses in
// between. Otherwise the reset would count the new units, and Restore would then add them a second
// time.
func placeRestock(ctx context.Context, s *Store, strategy seckill.Strategy, r Restock) (Order, error) {
	var o Order
	set, err := s.SKU(ctx, r.SKU)
	if c, counts := strategy.(seckill.Counter); err == nil && counts {
		if _, err = c.Count(ctx, r.SKU); errors.Is(err, seckill.ErrUnknownSKU) {
			err = fmt.Errorf("%w: %v", seckill.ErrUnavailable, err) // the SKU exists: with %v, this is no ErrUnknownSKU
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

// finishRestock is the second step of AddUnits: it cancels the order, which adds the units.
func finishRestock(ctx context.Context, strategy seckill.Strategy, o Order) error {
	err := strategy.Restore(ctx, o.PublicID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return ErrReset
	case seckill.NothingTaken(err): // this step has added nothing
		return fmt.Errorf("%w: the restock is on record, and its units are not in the stock yet: %v",
			seckill.ErrPending, err)
	}
	return err
}
