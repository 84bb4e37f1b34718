package hotsku

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Reserve holds units for a buyer until the buyer pays, or until a deadline.
var Reserve = family.Strategy(catalog.Info{
	Name:       "reserve",
	Source:     "TCC (try, confirm, cancel); TigerBeetle's pending transfers",
	Guarantees: catalog.Robust,
	Also:       []string{"order_first.go"},
	Stored:     catalog.Stored{Reads: "SELECT run, num"},
	Reserves:   true,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &reserve{orderFirst{d.Ledger}, d.Log, "state = 'reserved' " +
			"AND ends_at <= UTC_TIMESTAMP(6)"}, nil
	},
})

type reserve struct {
	orderFirst // sells as order-first does
	log        *slog.Logger
	// overdue is the SQL condition under which a reservation may expire.
	overdue string
}

func (s *reserve) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	return s.placeReservation(ctx, p, seckill.Paid, noDeadline)
}

const noDeadline = "'1970-01-01'"

// Reserve is the "try" of try-confirm-cancel. Only this step takes units.
func (s *reserve) Reserve(
	ctx context.Context, p seckill.Purchase, hold time.Duration,
) (seckill.Receipt, error) {
	// The clocks of the processes differ, so the database's clock decides
	// about the deadline.
	return s.placeReservation(ctx, p, seckill.Reserved,
		"UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND", hold.Microseconds())
}

// placeReservation sells as order-first does, and writes the reservation
// before it changes the hot row.
func (s *reserve) placeReservation(
	ctx context.Context, p seckill.Purchase,
	state seckill.ReservationState, ends string, hold ...any,
) (seckill.Receipt, error) {
	return s.sellOrder(ctx, p, func(tx *gorm.DB, run, id int64) error {
		o := ledger.Order{SKUID: p.SKU, Run: run, ID: id, Quantity: p.Quantity}
		return s.writeReservation(tx, o, state, ends, hold...)
	})
}

func (s *reserve) writeReservation(
	tx *gorm.DB, o ledger.Order, state seckill.ReservationState,
	ends string, hold ...any,
) error {
	_, _, err := s.store.Exec(tx, "INSERT INTO reservations "+
		"(sku_id, run, id, strategy, state, quantity, ends_at) VALUES "+
		"(?, ?, ?, ?, ?, ?, "+ends+")", append([]any{o.SKUID, o.Run, o.ID,
		s.store.Strategy(), string(state), o.Quantity}, hold...)...)
	return err
}

// PrepareRestock writes a reservation for o. To add units, a restock writes
// the order o and then cancels it by Restore, which needs a reservation.
func (s *reserve) PrepareRestock(tx *gorm.DB, o ledger.Order) error {
	return s.writeReservation(tx, o, seckill.Paid, noDeadline)
}

// Pay is the step "confirm" of try, confirm, cancel (TCC). The reservation has
// taken the units already, so Pay locks no stock.
func (s *reserve) Pay(ctx context.Context, id string) error {
	o, err := s.store.Reservation(ctx, id)
	if err != nil {
		return err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, "UPDATE reservations "+
			"SET state = 'paid' WHERE sku_id = ? AND run = ? AND id = ? "+
			"AND state = 'reserved' AND ends_at > UTC_TIMESTAMP(6)",
			o.SKUID, o.Run, o.ID)
		return err
	})
	if err != nil {
		return err
	}
	// Read whether the reservation is paid now. If the payment is late, Pay
	// gives the units back at once, without waiting for the sweeper, and
	// returns ErrExpired.
	if o, err = s.readOutcome(ctx, id); err != nil {
		return err
	}
	if o.Reservation.State == seckill.Reserved {
		err = s.releaseUnits(ctx, o, ledger.Expired, s.overdue)
		if err != nil {
			return err
		}
		if o, err = s.readOutcome(ctx, id); err != nil {
			return err
		}
	}
	switch o.Reservation.State {
	case seckill.ReservationExpired:
		return seckill.ErrExpired
	case seckill.ReservationReleased:
		return seckill.ErrCancelled
	case seckill.Reserved: // neither paid nor overdue: the clock was set back
		return seckill.ErrConflict
	}
	return nil
}

// Release is the "cancel". Its caller needs the id from the answer to the
// "try", so the "cancel" cannot arrive before the "try".
func (s *reserve) Release(ctx context.Context, id string) error {
	o, err := s.store.Reservation(ctx, id)
	if err != nil {
		return err
	}
	err = s.releaseUnits(ctx, o, ledger.Cancelled, "state = 'reserved'")
	if err != nil {
		return err
	}
	o, err = s.readOutcome(ctx, id)
	if err == nil && o.Reservation.State == seckill.Paid {
		err = seckill.ErrPaid
	}
	return err
}

