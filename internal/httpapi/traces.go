package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/telemetry"
)

// continueTrace lets spans belong to the caller's trace.
func continueTrace(c *gin.Context) {
	c.Request = c.Request.WithContext(telemetry.From(c.Request.Context(), c.Request.Header))
}

// traced deducts under a span.
func (sl *seller) traced(ctx context.Context, watch tap.Tap, p seckill.Purchase, deduct deduction) (r seckill.Receipt, err error) {
	ctx, end := sl.traces.Purchase(ctx, watch, sl.info.Name, p.SKU)
	defer func() { end(err) }()
	return deduct(ctx, p)
}
