package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A list is the answer to GET /orders, with the oldest order first.
type list struct {
	Orders []judge.Order `json:"orders"`
	// Request is set if the caller asked about one request of one user.
	Request *requestState `json:"request,omitempty"`
}

func (s *Server) listOrders(ctx context.Context, c *gin.Context) (any, error) {
	f, err := readFilter(c)
	if err != nil {
		return nil, err
	}
	if f.User == 0 && !s.isAdmin(c) { // A caller who names a user may read that user's orders without the token.
		return nil, forbidden(c, "Orders of all buyers need the service's token, as “Authorization: Bearer TOKEN”. "+
			"Name a user_id to see that buyer's.")
	}
	var l list
	if l.Orders, err = s.ledger.Orders(ctx, f); err != nil {
		return nil, err
	}
	if f.User != 0 && f.RequestID != "" {
		s.findState(ctx, c, f, &l)
	}
	return l, nil
}

func readFilter(c *gin.Context) (ledger.Filter, error) {
	var f ledger.Filter
	q, err := web.ReadQuery(c.Request, "sku_id", "user_id", "request_id")
	if err != nil {
		return f, err
	}
	if f.RequestID = q.Get("request_id"); q.Has("request_id") && !web.IsKey(f.RequestID) {
		return f, invalid("request_id", "must have 1 to 128 visible ASCII characters")
	}
	if f.SKU, err = web.QueryInteger(q, "sku_id", 0, 1, web.MaxID); err != nil {
		return f, err
	}
	if f.User, err = web.QueryInteger(q, "user_id", 0, 1, web.MaxID); err != nil {
		return f, err
	}
	if f.SKU == 0 && f.User == 0 {
		return f, web.BadRequest("Say of which SKU, or of which user: sku_id, user_id, or both.")
	}
	return f, nil
}

// cancelOrder cancels an order through the strategy that sold it. Only that strategy gives the units back
// under the same lock or version with which it took them.
func (s *Server) cancelOrder(ctx context.Context, c *gin.Context) (any, error) {
	id := c.Param("id")
	if !web.IsKey(id) {
		return nil, seckill.ErrUnknownOrder
	}
	o, err := s.ledger.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	sl, err := s.available(o.Strategy)
	if errors.Is(err, judge.ErrUnknownStrategy) {
		return nil, newProblem(judge.ErrStrategyUnavailable,
			fmt.Sprintf("The order was sold by the strategy %q, which this service does not have.", o.Strategy))
	}
	if err != nil {
		return nil, err
	}
	unknown := func(err error) error {
		s.log(c, slog.LevelWarn, "unknown outcome of a cancellation", "error", err)
		p := newProblem(seckill.ErrUnknown, "The order may be cancelled or not. To send it again does no harm.")
		p.Ask = askOf(o.UserID, o.SKUID, o.RequestID)
		return p
	}
	switch err := sl.strategy.Restore(ctx, id); {
	case seckill.NothingTaken(err):
		return nil, err
	case err != nil:
		return nil, unknown(err)
	}
	// The cancellation may have used up the time limit, so this read has a limit of its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if o, err = s.ledger.Order(ctx, id); err != nil {
		return nil, unknown(fmt.Errorf("read the cancelled order: %w", err))
	}
	return o, nil
}

// askOf returns the path of the call that reports the state of a request.
func askOf(user, sku int64, requestID string) string {
	return fmt.Sprintf("/api/v1/orders?user_id=%d&request_id=%s&sku_id=%d", user, url.QueryEscape(requestID), sku)
}

type requestState struct {
	Status    string     `json:"status"`               // pending, ordered, refused, none or unknown: see openapi.json
	Code      string     `json:"code,omitempty"`       // the code of the refusal; empty if the request is not refused
	Detail    string     `json:"detail,omitempty"`     // the text of the refusal; empty if the request is not refused
	RefusedAt *time.Time `json:"refused_at,omitempty"` // when the refusal was written, by the database's clock
}

// findState adds to l the state of the request that the filter f names. If l has no order yet, findState asks
// the ledger again, and waits for a transaction that is writing the order.
func (s *Server) findState(ctx context.Context, c *gin.Context, f ledger.Filter, l *list) {
	l.Request = &requestState{Status: "ordered"}
	if len(l.Orders) > 0 {
		return
	}
	known, err := s.ledger.AwaitRequest(ctx, f.SKU, f.User, f.RequestID)
	if a := s.acceptor(); a != nil && errors.Is(err, seckill.ErrUnknownOrder) {
		// Became returns nil if the order has been written meanwhile.
		if err = a.Became(ctx, f.SKU, f.User, f.RequestID); err == nil {
			known, err = s.ledger.FindRequest(ctx, f.SKU, f.User, f.RequestID)
		}
	}
	switch {
	case err == nil && known.Status == judge.Refused:
		refusal, _ := judge.FindCode(known.Reason)
		l.Request = &requestState{"refused", refusal.Code, refusal.Detail, &known.CreatedAt}
	case err == nil:
		l.Orders = []judge.Order{known}
	case errors.Is(err, seckill.ErrUnknownOrder):
		l.Request.Status = "none"
	case errors.Is(err, seckill.ErrPending):
		l.Request.Status = "pending"
	case seckill.NothingTaken(err) && !isTransient(err):
		refusal := judge.CodeOf(err)
		l.Request = &requestState{"refused", refusal.Code, refusal.Detail, nil}
	default:
		s.log(c, slog.LevelWarn, "cannot look up a request", "error", err)
		l.Request.Status = "unknown" // a backend that may know the request does not answer
	}
}

// acceptor returns a strategy that answers in two steps (see respondAsync), or nil if no such strategy can run here.
// All such strategies keep their accepted requests in the same place, so any of them can look up a request.
func (s *Server) acceptor() seckill.Acceptor {
	for _, sl := range s.sellers {
		if a, ok := sl.strategy.(seckill.Acceptor); ok {
			return a
		}
	}
	return nil
}
