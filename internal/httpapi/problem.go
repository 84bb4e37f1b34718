package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/seckill"
	"seckill/internal/web"
)

// Refusals that the domain has no error for.
var (
	errForbidden           = errors.New("forbidden")
	errNotFound            = errors.New("not found")
	errUnknownStrategy     = errors.New("unknown strategy")
	errMethod              = errors.New("method not allowed")
	errTooLarge            = errors.New("body too large")
	errMediaType           = errors.New("unsupported media type")
	errInProgress          = errors.New("a copy of this request is in progress")
	errStrategyUnavailable = errors.New("this strategy cannot run here")
	errInternal            = errors.New("internal error")
)

// An answer is what an error becomes over HTTP.
type answer struct {
	err    error // its text is the problem's title
	status int
	code   string
	detail string // for errors that bring no words for the caller
}

// The first row that errors.Is matches counts, so that an unknown outcome stays
// unknown. An error without a row is internal.
var answers = []answer{
	{seckill.ErrUnknown, http.StatusGatewayTimeout, "unknown_outcome",
		"This may have happened or not: look before you try again."},
	{seckill.ErrInvalid, http.StatusBadRequest, "invalid", "The purchase is not valid."},
	{errForbidden, http.StatusForbidden, "forbidden", ""},
	{errNotFound, http.StatusNotFound, "not_found", ""},
	{errUnknownStrategy, http.StatusNotFound, "unknown_strategy", ""},
	{seckill.ErrUnknownSKU, http.StatusNotFound, "unknown_sku",
		"There is no such SKU. PUT /api/v1/skus/ID creates one."},
	{seckill.ErrUnknownOrder, http.StatusNotFound, "unknown_order", "There is no such order."},
	{errMethod, http.StatusMethodNotAllowed, "method_not_allowed", ""},
	{seckill.ErrNotStarted, http.StatusConflict, "not_started", "The sale has not started. Nothing was taken."},
	{seckill.ErrSoldOut, http.StatusConflict, "sold_out", "Fewer units are left than were asked for."},
	{seckill.ErrDuplicate, http.StatusConflict, "duplicate",
		"This user has an active order for this SKU already. Cancelling it makes room for another."},
	{seckill.ErrConflict, http.StatusConflict, "conflict",
		"Another buyer changed the stock meanwhile. Nothing was taken: try again."},
	{seckill.ErrTooManyUnits, http.StatusConflict, "too_many_units",
		"The strategy keeps a row for each unit, and this sale has more units than it keeps rows. " +
			"Nothing was taken: reset the sale with fewer units, or choose a strategy without this limit, such as bucketed."},
	{seckill.ErrExpired, http.StatusConflict, "expired",
		"The deadline is past, and the units are given back. Nothing was paid: reserve again."},
	{seckill.ErrCancelled, http.StatusConflict, "cancelled", "The reservation is cancelled. Nothing was paid: reserve again."},
	{seckill.ErrPaid, http.StatusConflict, "paid", "The reservation is paid. DELETE /api/v1/orders/ID, with the same id, cancels the order."},
	{errInProgress, http.StatusConflict, "in_progress", ""},
	{errTooLarge, http.StatusRequestEntityTooLarge, "too_large", ""},
	{errMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type", ""},
	{seckill.ErrMismatch, http.StatusUnprocessableEntity, "idempotency_mismatch",
		"This Idempotency-Key was used for another quantity of this SKU. Use a new key for a new purchase."},
	{seckill.ErrBusy, http.StatusTooManyRequests, "busy",
		"Too many buyers were before you. Nothing was taken: try again after Retry-After seconds."},
	{errStrategyUnavailable, http.StatusServiceUnavailable, "strategy_unavailable", ""},
	{seckill.ErrUnavailable, http.StatusServiceUnavailable, "backend_unavailable",
		"A backend does not answer. Nothing was taken: try again when /readyz says that all is well."},
}

var internal = answer{errInternal, http.StatusInternalServerError, "internal",
	"Something is wrong in the service itself. Its log has more under this request_id."}

func answerTo(err error) answer {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return a
		}
	}
	return internal
}

// busyAfter, in seconds, is a guess: a queue that was full for as long as a
// buyer may wait is rarely empty at once.
const busyAfter = 1

// refused is err with words for the caller. All other errors may hold secrets:
// they are logged, and not shown.
func refused(err error, detail string) *web.Problem {
	a := answerTo(err)
	p := &web.Problem{Title: a.err.Error(), Status: a.status, Code: a.code, Detail: detail, Err: err}
	if errors.Is(a.err, seckill.ErrBusy) {
		p.RetryAfter = busyAfter
	}
	return p
}

// invalid blames a field of the body, the query or the header; "" blames the
// request as a whole.
func invalid(field, detail string) error {
	if field == "" {
		return web.BadRequest(detail)
	}
	return web.Invalid(field, "", nil, detail)
}

// codeOf is the problem's code that err comes to.
func codeOf(err error) string {
	var p *web.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return answerTo(err).code
}

func (s *Server) refuse(c *gin.Context, err error) {
	var p *web.Problem
	switch {
	case hungUp(c) && (errors.Is(err, seckill.ErrUnavailable) || errors.Is(err, seckill.ErrBusy)): // a caller who closed only their half reads the answer
		p = web.BadRequest("The connection was closed on your side before the answer was ready. Nothing was taken: " +
			"keep it open until you have the answer.")
	case !errors.As(err, &p):
		p = refused(err, answerTo(err).detail)
		s.logFailure(c, p)
	}
	for _, a := range answers { // problems of web bring no title
		if p.Title == "" && a.code == p.Code {
			p.Title = a.err.Error()
		}
	}
	p.Write(c.Writer)
	c.Abort()
}

// logFailure does not log that the caller hung up.
func (s *Server) logFailure(c *gin.Context, p *web.Problem) {
	switch {
	case hungUp(c):
	case p.Status == http.StatusInternalServerError:
		s.log(c, slog.LevelError, p.Code, "error", p.Err)
	case p.Status > http.StatusInternalServerError:
		s.log(c, slog.LevelWarn, p.Code, "error", p.Err)
	}
}

func notFound(c *gin.Context) error {
	return refused(errNotFound, "There is nothing at "+c.Request.URL.Path+". /openapi.json lists what there is.")
}

func methodNotAllowed(c *gin.Context) error {
	return refused(errMethod, c.Request.Method+" does not work here; the header Allow says what does.")
}
