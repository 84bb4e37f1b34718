package labapi

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// service returns a process that answers with its name and with the request.
func service(t *testing.T, name string, asked *atomic.Int64) string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/crash") || string(body) == "crash" {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, name+" "+r.Method+" "+r.URL.RequestURI()+" "+string(body)+" "+r.Header.Get("X-Forwarded-For")+r.Header.Get("Authorization"))
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// closedPort returns an address that refuses connections.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	labtest.Must(t, err)
	l.Close()
	return "http://" + l.Addr().String()
}

func TestProxySkipsTheDead(t *testing.T) {
	var a, b atomic.Int64
	_, h, _ := start(t, func(c *Config) {
		c.Lab = &fakeLab{services: []lab.Service{
			{URL: service(t, "a", &a), Up: true}, {URL: service(t, "b", &b), Up: true},
			{URL: "http://127.0.0.1:1", Up: false},
		}}
	})
	for range 30 {
		status, body, _ := call{"POST", "/api/v1/seckill", `{"x":1}`, map[string]string{"X-Forwarded-For": "1.2.3.4"}}.do(t, h.URL)
		if status != 200 || !strings.HasSuffix(body, `POST /api/v1/seckill {"x":1} `) {
			t.Fatalf("got %d %q", status, body)
		}
	}
	if a.Load() < 10 || b.Load() < 10 || a.Load()+b.Load() != 30 {
		t.Errorf("a was asked %d times and b %d times, 30 requests were sent", a.Load(), b.Load())
	}
	_, h, _ = start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: closedPort(t), Up: true}}} })
	call{method: "POST", path: "/api/v1/seckill", body: "{}"}.wants(t, h.URL, 503, "backend_unavailable") // it has just died
}

func TestProxyNeverSendsTwice(t *testing.T) {
	var a, b atomic.Int64
	_, h, _ := start(t, func(c *Config) {
		c.Lab = &fakeLab{services: []lab.Service{{URL: service(t, "a", &a), Up: true}, {URL: service(t, "b", &b), Up: true}}}
	})
	for _, c := range []struct {
		call   call
		status int
		code   string
	}{
		{call{"POST", "/api/v1/seckill", "crash", nil}, 504, "unknown_outcome"},
		{call{"DELETE", "/api/v1/orders/crash", "", nil}, 504, "unknown_outcome"},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "k&1"}}, 504, `"request_id":"k\u00261"`},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "k&1"}}, 504, "request_id=k%261 tells"},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "a b"}}, 504, "Look before you try again.\""},
	} {
		a.Store(0)
		b.Store(0)
		status, body, _ := c.call.do(t, h.URL)
		if status != c.status || !strings.Contains(body, c.code) || a.Load()+b.Load() != 1 {
			t.Errorf("%v: got %d %s after %d attempts, want %d %s after one", c.call, status, body, a.Load()+b.Load(), c.status, c.code)
		}
	}
	call{method: "GET", path: "/api/v1/crash"}.wants(t, h.URL, 502, "service_failed")
}

func TestProxyPassesOnAQueryThatCannotBeRead(t *testing.T) {
	var asked atomic.Int64
	_, h, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: service(t, "a", &asked), Up: true}}} })
	for _, query := range []string{"?strategy=%zz", "?strategy=naive;x=1"} { // without it, the default strategy would sell
		call{method: "POST", path: "/api/v1/seckill" + query, body: "{}"}.wants(t, h.URL, 200, "/api/v1/seckill"+query+" ")
	}
	call{method: "GET", path: "/openapi.json"}.wants(t, h.URL, 200, "a GET /openapi.json")
	for _, path := range []string{"/healthz", "/api/lab/v1/status", "/api/v1/skus"} {
		if status, body, _ := (call{method: "HEAD", path: path}).do(t, h.URL); status != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q, want 200 without a body", path, status, body)
		}
	}
	if status, _, _ := (call{method: "HEAD", path: "/api/lab/v1/events"}).do(t, h.URL); status != 405 {
		t.Errorf("HEAD of the stream: %d, want 405", status)
	}
}
