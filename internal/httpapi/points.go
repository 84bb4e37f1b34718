package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/point"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// routePoints adds the calls that --fault-points switches on. Only the operator may make these calls.
func (s *Server) routePoints(r *gin.Engine) {
	if s.Points == nil {
		return
	}
	faults := r.Group("/admin/v1/faults", s.handle(s.admin))
	faults.GET("/state", s.answer(s.faultState))
	faults.POST("/cut", s.plain(s.cutSockets))
	faults.POST("/points", s.handle(noQuery), s.handle(s.holdPurchase))
}

// faultState reports how many purchases are in flight. If the query names a strategy, it also reports the units left.
func (s *Server) faultState(ctx context.Context, c *gin.Context) (any, error) {
	q, err := web.ReadQuery(c.Request, "strategy", "sku_id")
	if err != nil {
		return nil, err
	}
	state := point.Report{InFlight: s.inFlight.Load()}
	if q.Has("strategy") {
		sl, err := s.available(q.Get("strategy"))
		if err != nil {
			return nil, err
		}
		sku, err := web.QueryInteger(q, "sku_id", 1, 1, web.MaxID)
		if err != nil {
			return nil, err
		}
		left, err := s.unitsLeft(ctx, sl, sku)
		if err != nil {
			return nil, err
		}
		state.Left = &left
	}
	return state, nil
}

func (s *Server) unitsLeft(ctx context.Context, sl *seller, sku int64) (int64, error) {
	if counter, ok := sl.strategy.(seckill.Counter); ok && sl.info.Stock.Counter() != "" {
		return counter.Count(ctx, sku)
	}
	stock, err := s.ledger.SKU(ctx, sku)
	return stock.Num, err
}

func (s *Server) cutSockets(_ context.Context, c *gin.Context) (any, error) {
	return gin.H{"closed": s.Instance.Dialer.Cut()}, nil
}

// holdPurchase stops the next purchase that reaches the given point. It answers as soon as a purchase has
// stopped there. The purchase goes on when the caller closes the connection.
func (s *Server) holdPurchase(c *gin.Context) error {
	var o point.Order
	if err := web.ReadJSON(c.Writer, c.Request, &o); err != nil {
		return err
	}
	if !slices.Contains(point.Names, o.Point) {
		return invalid("point", fmt.Sprintf("must be one of %v", point.Names))
	}
	if _, err := s.available(o.Strategy); err != nil {
		return err
	}
	if err := http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	s.Points.Hold(c.Request.Context(), o, func(caught point.Catch) {
		c.JSON(http.StatusOK, caught)
		c.Writer.Flush()
	})
	return nil
}
