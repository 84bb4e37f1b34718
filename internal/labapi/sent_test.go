package labapi

import (
	"encoding/json"
	"io"
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
	var body string
	dying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		last, body = r.Header.Clone(), string(text)
		mu.Unlock()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(dying.Close)
	_, h, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: dying.URL, Up: true}}} })

	const purchase = `{"sku_id":1,"user_id":42}`
	orders := func(id string) string { return "/api/v1/orders?user_id=42&request_id=" + url.QueryEscape(id) }
	for _, c := range []struct {
		name string
		call call
		id   string                 // "": what the service was sent
		ask  func(id string) string // nil: nothing to ask
	}{
		{"key", call{"POST", "/api/v1/seckill", purchase, map[string]string{"Idempotency-Key": "k&1", "X-Request-Id": "x"}}, "k&1", orders},
		{"request id alone", call{"POST", "/api/v1/seckill", purchase, map[string]string{"X-Request-Id": "x"}}, "", orders},
		{"neither", call{"POST", "/api/v1/seckill?strategy=atomic", purchase, nil}, "", orders},
		{"no user", call{"POST", "/api/v1/seckill", `{"sku_id":1}`, map[string]string{"Idempotency-Key": "k"}}, "k", nil},
		{"no JSON", call{"POST", "/api/v1/seckill", `hello`, nil}, "", nil},
		{"long", call{"POST", "/api/v1/seckill", `{"sku_id":1}` + strings.Repeat(" ", 100_000), map[string]string{"Idempotency-Key": "k"}}, "k", nil},
		{"reservation", call{"POST", "/api/v1/reservations?strategy=reserve", purchase, nil}, "", orders},
		{"payment", call{"POST", "/api/v1/reservations/o/pay", "", map[string]string{"X-Request-Id": "x"}}, "x",
			func(string) string { return "/api/v1/reservations/o" }},
		{"reservation's cancellation", call{"DELETE", "/api/v1/reservations/o", "", map[string]string{"X-Request-Id": "x"}}, "x",
			func(string) string { return "/api/v1/reservations/o" }},
		{"cancellation", call{"DELETE", "/api/v1/orders/o", "", map[string]string{"X-Request-Id": "x"}}, "x", nil},
		{"cancellation, no id", call{"DELETE", "/api/v1/orders/o", "", nil}, "", nil},
		{"reset", call{"PUT", "/api/v1/skus/7", `{"stock":1}`, map[string]string{"X-Request-Id": "x"}}, "x",
			func(string) string { return "/api/v1/skus/7" }},
	} {
		status, text, header := c.call.do(t, h.URL)
		mu.Lock()
		got := last
		mu.Unlock()
		var p web.Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || status != 504 || p.Code != "unknown_outcome" {
			t.Errorf("%s: %d %s, want unknown_outcome", c.name, status, text)
			continue
		}
		id := c.id
		if id == "" {
			if id = got.Get("X-Request-Id"); strings.HasSuffix(c.call.path, "/seckill") || strings.Contains(c.call.path, "?") {
				id = got.Get("Idempotency-Key")
			}
		}
		ask := ""
		if c.ask != nil {
			ask = c.ask(id)
		}
		if id == "" || p.RequestID != id || p.Ask != ask {
			t.Errorf("%s: request_id %q, ask %q; want %q and %q", c.name, p.RequestID, p.Ask, id, ask)
		}
		if trace := got.Get("X-Request-Id"); trace == "" || header.Get("X-Request-Id") != trace {
			t.Errorf("%s: the service was told the X-Request-Id %q, the caller %q", c.name, trace, header.Get("X-Request-Id"))
		}
		if body != c.call.body {
			t.Errorf("%s: %d bytes of body came, %d were sent", c.name, len(body), len(c.call.body))
		}
	}

	// What the service will refuse is passed on as it is.
	status, text, _ := call{"POST", "/api/v1/seckill", purchase, map[string]string{"Idempotency-Key": "a b", "X-Request-Id": "x"}}.do(t, h.URL)
	mu.Lock()
	got := last
	mu.Unlock()
	if status != 504 || !strings.Contains(text, `"request_id":"x"`) || got.Get("Idempotency-Key") != "a b" {
		t.Errorf("a wrong key: %d %s, sent as %q", status, text, got.Get("Idempotency-Key"))
	}
}
