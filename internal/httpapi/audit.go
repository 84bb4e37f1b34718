package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/web"
)

// An audit reads every order of a run, so it has time of its own: a sale of a
// million orders takes some seconds.
const auditTimeout = time.Minute

// audit judges the run from the ledger and the counters alone: what buyers were
// told is not known here.
func (s *Server) audit(c *gin.Context) error {
	if err := s.admin(c); err != nil {
		return err
	}
	q, err := web.ReadQuery(c.Request, "sku_id")
	if err != nil {
		return err
	}
	if !q.Has("sku_id") {
		return invalid("sku_id", "is missing: say which SKU is to be judged")
	}
	sku, err := web.QueryInteger(q, "sku_id", 0, 1, web.MaxID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), auditTimeout)
	defer cancel()
	report, err := catalog.Audit(ctx, s.ledger, sku, s.catalogued)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, report)
	return nil
}
