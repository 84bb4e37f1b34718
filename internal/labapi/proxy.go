package labapi

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"seckill/internal/web"
)

// proxy passes requests on to the service processes in turn.
func (s *Server) proxy() http.Handler {
	through := &httputil.ReverseProxy{
		// Rewrite, unlike Director, drops the forwarding headers of the
		// caller and adds none.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.Host = "" // the service's own address
			// The caller's token is for this page. The services have another,
			// which only goes with calls that checkAdmin let pass.
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
		through.ServeHTTP(w, identify(r))
	})
}

// inTurn sends each request to the next service.
type inTurn struct {
	services  func() []string
	turn      atomic.Uint64
	transport http.RoundTripper
}

var errNoService = errors.New("no service process answers")

// RoundTrip tries another service only when the connection itself was refused.
// Once a byte may have been sent, so may the purchase.
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
	p := web.Problem{Code: "service_failed", Status: http.StatusBadGateway,
		Detail: "The service process broke off its answer. Ask again."}
	switch {
	case errors.Is(err, errNoService):
		p = *noService
	case !web.IsSafe(r.Method):
		p = web.Problem{Code: "unknown_outcome", Status: http.StatusGatewayTimeout,
			Detail: "The service process went away before it answered: this may have happened or not. " + known.advice}
	}
	p.RequestID = known.requestID
	w.Header().Set(web.HeaderRequestID, known.trace)
	s.Log.Warn("proxy", "method", r.Method, "path", r.URL.Path, "error", err)
	p.Write(w)
}

const headerKey = "Idempotency-Key"

// sent is what the caller needs if the answer to the request is lost.
type sent struct {
	trace     string // X-Request-Id, which ties logs together
	requestID string // what the caller can look for
	advice    string
}

type sentKey struct{}

// identify makes sure that an unknown outcome can be looked up: it adds an
// X-Request-Id if there is none, and to a purchase an Idempotency-Key. A
// caller's X-Request-Id is no key, because it may not be unique.
func identify(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	s := sent{trace: r.Header.Get(web.HeaderRequestID), advice: "Look before you try again."}
	if !web.IsKey(s.trace) {
		s.trace = rand.Text()
		out.Header.Set(web.HeaderRequestID, s.trace)
	}
	s.requestID = s.trace
	if buys(r) {
		if len(r.Header[headerKey]) == 0 {
			out.Header.Set(headerKey, rand.Text())
		}
		if key := out.Header.Get(headerKey); web.IsKey(key) { // otherwise the service refuses it
			s.requestID = key
			s.advice = "GET /api/v1/orders?user_id=…&request_id=" + url.QueryEscape(key) +
				" tells; sent again with this request_id as its Idempotency-Key, it will not be sold twice."
		}
	}
	return out.WithContext(context.WithValue(out.Context(), sentKey{}, s))
}

func buys(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/api/v1/seckill" || r.URL.Path == "/api/v1/reservations")
}
