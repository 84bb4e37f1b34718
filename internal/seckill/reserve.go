package seckill

import (
	"context"
	"errors"
	"time"
)

// A Reserver is a Strategy that also sells in two steps. It first holds units for a buyer, and
// sells them if the buyer pays before a deadline. The database's clock decides whether the deadline
// has passed. The id of a reservation is the id of its order.
type Reserver interface {
	// Reserve holds p.Quantity units for p.User, for the duration hold. Errors are as for Deduct.
	Reserve(ctx context.Context, p Purchase, hold time.Duration) (Receipt, error)

	// Pay turns a reservation into a sale. If the reservation is paid already, Pay returns nil. Pay returns ErrExpired
	// if the deadline is past and the units are given back, ErrCancelled if the buyer has cancelled, and
	// ErrUnknownOrder if there is no such reservation. Other errors are as for Deduct.
	Pay(ctx context.Context, id string) error

	// Release gives the units of an unpaid reservation back, once. If the reservation has expired
	// or was cancelled, Release returns nil. It returns ErrPaid if the reservation is paid. Restore
	// can then cancel the order. Other errors are as for Deduct.
	Release(ctx context.Context, id string) error

	// Expire gives back the units of overdue reservations of this strategy, and returns the number of these
	// reservations. The units of a reservation are given back once, even if several processes call Expire. Some
	// reservations may be left for the next call.
	Expire(ctx context.Context) (released int, err error)
}

// A ReservationState is the state of a reservation. Reserved can change to each of the other
// states. Paid changes only if the order is cancelled.
type ReservationState string

const (
	Reserved            ReservationState = "reserved"
	Paid                ReservationState = "paid"
	ReservationExpired  ReservationState = "expired"
	ReservationReleased ReservationState = "cancelled"
)

// Refusals of Pay and Release. A call that returns one of them has taken nothing.
var (
	ErrExpired   = errors.New("the reservation has expired")
	ErrCancelled = errors.New("the reservation is cancelled")
	ErrPaid      = errors.New("the reservation is paid")
)