// readOutcome reads the reservation after a write. If the read fails, the
// result is ErrUnknown, because the write may be committed.
func (s *reserve) readOutcome(
	ctx context.Context, id string,
) (ledger.Order, error) {
	o, err := s.store.Reservation(ctx, id)
	if err != nil && !errors.Is(err, seckill.ErrUnknownOrder) {
		err = fmt.Errorf("%w: read the reservation: %w",
			seckill.ErrUnknown, err)
	}
	return o, err
}

func (s *reserve) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Reservation(ctx, orderID)
	if err != nil {
		return err
	}
	return s.releaseUnits(ctx, o, ledger.Cancelled,
		"state IN ('reserved', 'paid')")
}

// releaseUnits gives an order's units back if its reservation meets the SQL
// condition. Only the first of several calls changes the state, because the
// UPDATE of a later call matches no row. All changes of a reservation lock the
// reservation first and the stock last, so that they do not deadlock.
// (placeReservation inserts the order before the reservation, but nobody else
// can wait for these new rows.)
func (s *reserve) releaseUnits(
	ctx context.Context, o ledger.Order, newState, condition string,
) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, _, err := s.store.Exec(tx, "UPDATE reservations "+
			"SET state = ?, released = released + quantity "+
			"WHERE sku_id = ? AND run = ? AND id = ? AND "+condition,
			newState, o.SKUID, o.Run, o.ID)
		if err != nil || rows == 0 {
			return err
		}
		_, _, err = s.store.Exec(tx, "UPDATE orders SET status = ? "+
			"WHERE sku_id = ? AND run = ? AND id = ?",
			newState, o.SKUID, o.Run, o.ID)
		if err != nil {
			return err
		}
		return s.store.ReturnUnits(tx, o)
	})
}

const (
	// sweepInterval is the time between two sweeps. If the sweeper keeps up, a
	// reservation expires at most this long after its deadline.
	sweepInterval = 500 * time.Millisecond
	maxSwept      = 200
)

// Work gives back overdue reservations, sweep by sweep, until ctx ends. If a
// sweep stops early, the next sweep, here or elsewhere, finds the rest.
func (s *reserve) Work(ctx context.Context) {
	for failed := false; tap.Sleep(ctx, sweepInterval) == nil; {
		err := s.Expire(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			// Log the first failure only.
			s.log.Warn("expired reservations are not given back", "error", err)
		}
		failed = err != nil
	}
}

// Expire makes one sweep: it gives the units of overdue reservations back.
// Other calls may pay, cancel or expire a reservation that the sweep has
// found, so releaseUnits checks the state again. If the stock row of a SKU is
// locked, Expire leaves the SKU for the next sweep, and ends with ErrBusy.
func (s *reserve) Expire(ctx context.Context) error {
	var lockedSKUs []int64
	var busy error
	for full := true; full; {
		due, err := s.findOverdue(ctx, lockedSKUs)
		if err != nil {
			return err
		}
		full = len(due) == maxSwept
		for _, o := range due {
			if slices.Contains(lockedSKUs, o.SKUID) {
				continue
			}
			err := s.releaseUnits(ctx, o, ledger.Expired, s.overdue)
			switch {
			case err == nil:
			case errors.Is(err, seckill.ErrUnknownOrder): // the sale was reset
			case errors.Is(err, seckill.ErrBusy) && ctx.Err() == nil:
				lockedSKUs = append(lockedSKUs, o.SKUID)
				busy = err
			default:
				return err
			}
		}
	}
	return busy
}

func (s *reserve) findOverdue(
	ctx context.Context, lockedSKUs []int64,
) (due []ledger.Order, err error) {
	others, of := "", []any{s.store.Strategy()}
	if len(lockedSKUs) > 0 {
		others, of = "AND r.sku_id NOT IN ? ", append(of, lockedSKUs)
	}
	err = s.store.DB(ctx).Raw("SELECT r.sku_id, r.run, r.id, r.quantity "+
		"FROM reservations r JOIN stock s ON s.id = r.sku_id "+
		"AND s.run = r.run "+
		"WHERE r.strategy = ? AND r.state = 'reserved' "+
		"AND r.ends_at <= UTC_TIMESTAMP(6) "+others+
		"ORDER BY r.ends_at LIMIT ?",
		append(of, maxSwept)...).Scan(&due).Error
	return due, err
}
