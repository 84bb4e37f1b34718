package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

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
// shows sessions, which help to take one over, and what the account may not do.
func (s *Server) ready(c *gin.Context) {
	r, status := readiness{Ready: true, Strategy: s.Default, Backends: s.checked.backends(c.Request.Context(), s.Instance)}, http.StatusOK
	for i := range r.Backends {
		b := &r.Backends[i]
		if !s.isAdmin(c) {
			b.Session, b.Lacks = "", ""
		}
		if !b.OK {
			r.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	c.JSON(status, r)
}

const checkAge = time.Second

// checked is what the backends said. The call is public, so they are asked once in
// checkAge at most.
type checked struct {
	mu   sync.Mutex // also held while they are asked, which takes bounded time
	at   time.Time
	said []backend.Status
}

func (k *checked) backends(ctx context.Context, in *backend.Instance) []backend.Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	if begun := time.Now(); k.at.IsZero() || begun.Sub(k.at) >= checkAge {
		k.said, k.at = in.Status(context.WithoutCancel(ctx)), begun
	}
	return slices.Clone(k.said)
}
