package labapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"seckill/internal/lab"
	"seckill/internal/web"
)

// A service that dies in mid-request leaves its caller with a name for it that
// the caller, or else the service, knows.
func TestUnknownOutcomeCanBeLookedUp(t *testing.T) {
	var mu sync.Mutex // the proxy may answer before the handler has ended
	var last http.Header
	dying := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		last = r.Header.Clone()
		mu.Unlock()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(dying.Close)
	_, h, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: dying.URL, Up: true}}} })
	for _, c := range []struct {
		method, path, key, trace string
		id                       string // "": the key that the service was sent
	}{
		{"POST", "/api/v1/seckill", "k&1", "x", "k&1"}, {"POST", "/api/v1/seckill?strategy=atomic", "", "", ""},
		{"POST", "/api/v1/reservations?strategy=reserve", "", "x", ""}, {"POST", "/api/v1/reservations/o/pay", "", "x", "x"},
		{"DELETE", "/api/v1/orders/o", "", "x", "x"}, {"POST", "/api/v1/seckill", "a b", "x", "x"}, // which the service will refuse
	} {
		headers := map[string]string{}
		for name, value := range map[string]string{headerKey: c.key, web.HeaderRequestID: c.trace} {
			if value != "" {
				headers[name] = value
			}
		}
		status, text, header := call{c.method, c.path, `{"sku_id":1,"user_id":42}`, headers}.do(t, h.URL)
		mu.Lock()
		got := last
		mu.Unlock()
		var p web.Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || status != 504 || p.Code != "unknown_outcome" {
			t.Errorf("%s: %d %s, want unknown_outcome", c.path, status, text)
			continue
		}
		id := c.id
		if id == "" {
			id = got.Get(headerKey)
		}
		if id == "" || p.RequestID != id || c.id != "x" && !strings.Contains(p.Detail, "request_id="+url.QueryEscape(id)+" tells") {
			t.Errorf("%s: %+v, want that it names %q", c.path, p, id)
		}
		if c.key != "" && got.Get(headerKey) != c.key {
			t.Errorf("%s: the key %q was sent as %q", c.path, c.key, got.Get(headerKey))
		}
		if trace := got.Get(web.HeaderRequestID); trace == "" || header.Get(web.HeaderRequestID) != trace {
			t.Errorf("%s: the service was told the X-Request-Id %q, the caller %q", c.path, trace, header.Get(web.HeaderRequestID))
		}
	}
}
