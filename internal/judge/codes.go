package judge

import (
	"errors"

	"seckill/internal/seckill"
)

// The service also answers with these errors, which package seckill does not define.
var (
	ErrForbidden           = errors.New("forbidden")
	ErrNotFound            = errors.New("not found")
	ErrUnknownStrategy     = errors.New("unknown strategy")
	ErrMethod              = errors.New("method not allowed")
	ErrTooLarge            = errors.New("body too large")
	ErrMediaType           = errors.New("unsupported media type")
	ErrStrategyUnavailable = errors.New("this strategy cannot run here")
	ErrInternal            = errors.New("internal error")
	// ErrInProgress means that the same request was sent before and is still in progress.
	ErrInProgress = errors.New("another copy of this request is in progress")
)

// An ErrorCode says how the service answers an error over HTTP, and which Outcome the buyer gets.
type ErrorCode struct {
	Err     error
	Status  int
	Code    string
	Outcome Outcome
	Detail  string // the text that the buyer gets if the error has none of its own
}

// ErrorCodes is the table of all errors. An error belongs to the first row whose Err it matches. ErrUnknown
// is in the first row, so an error that wraps ErrUnknown stays unknown, whatever else it wraps.
var ErrorCodes = []ErrorCode{
	{seckill.ErrUnknown, 504, "unknown_outcome", OutcomeUnknown,
		"This may have happened or not: look before you try again."},
	{ErrInProgress, 409, "in_progress", OutcomeInProgress,
		"Another copy of this request is in progress. Send it again after Retry-After seconds: " +
			"you then get its order, or a chance of your own."},
	{seckill.ErrInvalid, 400, "invalid", OutcomeError, "The purchase is not valid."},
	{ErrForbidden, 403, "forbidden", OutcomeError, ""},
	{ErrNotFound, 404, "not_found", OutcomeError, ""},
	{ErrUnknownStrategy, 404, "unknown_strategy", OutcomeError, ""},
	{seckill.ErrUnknownSKU, 404, "unknown_sku", OutcomeError,
		"There is no such SKU. PUT /api/v1/skus/ID creates one."},
	{seckill.ErrUnknownOrder, 404, "unknown_order", OutcomeError, "There is no such order."},
	{ErrMethod, 405, "method_not_allowed", OutcomeError, ""},
	{seckill.ErrNotStarted, 409, "not_started", OutcomeError, "The sale has not started. Nothing was taken."},
	{seckill.ErrSoldOut, 409, "sold_out", OutcomeSoldOut, "Fewer units are left than were asked for."},
	{seckill.ErrDuplicate, 409, "duplicate", OutcomeDuplicate,
		"This user has an active order for this SKU already. Cancelling it makes room for another."},
	{seckill.ErrConflict, 409, "conflict", OutcomeConflict,
		"Another buyer changed the stock meanwhile. Nothing was taken: try again."},
	{seckill.ErrTooManyUnits, 409, "too_many_units", OutcomeError,
		"The strategy keeps a row for each unit, and this sale has more units than it keeps rows. " +
			"Nothing was taken: reset the sale with fewer units, " +
			"or choose a strategy without this limit, such as bucketed."},
	{seckill.ErrExpired, 409, "expired", OutcomeExpired,
		"The deadline is past, and the units are given back. Nothing was paid: reserve again."},
	{seckill.ErrCancelled, 409, "cancelled", OutcomeError,
		"The reservation is cancelled. Nothing was paid: reserve again."},
	{seckill.ErrPaid, 409, "paid", OutcomeError,
		"The reservation is paid. DELETE /api/v1/orders/ID, with the same id, cancels the order."},
	{ErrTooLarge, 413, "too_large", OutcomeError, ""},
	{ErrMediaType, 415, "unsupported_media_type", OutcomeError, ""},
	{seckill.ErrMismatch, 422, "idempotency_mismatch", OutcomeError,
		"This Idempotency-Key was used for another quantity of this SKU. Use a new key for a new purchase."},
	{seckill.ErrBusy, 429, "busy", OutcomeBusy,
		"Too many buyers were before you. Nothing was taken: try again after Retry-After seconds."},
	{ErrStrategyUnavailable, 503, "strategy_unavailable", OutcomeError, ""},
	{seckill.ErrUnavailable, 503, "backend_unavailable", OutcomeError,
		"A backend does not answer. Nothing was taken: try again when /readyz says that all is well."},
	InternalError,
}

// InternalError is the row for errors that match no other row.
var InternalError = ErrorCode{ErrInternal, 500, "internal", OutcomeUnknown,
	"Something is wrong in the service itself. Its log has more under this request_id."}

// CodeOf returns the row of ErrorCodes to which err belongs.
func CodeOf(err error) ErrorCode {
	for _, r := range ErrorCodes {
		if errors.Is(err, r.Err) {
			return r
		}
	}
	return InternalError
}

// CallOf returns the Call for the purchase p. The receipt r and the error err are the answer of Deduct.
func CallOf(p seckill.Purchase, r seckill.Receipt, err error) Call {
	t := Call{RequestID: p.RequestID, User: p.User, Quantity: p.Quantity,
		OrderID: r.OrderID, Remaining: r.Remaining, Outcome: OutcomeSold}
	if err != nil {
		t.Outcome = CodeOf(err).Outcome
	}
	return t
}

// FindCode returns the row with the given code. It returns false if there is no such row.
func FindCode(code string) (ErrorCode, bool) {
	for _, r := range ErrorCodes {
		if r.Code == code {
			return r, true
		}
	}
	return ErrorCode{}, false
}
