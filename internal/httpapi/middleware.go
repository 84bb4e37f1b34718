package httpapi

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
)

const headerRequestID = "X-Request-Id"

// identify gives every answer an X-Request-Id, the caller's own if it is fit
// to be logged, and writes the access log.
func (s *Server) identify(c *gin.Context) {
	id := c.GetHeader(headerRequestID)
	if !isKey(id) {
		id = rand.Text()
	}
	c.Writer.Header().Set(headerRequestID, id)
	if !s.Log.Enabled(c.Request.Context(), slog.LevelDebug) {
		c.Next()
		return
	}
	begun := time.Now()
	c.Next()
	s.log(c, slog.LevelDebug, "request", "status", c.Writer.Status(), "took", time.Since(begun))
}

func requestID(c *gin.Context) string { return c.Writer.Header().Get(headerRequestID) }

// madeHere: the request's id is our own, so nobody else has the same.
func madeHere(c *gin.Context) bool { return requestID(c) != c.GetHeader(headerRequestID) }

// isKey: 1 to 128 visible ASCII characters, as request ids and idempotency
// keys are.
func isKey(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func (s *Server) log(c *gin.Context, level slog.Level, message string, args ...any) {
	r := c.Request
	s.Log.With("method", r.Method, "path", r.URL.Path, "peer", r.RemoteAddr, "request_id", requestID(c)).
		Log(r.Context(), level, message, args...)
}

// recover turns a panic into an answer. What it was goes into the log only.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p == http.ErrAbortHandler:
			panic(p)
		case c.Writer.Written(): // an answer that broke off must not look whole
			s.log(c, slog.LevelError, "panic", "panic", p, "stack", string(debug.Stack()))
			panic(http.ErrAbortHandler)
		default:
			s.log(c, slog.LevelError, "panic", "stack", string(debug.Stack()))
			s.refuse(c, fmt.Errorf("panic: %v", p))
		}
	}()
	c.Next()
}
