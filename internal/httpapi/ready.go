package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
)

type readiness struct {
	Ready    bool             `json:"ready"`
	Strategy string           `json:"strategy"` // the default
	Backends []backend.Status `json:"backends"`
}

// ready says whether every configured backend answers. A process whose database
// is down is alive (/healthz) and recovers by itself.
func (s *Server) ready(c *gin.Context) {
	r, status := readiness{Ready: true, Strategy: s.Default, Backends: s.Instance.Status(context.WithoutCancel(c.Request.Context()))}, http.StatusOK
	for _, b := range r.Backends {
		if !b.OK {
			r.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	c.JSON(status, r)
}
