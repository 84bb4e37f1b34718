package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
)

type readiness struct {
	Ready    bool             `json:"ready"`
	Strategy string           `json:"strategy"` // the default
	Backends []backend.Status `json:"backends"`
}

// ready asks every configured backend. A process whose database is down is
// alive (/healthz) and will sell again by itself.
func (s *Server) ready(c *gin.Context) {
	r := readiness{Ready: true, Strategy: s.Default, Backends: s.Instance.Status(c.Request.Context())}
	status := http.StatusOK
	for _, b := range r.Backends {
		if !b.OK {
			r.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	c.JSON(status, r)
}
