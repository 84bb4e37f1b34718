package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
)

// NewRouter returns a gin engine that writes no debug output and does not redirect.
func NewRouter() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	return r
}

// HeadAsGet turns a HEAD request into a GET, so that handlers need no HEAD. net/http leaves out the
// body when it answers a HEAD. Other requests are returned unchanged.
func HeadAsGet(r *http.Request) *http.Request {
	if r.Method == http.MethodHead {
		r = r.WithContext(r.Context()) // change a copy, because net/http reads the method of the original
		r.Method = http.MethodGet
	}
	return r
}

// Handle returns a handler that calls the function h. If h returns an error, the handler passes it to the function
// refuse.
func Handle(refuse func(*gin.Context, error), h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			refuse(c, err)
		}
	}
}

// Recover logs a panic and calls the function refuse. If a part of the answer is already written, Recover breaks the
// connection instead of calling refuse, so that the answer does not look complete.
func Recover(log *slog.Logger, refuse func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			log.Error("panic", "panic", p, "method", c.Request.Method, "path", c.Request.URL.Path,
				"request_id", c.Writer.Header().Get(HeaderRequestID), "stack", string(debug.Stack()))
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			refuse(c, fmt.Errorf("panic: %v", p))
		}()
		c.Next()
	}
}

// NewServer returns a server in which every wait for a caller has a limit. The argument answer bounds
// the time from the end of a request's header to the end of its answer. Streams set limits of their own.
func NewServer(h http.Handler, answer time.Duration, log *slog.Logger, level slog.Level) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       answer,
		WriteTimeout:      answer,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), level),
	}
}
