package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"seckill/internal/seckill"
)

// What the domain has no error for.
var (
	errUnauthenticated     = errors.New("not authenticated")
	errForbidden           = errors.New("forbidden")
	errNotFound            = errors.New("not found")
	errUnknownStrategy     = errors.New("unknown strategy")
	errMethod              = errors.New("method not allowed")
	errTooLarge            = errors.New("body too large")
	errMediaType           = errors.New("unsupported media type")
	errMismatch            = errors.New("the idempotency key belongs to another request")
	errInProgress          = errors.New("a copy of this request is in progress")
	errStrategyUnavailable = errors.New("this strategy cannot run here")
	errInternal            = errors.New("internal error")
)

// An answer is what an error comes to over HTTP.
type answer struct {
	err    error // its text is the problem's title
	status int
	code   string
	detail string // for errors without words for the caller of their own
}

// The first row that errors.Is matches counts: what is unknown stays unknown,
// whatever else the error says. An error that no row matches is internal.
var answers = []answer{
	{seckill.ErrUnknown, http.StatusGatewayTimeout, "unknown_outcome",
		"This may have happened or not: look before you try again."},
	{seckill.ErrInvalid, http.StatusBadRequest, "invalid", "The purchase is not valid."},
	{errUnauthenticated, http.StatusUnauthorized, "unauthenticated", ""},
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
		"Somebody else changed the stock meanwhile. Nothing was taken: try again."},
	{errInProgress, http.StatusConflict, "in_progress", ""},
	{errTooLarge, http.StatusRequestEntityTooLarge, "too_large", ""},
	{errMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type", ""},
	{errMismatch, http.StatusUnprocessableEntity, "idempotency_mismatch", ""},
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

// A refusal is an error with words for the caller. All other errors may hold
// what is none of his business, and are logged.
type refusal struct {
	is         error
	detail     string
	field      string // of the body, the query or the header, when one is to blame
	requestID  string // by which an unknown order is looked up
	ask        string // where that is done
	retryAfter int64  // seconds; 0: as usual
}

func (r *refusal) Error() string { return r.detail }
func (r *refusal) Unwrap() error { return r.is }

func refused(is error, detail string) error { return &refusal{is: is, detail: detail} }

// invalid blames a field; "" blames the request as a whole.
func invalid(field, detail string) error {
	if field != "" {
		detail = field + " " + detail
	}
	return &refusal{is: seckill.ErrInvalid, field: field, detail: detail}
}

// A problem is the body of every refusal (RFC 9457).
type problem struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Code      string  `json:"code"`
	Detail    string  `json:"detail"`
	RequestID string  `json:"request_id"`
	Ask       string  `json:"ask,omitempty"`
	Errors    []blame `json:"errors,omitempty"`
}

type blame struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// busyAfter is in seconds, and no promise: a queue that was full for as long
// as a buyer may wait is rarely empty at once.
const busyAfter = "1"

func (s *Server) refuse(c *gin.Context, err error) {
	a := answerTo(err)
	p := problem{
		Type: "urn:seckill:problem:" + a.code, Title: a.err.Error(), Status: a.status, Code: a.code,
		Detail: a.detail, RequestID: requestID(c),
	}
	var r *refusal
	switch {
	case errors.As(err, &r):
		p.Detail, p.Ask = r.detail, r.ask
		if r.retryAfter > 0 {
			c.Header("Retry-After", strconv.FormatInt(r.retryAfter, 10))
		}
		if r.requestID != "" {
			p.RequestID = r.requestID
		}
		if r.field != "" {
			p.Errors = []blame{{r.field, r.detail}}
		}
	case hungUp(c): // nothing is wrong but that
	case a.status == http.StatusInternalServerError:
		s.log(c, slog.LevelError, a.code, "error", err)
	case a.status > http.StatusInternalServerError:
		s.log(c, slog.LevelWarn, a.code, "error", err)
	}
	if a.err == seckill.ErrBusy {
		c.Header("Retry-After", busyAfter)
	}
	c.Header("Content-Type", "application/problem+json")
	c.AbortWithStatusJSON(a.status, p)
}

func notFound(c *gin.Context) error {
	return refused(errNotFound, "There is nothing at "+c.Request.URL.Path+". /openapi.json lists what there is.")
}

func methodNotAllowed(c *gin.Context) error {
	return refused(errMethod, c.Request.Method+" does not work here; the header Allow says what does.")
}
