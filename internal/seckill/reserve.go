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
	Reserve(ctx context.Context, p Purchase, hold time.Duration) (Reservation, error)

	// Pay turns a reservation into a sale. To pay again changes nothing and is no
	// error. ErrExpired: it came after the deadline, and the units are given
	// back. ErrCancelled: the buyer has cancelled. ErrUnknownOrder: there is no such
	// reservation. Other errors are as for Deduct.
	Pay(ctx context.Context, id string) (Reservation, error)

	// Release gives an unpaid reservation back, once. One that has expired or was
	// cancelled before is no error, and its state says which. ErrPaid: it is paid;
	// Restore cancels the order. Other errors are as for Deduct.
	Release(ctx context.Context, id string) (Reservation, error)

	// Reservation reads one; ErrUnknownOrder if there is none.
	Reservation(ctx context.Context, id string) (Reservation, error)

	// Expire gives back the reservations of its strategy that are past their
	// deadline, each once however many processes do so, and says how many. Some
	// may be left for the next call.
	Expire(ctx context.Context) (released int, err error)
}

// A Reservation is what a buyer holds.
type Reservation struct {
	Receipt
	User  int64
	State ReservationState
	// Ends is the deadline, and Left how long it was away when the reservation was
	// read; not above 0: it is past. Ends is NoDeadline if the units were bought and
	// paid by one call.
	Ends time.Time
	Left time.Duration
}

// NoDeadline is a time at which no reservation ends.
var NoDeadline = time.Unix(0, 0)

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
