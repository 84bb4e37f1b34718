package labapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
)

// traceTimeout is longer than anybody waits for a lock.
const traceTimeout = 20 * time.Second

// makeTrace has one buyer purchase, or two at once, and answers with every
// command they sent. It is done beside the service processes, on a SKU of its
// own, while nothing else drives the lab: neither should disturb the other's
// times.
func (s *Server) makeTrace(c *gin.Context) {
	var wanted struct {
		strategy string
		buyers   int
	}
	if p := decode(c, map[string]any{"strategy": &wanted.strategy, "buyers": &wanted.buyers}); p != nil {
		refuse(c, *p)
		return
	}
	info, p := s.traceable(wanted.strategy, wanted.buyers)
	if p != nil {
		refuse(c, *p)
		return
	}
	release, other := s.turn.take("a trace of " + info.Name)
	if release == nil {
		refuse(c, inProgress(other))
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Request.Context(), traceTimeout)
	defer cancel()
	made, err := s.Trace(ctx, info, wanted.buyers)
	switch {
	case err == nil:
		c.JSON(http.StatusOK, made)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		refuse(c, problem{Code: "trace_failed", Status: http.StatusGatewayTimeout,
			Detail: fmt.Sprintf("The purchase was not over in %s: somebody may hold its lock, or a backend does not answer.", traceTimeout)})
	default:
		s.Log.Warn("trace", "strategy", wanted.strategy, "error", err)
		refuse(c, problem{Code: "trace_failed", Status: http.StatusServiceUnavailable, Detail: "The trace could not be made: " + err.Error()})
	}
}

// traceable finds the strategy, or everything that is wrong with what was asked.
func (s *Server) traceable(strategy string, buyers int) (catalog.Info, *problem) {
	p := &problem{Code: "invalid", Status: http.StatusBadRequest}
	info := s.strategy("strategy", strategy, p)
	if buyers < 1 || buyers > 2 {
		p.blame("buyers", "range", map[string]any{"min": 1, "max": 2}, "give 1 or 2")
	}
	if p.Errors != nil {
		return catalog.Info{}, p
	}
	return info, nil
}
