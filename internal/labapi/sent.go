package labapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	headerRequestID = "X-Request-Id"
	headerKey       = "Idempotency-Key"
	// peeked is how much of a purchase is read for its user_id: far more than
	// any purchase has.
	peeked = 16 << 10
)

// sent is what the proxy knows of a request it passes on, should its answer
// be lost.
type sent struct {
	trace     string // X-Request-Id, which ties logs together
	requestID string // what the caller can look for
	ask       string // the call that tells what became of it
	advice    string
}

type sentKey struct{}

// identify makes sure that what an unknown outcome is looked up by is known to
// the caller and to the service: a request without an X-Request-Id is given
// one, and a purchase without an Idempotency-Key a key. A caller's X-Request-Id
// is no key: nobody promised that it is unique.
func identify(r *http.Request) (*http.Request, error) {
	out := r.Clone(r.Context())
	s := sent{trace: r.Header.Get(headerRequestID)}
	if !isKey(s.trace) {
		s.trace = rand.Text()
		out.Header.Set(headerRequestID, s.trace)
	}
	s.requestID = s.trace
	s.advice = "Look before you try again."
	switch {
	case buys(r):
		switch keys := r.Header[headerKey]; {
		case len(keys) == 0:
			s.requestID = rand.Text()
			out.Header.Set(headerKey, s.requestID)
		case len(keys) == 1 && isKey(keys[0]):
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
	return r.Method == http.MethodPost && r.URL.Path == "/api/v1/seckill"
}

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

// isKey: 1 to 128 visible ASCII characters, as the service wants them.
func isKey(text string) bool {
	return text != "" && len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
