package seckill

import (
	"context"
	"errors"
	"time"
)

// A Reserver is a Strategy that also sells in two steps: units are held for the
// buyer first, and sold when the buyer pays in time. Deadlines are by the
// database's clock. A reservation is named by the id of its order.
type Reserver interface {
	// Reserve holds p.Quantity units for p.User, for so long. Its errors are those
	// of Deduct.
	Reserve(ctx context.Context, p Purchase, hold time.Duration) (Receipt, error)

	// Pay turns a reservation into a sale. To pay again changes nothing and is no
	// error. ErrExpired: it came after the deadline, and the units are given
	// back. ErrCancelled: the buyer has cancelled. ErrUnknownOrder: there is no such
	// reservation. Other errors are as for Deduct.
	Pay(ctx context.Context, id string) error

	// Release gives an unpaid reservation back, once. That it has expired or was
	// cancelled before is no error. ErrPaid: it is paid; Restore cancels the order.
	// Other errors are as for Deduct.
	Release(ctx context.Context, id string) error

	// Expire gives back the reservations of its strategy that are past their
	// deadline, each once however many processes do so, and says how many. Some
	// may be left for the next call.
	Expire(ctx context.Context) (released int, err error)
}

// A ReservationState says what became of a reservation. Only Reserved changes,
// and Paid, when its order is cancelled.
type ReservationState string

const (
	Reserved            ReservationState = "reserved"
	Paid                ReservationState = "paid"
	ReservationExpired  ReservationState = "expired"
	ReservationReleased ReservationState = "cancelled"
)

// What a reservation refuses. Nothing was taken by the call.
var (
	ErrExpired   = errors.New("the reservation has expired")
	ErrCancelled = errors.New("the reservation is cancelled")
	ErrPaid      = errors.New("the reservation is paid")
)
