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
// is down is alive (/healthz) and recovers by itself. To the operator alone it
// shows sessions, which help to take one over.
func (s *Server) ready(c *gin.Context) {
	r, status := readiness{Ready: true, Strategy: s.Default, Backends: s.Instance.Status(context.WithoutCancel(c.Request.Context()))}, http.StatusOK
	for i := range r.Backends {
		b := &r.Backends[i]
		if !s.isAdmin(c) {
			b.Session = ""
		}
		if !b.OK {
			r.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	c.JSON(status, r)
}
