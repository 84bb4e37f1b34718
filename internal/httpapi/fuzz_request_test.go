package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"seckill/internal/httpapi"
)

// FuzzRequest: whatever is asked, of any route, the service answers within its contract,
// never with an internal error, and changes nothing for those without the token.
func FuzzRequest(f *testing.F) {
	s := serverWith(f, nil, httpapi.Config{})
	ask(f, s, "PUT", "/api/v1/skus/1", `{"stock":1000000000}`).want(f, "set", http.StatusOK, "")
	for _, c := range []struct{ method, target, header, value, body string }{
		{"POST", "/api/v1/seckill", "Idempotency-Key", "k", good},
		{"POST", "/api/v1/reservations?strategy=reserve", "Prefer", "respond-async", good},
		{"GET", "/api/v1/orders?user_id=1&after=1.2&limit=3", "Accept", "*/*", ""},
		{"GET", "/api/v1/orders?request_id=%00", "Authorization", "Bearer x", ""},
		{"DELETE", "/api/v1/orders/%2e%2e", "Authorization", "Basic x", ""},
		{"PUT", "/api/v1/skus/1", "Authorization", "Bearer ", `{"stock":1}`},
		{"GET", "/api/v1/orders", "Content-Encoding", "gzip", ""},
		{"GET", "/api/v1/skus?after=-1", "X-Request-Id", "a b", ""},
		{"GET", "/api/v1/audit?sku_id=1", "Content-Type", "text/plain; charset=utf-7", ""},
		{"GET", "//api/v1/strategies/naive", "Range", "bytes=0-", ""},
		{"TRACE", "/metrics", "Expect", "100-continue", ""},
	} {
		f.Add(c.method, c.target, c.header, c.value, c.body)
	}
	f.Fuzz(func(t *testing.T, method, target, header, value, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") || !isToken(method) || !isToken(header) {
			return // net/http would refuse it
		}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL, r.RequestURI, r.RemoteAddr = method, u, target, here
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(header, value)
		got := do(t, s, r)
		switch {
		case got.status == http.StatusInternalServerError, got.status == http.StatusGatewayTimeout:
			t.Fatalf("answered %d %s", got.status, got.body)
		case got.status < 300 && (strings.HasPrefix(u.Path, "/api/v1/audit") || method == http.MethodPut):
			t.Fatalf("allowed without the token: %d %s", got.status, got.body)
		case slices.Contains([]int{401, 403}, got.status) && value == "Bearer "+adminToken:
			t.Fatalf("refused with the token: %s", got.body)
		}
	})
}

// isToken: net/http lets no other methods and names of headers in.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
