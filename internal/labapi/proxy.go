package labapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"
)

// proxy passes requests on to the service processes in turn.
func (s *Server) proxy() http.Handler {
	through := &httputil.ReverseProxy{
		// Rewrite, unlike Director, drops the forwarding headers of the
		// caller and adds none.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.Host = "" // the service's own address
			// The caller's word is for this page; the services have a token of
			// their own, which only goes with what checkAdmin has let pass.
			r.Out.Header.Del("Authorization")
			if r.In.Context().Value(adminMark{}) != nil {
				r.Out.Header.Set("Authorization", "Bearer "+s.ServiceToken)
			}
		},
		Transport: &inTurn{services: s.live, transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     30 * time.Second,
			DisableCompression:  true,
		}},
		ErrorHandler: s.proxyFailed,
		ErrorLog:     slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := identify(r)
		if err != nil {
			problem{Code: "invalid", Status: http.StatusBadRequest, Detail: "The body broke off or took too long. Nothing was sent."}.write(w)
			return
		}
		through.ServeHTTP(w, out)
	})
}

// inTurn sends each request to the next service.
type inTurn struct {
	services  func() []string
	turn      atomic.Uint64
	transport http.RoundTripper
}

var errNoService = errors.New("no service process answers")

// RoundTrip goes on to another service only when the connection itself was
// refused. Once a byte may have been sent, so may the purchase.
func (t *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	services, turn := t.services(), t.turn.Add(1)
	for i := range services {
		target, err := url.Parse(services[(turn+uint64(i))%uint64(len(services))])
		if err != nil {
			return nil, err
		}
		attempt := r.Clone(r.Context())
		attempt.URL.Host = target.Host
		if r.Body != nil {
			attempt.Body = io.NopCloser(r.Body) // the transport closes it when it cannot connect
		}
		answer, err := t.transport.RoundTrip(attempt)
		if err == nil || !neverConnected(err) {
			return answer, err
		}
	}
	return nil, errNoService
}

func neverConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && !errors.Is(err, context.Canceled)
}

func (s *Server) proxyFailed(w http.ResponseWriter, r *http.Request, err error) {
	known, _ := r.Context().Value(sentKey{}).(sent)
	p := problem{Code: "service_failed", Status: http.StatusBadGateway,
		Detail: "The service process broke off its answer. Ask again."}
	switch {
	case errors.Is(err, errNoService):
		p = noService
	case !safe(r.Method):
		p = problem{Code: "unknown_outcome", Status: http.StatusGatewayTimeout,
			Detail: "The service process went away before it answered: this may have happened or not. " + known.advice, Ask: known.ask}
	}
	p.RequestID = known.requestID
	w.Header().Set(headerRequestID, known.trace)
	s.Log.Warn("proxy", "method", r.Method, "path", r.URL.Path, "error", err)
	p.write(w)
}
