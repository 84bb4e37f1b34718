package httpapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
)

// ready handles /readyz: it reports whether every configured backend answers. If the database is
// down, /healthz still answers, and the process recovers without a restart.
func (s *Server) ready(c *gin.Context) {
	backends, status := s.Instance.Status(context.WithoutCancel(c.Request.Context())), http.StatusOK
	for _, b := range backends {
		if !b.OK {
			status = http.StatusServiceUnavailable
		}
	}
	c.JSON(status, gin.H{"ready": status == http.StatusOK, "strategy": s.Default, "backends": backends})
}
