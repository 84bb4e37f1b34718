package labapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

var serviceTransport = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
	MaxIdleConnsPerHost: 256,
	IdleConnTimeout:     30 * time.Second,
	DisableCompression:  true,
}

// forwardCall sends a call to one service process. Successive calls go to the processes in turn. If a process fails,
// forwardCall tries no other process, because the call may be a purchase that the failed process has made.
func (s *Server) forwardCall(c *gin.Context) error {
	services := s.liveServices()
	if len(services) == 0 {
		return noService
	}
	target, err := url.Parse(services[s.nextService.Add(1)%uint64(len(services))])
	if err != nil {
		return err
	}
	// The proxy reads the whole body before it sends anything. So if the caller sends only a part, the service gets
	// nothing.
	body, err := web.ReadBody(c.Writer, c.Request)
	if err != nil {
		return err
	}
	sent := c.Request.Clone(c.Request.Context())
	sent.Body, sent.ContentLength, sent.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	proxy := &httputil.ReverseProxy{
		// Unlike Director, Rewrite removes the caller's headers Forwarded and X-Forwarded-…, and adds none.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// SetURL drops a malformed query. The query may name a strategy, so the service must see and refuse it.
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			// The caller's token is valid only for the lab. The operator's calls get the token of the services instead.
			r.Out.Header.Del("Authorization")
			if s.whyNotOperator(c.Request) == "" {
				r.Out.Header.Set("Authorization", "Bearer "+s.ServiceToken)
			}
		},
		Transport:    serviceTransport,
		ErrorHandler: s.writeProxyError,
		ErrorLog:     slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	proxy.ServeHTTP(c.Writer, sent)
	return nil
}

func (s *Server) writeProxyError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil { // an error after the caller has ended the call says nothing about the service
		s.Log.Warn("proxy", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	p := web.Problem{Code: "service_failed", Status: http.StatusBadGateway,
		Detail: "The connection ended before the answer was whole. Ask again."}
	var op *net.OpError
	switch key := r.Header.Get("Idempotency-Key"); {
	case errors.As(err, &op) && op.Op == "dial" && !errors.Is(err, context.Canceled):
		p = *noService
	case web.IsSafe(r.Method):
	default:
		p = web.Problem{Code: "unknown_outcome", Status: http.StatusGatewayTimeout,
			Detail: "The connection ended before the answer came: this may have happened or not. " +
				"Look before you try again."}
		if web.IsKey(key) {
			p.RequestID = key
			p.Detail += " GET /api/v1/orders?user_id=…&request_id=" + url.QueryEscape(key) +
				" tells; sent again with this Idempotency-Key, it will not be sold twice."
		}
	}
	p.Write(w)
}
