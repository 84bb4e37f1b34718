package labapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// traceTimeout is longer than any wait for a lock.
const traceTimeout = 20 * time.Second

// makeTrace lets one buyer purchase, or two at once, and answers with every
// command they sent. It runs beside the service processes, on a SKU of its own,
// while nothing else drives the lab and disturbs its times.
func (s *Server) makeTrace(c *gin.Context) error {
	var strategy string
	var buyers int
	err := web.ReadJSON(c.Writer, c.Request, web.Field{Name: "strategy", Into: &strategy}, web.Field{Name: "buyers", Into: &buyers})
	if err != nil {
		return err
	}
	p := web.BadRequest("")
	info := s.strategy("strategy", strategy, p)
	if buyers < 1 || buyers > 2 {
		p.Blame("buyers", "range", map[string]any{"min": 1, "max": 2}, "give 1 or 2")
	}
	if err := anyWrong(p); err != nil {
		return err
	}
	release, err := s.turn.take("a trace of " + info.Name)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Request.Context(), traceTimeout)
	defer cancel()
	made, err := s.Trace(ctx, info, buyers)
	switch {
	case err == nil:
		c.JSON(http.StatusOK, made)
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &web.Problem{Code: "trace_failed", Status: http.StatusGatewayTimeout, Detail: fmt.Sprintf(
			"The purchase was not over in %s: another client may hold its lock, or a backend does not answer.", traceTimeout)}
	}
	s.Log.Warn("trace", "strategy", strategy, "error", err)
	return &web.Problem{Code: "trace_failed", Status: http.StatusServiceUnavailable, Detail: "The trace could not be made: " + err.Error()}
}
