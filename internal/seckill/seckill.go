// Package seckill has the domain of a flash sale: a purchase, its receipt, the Strategy interface
// that every way of deducting stock implements, and its errors. It imports the standard library only.
package seckill

import (
	"context"
	"errors"
	"time"
)

// MaxQuantity is the largest quantity of a purchase, and MaxStock the largest stock of a SKU. They
// keep each sum in the ledger or the audit far from the limits of a signed 64-bit integer.
const (
	MaxQuantity = 1_000_000
	MaxStock    = 1_000_000_000
)

// The commands of seckill use these SKUs. Other sales in the same database must not use them. Each of
// the last three SKUs begins a range, because each measurement, schedule and trace has its own SKU.
const (
	ShopSKU     = 1_000_000         // the shop of `seckill up` sells this SKU
	BenchSKU    = 9_000_000         // `seckill bench` takes the locks of this SKU
	MeasuredSKU = 6_000_000_000     // base of `seckill prove`, plus the number of the measurement
	ExploredSKU = 7_000_000_000_000 // base of searches, plus the schedule's number and 1,000 for each second since 1970
	TracedSKU   = 8_000_000_000_000 // base of traces, plus the milliseconds since 1970
)

// A Purchase is one buyer's request for some units of one SKU.
type Purchase struct {
	SKU      int64
	User     int64
	Quantity int64 // the number of units, from 1 to MaxQuantity

	// RequestID is the idempotency key. It is unique for each user, and not empty when the purchase
	// reaches a Strategy. If the buyer sends the purchase again, it has the same RequestID.
	RequestID string
}

// A Receipt is a buyer's proof of a sale.
type Receipt struct {
	OrderID  string `json:"order_id"` // an opaque string
	SKU      int64  `json:"sku_id"`
	Quantity int64  `json:"quantity"`
	// Remaining is the number of units left right after this sale. It is negative if the sale
	// oversold. If the stock is in pieces (StockStore.Split), Remaining is the number that was read
	// before the sale, minus the units of this sale. Others may have bought in the meantime.
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// A Strategy is one way of deducting stock.
type Strategy interface {
	// Deduct sells p.Quantity units of p.SKU to p.User and records the order. The caller must know
	// that the SKU exists; if it does not, Deduct may return ErrSoldOut.
	//
	// ErrInvalid, ErrUnknownSKU, ErrNotStarted, ErrSoldOut, ErrDuplicate, ErrBusy, ErrConflict,
	// ErrUnavailable, ErrTooManyUnits and ErrMismatch mean that provably nothing was taken. After
	// any other error the outcome is unknown: the sale may have happened.
	Deduct(ctx context.Context, p Purchase) (Receipt, error)

	// Restore cancels an order and gives its units back, once. It uses the same lock or version as Deduct; without
	// that guard it would lose updates. Restore returns ErrUnknownOrder if there is no such order. For a cancelled
	// order it does nothing and returns nil. Other errors are as for Deduct.
	Restore(ctx context.Context, orderID string) error
}

// A Resetter is a Strategy that keeps state outside the stock row, such as a counter in Redis, or a lock's key or
// node. Reset sets that state for a new run of sku with the given stock, and frees locks.
type Resetter interface {
	Reset(ctx context.Context, sku, stock int64) error
}

// A Counter is a Strategy that keeps the stock outside the stock row, or in the row and in another place. Count
// returns the number of units left of sku in that other place. It returns ErrUnknownSKU if the number was never set
// there, or if the server has lost it.
type Counter interface {
	Count(ctx context.Context, sku int64) (int64, error)
}

// A Worker is a Strategy with work besides purchases, such as expiring reservations. Work runs until
// ctx ends. Other processes, or the next start, do the work that is left then. A service process calls it once.
type Worker interface {
	Work(ctx context.Context)
}

// An Acceptor is a Strategy that can answer in two steps: first that a purchase is accepted, and
// later with the order or the refusal. The second step happens even if the process that accepted dies.
type Acceptor interface {
	// Accept takes the units and returns before the order is written. If the request has an order already, written is
	// true and r is its receipt. Errors are as for Deduct. If an error does not prove that nothing was taken (see
	// NothingTaken), the purchase may have been accepted.
	Accept(ctx context.Context, p Purchase) (r Receipt, written bool, err error)

	// Became returns the state of a user's request in the current run of a SKU, or of any SKU if sku is 0. The state
	// is nil if the request has an order, even a cancelled one; ErrPending if it is accepted; ErrUnknownOrder if it
	// was never accepted or is forgotten; and, if it was refused, the error that Deduct would have returned. After
	// any other error the state is unknown.
	Became(ctx context.Context, sku, user int64, requestID string) error
}

// A Reserver is a Strategy that can also sell in two steps. It first holds units for a buyer, and sells them if the
// buyer pays before a deadline. The database's clock decides whether the deadline has passed. The id of a reservation
// is the id of its order.
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

	// Expire gives back the units of overdue reservations of this strategy. The units of a reservation are given back
	// once, even if several processes call Expire. After an error, some overdue reservations may remain.
	Expire(ctx context.Context) error
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

// The outcomes that a Strategy may report. Wrap them with %w and test them with errors.Is.
var (
	ErrInvalid      = errors.New("invalid purchase")
	ErrUnknownSKU   = errors.New("unknown SKU")
	ErrUnknownOrder = errors.New("unknown order")
	ErrNotStarted   = errors.New("the sale has not started")
	ErrSoldOut      = errors.New("sold out")
	ErrDuplicate    = errors.New("this user already has an active order for this SKU")
	ErrBusy         = errors.New("busy: waited as long as allowed")
	ErrConflict     = errors.New("conflict: another buyer changed the stock meanwhile")
	ErrUnavailable  = errors.New("a backend is unavailable")
	ErrTooManyUnits = errors.New("the sale has more units than this strategy can keep")

	// ErrMismatch means that the request id was used for a purchase of another quantity.
	ErrMismatch = errors.New("the idempotency key belongs to another request")
	// ErrPending means that a request is accepted and that its order is not written yet.
	ErrPending = errors.New("accepted, and not written yet")

	// ErrUnknown means that the outcome is not known, for instance because the answer to a COMMIT
	// was lost. The caller can look for the order by its RequestID.
	ErrUnknown = errors.New("the outcome is unknown")
)

// NothingTaken reports whether err proves that the purchase took nothing.
func NothingTaken(err error) bool {
	if errors.Is(err, ErrUnknown) {
		return false
	}
	for _, known := range []error{ErrInvalid, ErrUnknownSKU, ErrUnknownOrder,
		ErrNotStarted, ErrSoldOut, ErrDuplicate, ErrBusy, ErrConflict, ErrUnavailable, ErrTooManyUnits, ErrMismatch,
		ErrExpired, ErrCancelled, ErrPaid} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// A FieldError describes an error in one field of a request. Detail completes a sentence that begins
// with the field's name. A page translates Code and Params instead, because Code never changes.
type FieldError struct {
	Field  string         `json:"field"`
	Detail string         `json:"detail"`
	Code   string         `json:"code,omitempty"`
	Params map[string]any `json:"params,omitempty"`
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }
