package httpapi

import (
	"context"
	"net/http"
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

func (s *Server) readiness(backends []backend.Status) (r readiness, status int) {
	r, status = readiness{Ready: true, Strategy: s.Default, Backends: backends}, http.StatusOK
	for _, b := range backends {
		if !b.OK {
			r.Ready, status = false, http.StatusServiceUnavailable
		}
	}
	return r, status
}

// ready says whether every configured backend answers. A process whose database
// is down is alive (/healthz) and recovers by itself. The call is public, so the
// backends are asked once a second at most, and sessions are not shown: they
// help to take one over. Nor is what the account may not do.
func (s *Server) ready(c *gin.Context) {
	backends, err := s.checks.read(c.Request.Context())
	if err != nil {
		return // the caller hung up
	}
	public := make([]backend.Status, len(backends))
	for i, b := range backends {
		b.Session, b.Lacks = "", ""
		public[i] = b
	}
	r, status := s.readiness(public)
	c.JSON(status, r)
}

// backends is the operator's view, asked for now.
func (s *Server) backends(c *gin.Context) error {
	if _, err := readQuery(c); err != nil {
		return err
	}
	r, _ := s.readiness(s.Instance.Status(c.Request.Context()))
	c.JSON(http.StatusOK, r)
	return nil
}

const checkAge = time.Second

// checks keeps what the backends said for checkAge. All callers meanwhile share
// it, also while it is being asked for.
type checks struct {
	ask func(context.Context) []backend.Status // returns in bounded time
	now func() time.Time

	mu   sync.Mutex
	last *check
}

type check struct {
	begun time.Time
	done  chan struct{} // closed when said is set
	said  []backend.Status
}

func (k *checks) read(ctx context.Context) ([]backend.Status, error) {
	k.mu.Lock()
	on := k.last
	if on == nil || on.over() && k.now().Sub(on.begun) >= checkAge {
		on = &check{begun: k.now(), done: make(chan struct{})}
		k.last = on
		go func() {
			defer close(on.done)
			on.said = k.ask(context.WithoutCancel(ctx)) // it is no single caller's
		}()
	}
	k.mu.Unlock()
	select {
	case <-on.done:
		return on.said, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *check) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
