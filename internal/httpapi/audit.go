package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// auditTimeout bounds an audit, which reads every order of a run. A million orders take some seconds.
const auditTimeout = time.Minute

// audits shares audits among callers. For each SKU at most one audit reads orders, and at most one waits to begin. A
// new caller shares the waiting audit, because the reading one may miss an order that the caller has seen.
type audits struct{ waiting, reading singleflight.Group }

type auditor func(context.Context) (judge.Report, error)

// share returns the report of an audit that begins after the call. An audit goes on when its callers hang up.
func (a *audits) share(ctx context.Context, sku int64, audit auditor) (judge.Report, error) {
	key := strconv.FormatInt(sku, 10)
	shared := a.waiting.DoChan(key, func() (report any, err error) {
		// If another audit reads the orders, Do waits for it and returns its report. That audit began before the call,
		// so the loop calls Do again.
		for began := false; !began; {
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
	return s.audits.share(ctx, sku, func(ctx context.Context) (judge.Report, error) {
		return catalog.Audit(ctx, s.ledger, sku, s.catalogued)
	})
}
