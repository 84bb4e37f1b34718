package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A list has orders, the oldest first.
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
	// The cancellation may have used up its time, so this read has a time of its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if o, err = s.ledger.Order(ctx, id); err != nil {
		return nil, unknown(fmt.Errorf("read the cancelled order: %w", err))
	}
	return o, nil
}
