// Package seckill is the domain of a flash sale: what a buyer asks for and
// gets, and what every way of deducting stock must answer. It imports the
// standard library only.
package seckill

import (
	"context"
	"errors"
)

// MaxQuantity is the largest quantity one purchase may ask for, and MaxStock
// the largest stock a SKU may have. Both keep every sum the ledger and its
// audit ever compute far away from the limits of a signed 64-bit integer.
const (
	MaxQuantity = 1_000_000
	MaxStock    = 1_000_000_000
)

// A Purchase is one buyer's request for some units of one SKU.
type Purchase struct {
	SKU      int64
	User     int64
	Quantity int64 // units, 1 … MaxQuantity

	// RequestID is the idempotency key: unique per user, never empty once the
	// purchase reaches a Strategy. The same purchase sent again carries the
	// same RequestID.
	RequestID string
}

// A Receipt is what a buyer holds after a sale.
type Receipt struct {
	OrderID  string `json:"order_id"` // opaque
	SKU      int64  `json:"sku_id"`
	Quantity int64  `json:"quantity"`
	// Remaining is how many units are left right after this sale; negative if
	// oversold. Where the stock is in pieces it is what the buyer, or their process,
	// saw before, less what they took: others may have bought meanwhile.
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// A Strategy is one way of deducting stock.
type Strategy interface {
	// Deduct sells p.Quantity units of p.SKU to p.User and records the order. The
	// caller has seen that the SKU exists: of one that does not, ErrSoldOut may be
	// said, too.
	//
	// ErrInvalid, ErrUnknownSKU, ErrNotStarted, ErrSoldOut, ErrDuplicate,
	// ErrBusy, ErrConflict, ErrUnavailable, ErrTooManyUnits and ErrMismatch mean that
	// provably nothing was taken. Any other error means that the outcome is unknown: the sale may
	// have happened.
	Deduct(ctx context.Context, p Purchase) (Receipt, error)

	// Restore cancels an order and gives its units back, once, under the same
	// guard (lock, version) as Deduct: giving back behind a lock's or a
	// version's back loses updates. ErrUnknownOrder when there is no such
	// order; cancelling a cancelled order again changes nothing and is not an
	// error. Other errors are as for Deduct.
	Restore(ctx context.Context, orderID string) error
}

// A Resetter is a Strategy that keeps state outside the stock row: a counter in
// Redis, a lock's key or node. Reset makes that state match a
// freshly seeded SKU with stock units and frees its locks.
type Resetter interface {
	Reset(ctx context.Context, sku, stock int64) error
}

// A Counter is a Strategy that keeps the stock somewhere else than in the stock
// row, or in two places: Count is what that stock store says is left of sku. A counter
// that was never seeded, or that its server lost, is ErrUnknownSKU.
type Counter interface {
	Count(ctx context.Context, sku int64) (int64, error)
}

// A Worker is a Strategy that has work to do when its buyers have gone. Work
// goes on until ctx ends, and returns when what it had begun is done. A service
// process runs it once, beside its buyers.
type Worker interface {
	Work(ctx context.Context)
}

// An Acceptor is a Strategy that can answer in two steps: first that a purchase
// is accepted, and later what became of it. The order, or the refusal, comes
// even if the process that accepted dies.
type Acceptor interface {
	// Accept takes the units and returns before the order is written. written:
	// the request has its order already, and r is its receipt. Errors are
	// Deduct's; one for which NothingTaken is false may have been accepted.
	Accept(ctx context.Context, p Purchase) (r Receipt, written bool, err error)

	// Became says what is known of a user's request for a SKU of the current
	// sale, or for any of them if sku is 0. nil: it has an order, or had one that
	// was cancelled. ErrPending: it is accepted. ErrUnknownOrder: it was never
	// accepted, or is forgotten. A refusal is the error that Deduct would have
	// returned; an error that is none of these means that it cannot be said now.
	Became(ctx context.Context, sku, user int64, requestID string) error
}

// The outcomes a Strategy may report. They are wrapped with %w and tested
// with errors.Is.
var (
	ErrInvalid      = errors.New("invalid purchase")
	ErrUnknownSKU   = errors.New("unknown SKU")
	ErrUnknownOrder = errors.New("unknown order")
	ErrNotStarted   = errors.New("the sale has not started")
	ErrSoldOut      = errors.New("sold out")
	ErrDuplicate    = errors.New("this user already has an active order for this SKU")
	ErrBusy         = errors.New("busy: waited as long as allowed") // try again later
	ErrConflict     = errors.New("conflict: another buyer changed the stock meanwhile")
	ErrUnavailable  = errors.New("a backend is unavailable") // and provably nothing was taken
	ErrTooManyUnits = errors.New("the sale has more units than this strategy can keep")

	// ErrMismatch: the request id is in use for a purchase of another quantity.
	ErrMismatch = errors.New("the idempotency key belongs to another request")
	// ErrPending is an Acceptor's word on a request whose order comes later.
	ErrPending = errors.New("accepted, and not written yet")

	// ErrUnknown marks an outcome that is not known, such as a COMMIT
	// whose answer was lost. Look the order up by its RequestID.
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

// A FieldError says what is wrong with one field: in words that go on after its name,
// and as a stable code with parameters, which a page translates.
type FieldError struct {
	Field  string         `json:"field"`
	Detail string         `json:"detail"`
	Code   string         `json:"code,omitempty"`
	Params map[string]any `json:"params,omitempty"`
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }
