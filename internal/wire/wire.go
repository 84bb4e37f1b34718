// Package wire is the table of what the service may refuse with: the service
// writes by it, and who buys (load generator, explorer) reads by it.
package wire

import (
	"errors"
	"net/http"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Refusals that the domain has no error for.
var (
	ErrForbidden           = errors.New("forbidden")
	ErrNotFound            = errors.New("not found")
	ErrUnknownStrategy     = errors.New("unknown strategy")
	ErrMethod              = errors.New("method not allowed")
	ErrTooLarge            = errors.New("body too large")
	ErrMediaType           = errors.New("unsupported media type")
	ErrStrategyUnavailable = errors.New("this strategy cannot run here")
	ErrInternal            = errors.New("internal error")
)

// A Refusal is what an error becomes over HTTP, and what a buyer may conclude.
type Refusal struct {
	Err     error
	Status  int
	Code    string
	Outcome ledger.Outcome
	Detail  string // for errors that bring no words for the caller
}

// Refusals are all there are. The first whose Err errors.Is matches counts, so that
// an unknown outcome stays unknown.
var Refusals = []Refusal{
	{seckill.ErrUnknown, http.StatusGatewayTimeout, "unknown_outcome", ledger.OutcomeUnknown,
		"This may have happened or not: look before you try again."},
	{ledger.ErrInProgress, http.StatusConflict, "in_progress", ledger.OutcomeInProgress,
		"Another copy of this request is in progress. Send it again after Retry-After seconds: " +
			"you then get its order, or a chance of your own."},
	{seckill.ErrInvalid, http.StatusBadRequest, "invalid", ledger.OutcomeError, "The purchase is not valid."},
	{ErrForbidden, http.StatusForbidden, "forbidden", ledger.OutcomeError, ""},
	{ErrNotFound, http.StatusNotFound, "not_found", ledger.OutcomeError, ""},
	{ErrUnknownStrategy, http.StatusNotFound, "unknown_strategy", ledger.OutcomeError, ""},
	{seckill.ErrUnknownSKU, http.StatusNotFound, "unknown_sku", ledger.OutcomeError,
		"There is no such SKU. PUT /api/v1/skus/ID creates one."},
	{seckill.ErrUnknownOrder, http.StatusNotFound, "unknown_order", ledger.OutcomeError, "There is no such order."},
	{ErrMethod, http.StatusMethodNotAllowed, "method_not_allowed", ledger.OutcomeError, ""},
	{seckill.ErrNotStarted, http.StatusConflict, "not_started", ledger.OutcomeError, "The sale has not started. Nothing was taken."},
	{seckill.ErrSoldOut, http.StatusConflict, "sold_out", ledger.OutcomeSoldOut, "Fewer units are left than were asked for."},
	{seckill.ErrDuplicate, http.StatusConflict, "duplicate", ledger.OutcomeDuplicate,
		"This user has an active order for this SKU already. Cancelling it makes room for another."},
	{seckill.ErrConflict, http.StatusConflict, "conflict", ledger.OutcomeConflict,
		"Another buyer changed the stock meanwhile. Nothing was taken: try again."},
	{seckill.ErrTooManyUnits, http.StatusConflict, "too_many_units", ledger.OutcomeError,
		"The strategy keeps a row for each unit, and this sale has more units than it keeps rows. " +
			"Nothing was taken: reset the sale with fewer units, or choose a strategy without this limit, such as bucketed."},
	{seckill.ErrExpired, http.StatusConflict, "expired", ledger.OutcomeExpired,
		"The deadline is past, and the units are given back. Nothing was paid: reserve again."},
	{seckill.ErrCancelled, http.StatusConflict, "cancelled", ledger.OutcomeError,
		"The reservation is cancelled. Nothing was paid: reserve again."},
	{seckill.ErrPaid, http.StatusConflict, "paid", ledger.OutcomeError,
		"The reservation is paid. DELETE /api/v1/orders/ID, with the same id, cancels the order."},
	{ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large", ledger.OutcomeError, ""},
	{ErrMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type", ledger.OutcomeError, ""},
	{seckill.ErrMismatch, http.StatusUnprocessableEntity, "idempotency_mismatch", ledger.OutcomeError,
		"This Idempotency-Key was used for another quantity of this SKU. Use a new key for a new purchase."},
	{seckill.ErrBusy, http.StatusTooManyRequests, "busy", ledger.OutcomeBusy,
		"Too many buyers were before you. Nothing was taken: try again after Retry-After seconds."},
	{ErrStrategyUnavailable, http.StatusServiceUnavailable, "strategy_unavailable", ledger.OutcomeError, ""},
	{seckill.ErrUnavailable, http.StatusServiceUnavailable, "backend_unavailable", ledger.OutcomeError,
		"A backend does not answer. Nothing was taken: try again when /readyz says that all is well."},
	Internal,
}

// Internal is the refusal of an error that no other one is for.
var Internal = Refusal{ErrInternal, http.StatusInternalServerError, "internal", ledger.OutcomeUnknown,
	"Something is wrong in the service itself. Its log has more under this request_id."}

// Of is the refusal that err comes to.
func Of(err error) Refusal {
	for _, r := range Refusals {
		if errors.Is(err, r.Err) {
			return r
		}
	}
	return Internal
}

// Told is what a purchase's buyer knows after the answer.
func Told(p seckill.Purchase, r seckill.Receipt, err error) ledger.Told {
	t := ledger.Told{RequestID: p.RequestID, User: p.User, Quantity: p.Quantity,
		OrderID: r.OrderID, Remaining: r.Remaining, Outcome: ledger.OutcomeSold}
	if err != nil {
		t.Outcome = Of(err).Outcome
	}
	return t
}

// Coded is the refusal with a code; false: there is none.
func Coded(code string) (Refusal, bool) {
	for _, r := range Refusals {
		if r.Code == code {
			return r, true
		}
	}
	return Refusal{}, false
}
