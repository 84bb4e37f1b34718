package labapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
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
		out, err := identify(r)
		if err != nil {
			web.BadRequest("The body broke off or took too long. Nothing was sent.").Write(w)
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
			Detail: "The service process went away before it answered: this may have happened or not. " + known.advice, Ask: known.ask}
	}
	p.RequestID = known.requestID
	w.Header().Set(web.HeaderRequestID, known.trace)
	s.Log.Warn("proxy", "method", r.Method, "path", r.URL.Path, "error", err)
	p.Write(w)
}

const (
	headerKey = "Idempotency-Key"
	// peeked is how much of a purchase is read for its user_id: far more than
	// any purchase has.
	peeked = 16 << 10
)

// sent is what the caller needs if the answer to the request is lost.
type sent struct {
	trace     string // X-Request-Id, which ties logs together
	requestID string // what the caller can look for
	ask       string // the call that tells what became of it
	advice    string
}

type sentKey struct{}

// identify makes sure that an unknown outcome can be looked up: it adds an
// X-Request-Id if there is none, and to a purchase an Idempotency-Key. A
// caller's X-Request-Id is no key, because it may not be unique.
func identify(r *http.Request) (*http.Request, error) {
	out := r.Clone(r.Context())
	s := sent{trace: r.Header.Get(web.HeaderRequestID)}
	if !web.IsKey(s.trace) {
		s.trace = rand.Text()
		out.Header.Set(web.HeaderRequestID, s.trace)
	}
	s.requestID = s.trace
	s.advice = "Look before you try again."
	switch {
	case buys(r):
		switch keys := r.Header[headerKey]; {
		case len(keys) == 0:
			s.requestID = rand.Text()
			out.Header.Set(headerKey, s.requestID)
		case len(keys) == 1 && web.IsKey(keys[0]):
			s.requestID = keys[0]
		default: // the service refuses it
			return with(out, s), nil
		}
		user, err := peekUser(out)
		if err != nil {
			return nil, err
		}
		s.advice = "Sent again with this request_id as its Idempotency-Key, it will not be sold twice."
		if user > 0 {
			s.ask = "/api/v1/orders?user_id=" + strconv.FormatInt(user, 10) + "&request_id=" + url.QueryEscape(s.requestID)
			s.advice = "GET " + s.ask + " tells; sent again with this request_id as its Idempotency-Key, it will not be sold twice."
		}
	case reserved.MatchString(r.URL.Path):
		s.ask = strings.TrimSuffix(r.URL.EscapedPath(), "/pay")
		s.advice = "GET " + s.ask + " tells; to send it again does no harm."
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, "/api/v1/orders/"):
		s.advice = "Cancel the order again: an order that is cancelled stays so, and its units are given back once."
	case r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/api/v1/skus/"):
		s.ask = r.URL.EscapedPath()
		s.advice = "GET " + s.ask + " tells."
	}
	return with(out, s), nil
}

func with(r *http.Request, s sent) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sentKey{}, s))
}

func buys(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/api/v1/seckill" || r.URL.Path == "/api/v1/reservations")
}

// reserved is where one reservation is paid, cancelled or read.
var reserved = regexp.MustCompile(`^/api/v1/reservations/[^/]+(/pay)?$`)

// peekUser reads a purchase's user_id and leaves the body whole. What is wrong
// with the body is for the service to say; an error means that it broke off.
func peekUser(r *http.Request) (user int64, err error) {
	if r.Body == nil {
		return 0, nil
	}
	begin, err := io.ReadAll(io.LimitReader(r.Body, peeked))
	if err != nil {
		return 0, err
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), r.Body), r.Body}
	var purchase struct {
		User int64 `json:"user_id"`
	}
	if json.Unmarshal(begin, &purchase) != nil {
		return 0, nil
	}
	return purchase.User, nil
}
