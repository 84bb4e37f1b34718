package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// auditTimeout bounds an audit, which reads every order of a run. A million orders take some seconds.
const auditTimeout = time.Minute

// audit handles GET /audit. It judges the current run from the ledger and the counters. It cannot
// judge the answers that buyers got, because the service does not keep them.
func (s *Server) audit(_ context.Context, c *gin.Context) (any, error) {
	q, err := web.ReadQuery(c.Request, "sku_id")
	if err != nil {
		return nil, err
	}
	if !q.Has("sku_id") {
		return nil, invalid("sku_id", "is missing: name the SKU to audit")
	}
	sku, err := web.QueryInteger(q, "sku_id", 0, 1, web.MaxID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), auditTimeout)
	defer cancel()
	select {
	case s.auditing <- struct{}{}:
		defer func() { <-s.auditing }()
		return catalog.Audit(ctx, s.ledger, sku, s.catalogued)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: other audits are under way: %w", seckill.ErrBusy, ctx.Err())
	}
}
