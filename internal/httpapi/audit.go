package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// An audit reads every order of a run, so it has time of its own: a sale of a
// million orders takes some seconds.
const auditTimeout = time.Minute

// audits are those under way, by SKU. Of each SKU, one audit reads and one waits for it to end.
// Who asks joins the audit that waits: the audit that reads may have missed the caller's order.
type audits struct{ waiting, reading singleflight.Group }

type auditor func(context.Context) (judge.Report, error)

// share returns the report of an audit that began after share was called. Callers who leave end no audit.
func (a *audits) share(ctx context.Context, sku int64, audit auditor) (judge.Report, error) {
	key := strconv.FormatInt(sku, 10)
	shared := a.waiting.DoChan(key, func() (report any, err error) {
		for began := false; !began; { // Do waits for the audit that reads
			report, err, _ = a.reading.Do(key, func() (any, error) {
				began = true
				a.waiting.Forget(key)
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
				defer cancel()
				return audit(ctx)
			})
		}
		return report, err
	})
	select {
	case got := <-shared:
		return got.Val.(judge.Report), got.Err
	case <-ctx.Done():
		return judge.Report{}, fmt.Errorf("%w: the audit takes too long: %w", seckill.ErrBusy, ctx.Err())
	}
}

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
	report, err := s.audits.share(ctx, sku, func(ctx context.Context) (judge.Report, error) {
		return catalog.Audit(ctx, s.ledger, sku, s.catalogued)
	})
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, report)
	return nil
}
