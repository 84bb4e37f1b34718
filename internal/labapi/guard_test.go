package labapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestGuard(t *testing.T) {
	_, open, _ := start(t, nil)
	_, closed, load := start(t, func(c *Config) { c.Token = "s3cret" })
	run := func(header ...string) call {
		c := call{method: "POST", path: "/api/lab/v1/runs", body: goodRun, header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			c.header[header[i]] = header[i+1]
		}
		return c
	}
	host := strings.TrimPrefix(open.URL, "http://")
	for _, c := range []struct {
		name string
		base string
		call call
		want int
	}{
		{"foreign name", open.URL, call{"GET", "/", "", map[string]string{"Host": "evil.example"}}, 403},
		{"foreign address", open.URL, call{"GET", "/", "", map[string]string{"Host": "10.1.2.3:8080"}}, 403},
		{"localhost", open.URL, call{"GET", "/", "", map[string]string{"Host": "localhost:9999"}}, 200},
		{"IPv6 loopback", open.URL, call{"GET", "/", "", map[string]string{"Host": "[::1]:8080"}}, 200},
		{"foreign page", open.URL, run("Origin", "http://evil.example"), 403},
		{"page of nowhere", open.URL, run("Origin", "null"), 403},
		{"page of another port", open.URL, run("Origin", "http://127.0.0.1:1"), 403},
		{"foreign page buys", open.URL, call{"POST", "/api/v1/seckill", "{}",
			map[string]string{"Origin": "http://evil.example"}}, 403},
		{"own page", open.URL, run("Origin", "http://"+host), 201},
		{"no token", closed.URL, run(), 403},
		{"wrong token", closed.URL, run("Authorization", "Bearer s3cre"), 403},
		{"token", closed.URL, run("Authorization", "Bearer s3cret"), 201},
	} {
		got, _, _ := c.call.do(t, c.base)
		labtest.Same(t, got, c.want, "%s: status", c.name)
	}
	labtest.Same(t, (<-load.configs).AdminToken, serviceToken, "the token of the run")
}

// Only calls of the operator carry the services' token. A call through a reverse proxy also comes
// from 127.0.0.1, so it needs the lab's token.
func TestProxyInFrontOfThePageIsNoAdmin(t *testing.T) {
	var asked atomic.Int64
	services := []lab.Service{{URL: service(t, "a", &asked), Up: true}}
	_, open, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: services} })
	_, closed, _ := start(t, func(c *Config) { c.Lab, c.Token = &fakeLab{services: services}, "s3cret" })
	const carries = "Bearer " + serviceToken
	for _, what := range []string{"PUT /api/v1/skus/1", "GET /api/v1/audit?sku_id=1", "POST /api/v1/seckill",
		"GET /api/v1/whatever"} {
		method, path, _ := strings.Cut(what, " ")
		ask := func(base, header, value string) (status int, body string) {
			c := call{method: method, path: path, header: map[string]string{header: value}}
			if method != "GET" {
				c.body = "{}"
			}
			status, body, _ = c.do(t, base)
			return status, body
		}
		for _, base := range []string{open.URL, closed.URL} {
			for header, value := range map[string]string{"X-Forwarded-For": "127.0.0.1",
				"X-Forwarded-Host": "127.0.0.1", "X-Real-Ip": "127.0.0.1", "Forwarded": "for=127.0.0.1",
				"Via": "1.1 proxy", "Host": "shop.example", "Authorization": "Bearer wrong", "Cookie": "none"} {
				if base == open.URL && (header == "Authorization" || header == "Cookie") {
					continue
				}
				if status, body := ask(base, header, value); status != 403 && status != 200 ||
					strings.Contains(body, "Bearer "+serviceToken) {
					t.Errorf("%s with %s: %s: %d %s", what, header, value, status, body)
				}
			}
		}
		for _, c := range []struct{ base, header, value string }{{closed.URL, "Authorization", "Bearer s3cret"},
			{closed.URL, "Authorization", carries}, {open.URL, "Accept", "*/*"}} { // the last call needs no token
			if status, body := ask(c.base, c.header, c.value); status != 200 || !strings.Contains(body, carries) {
				t.Errorf("%s with %q: %d %s", what, c.value, status, body)
			}
		}
	}
	old := labtest.Value(net.Dial("tcp", strings.TrimPrefix(open.URL, "http://"))).Must(t)
	defer old.Close()
	fmt.Fprintf(old, "POST /api/lab/v1/runs HTTP/1.0\r\nHost: %s\r\n\r\n", old.RemoteAddr())
	said := labtest.Value(io.ReadAll(old)).Must(t)
	labtest.Contains(t, string(said), " 403 ", "the answer to what nginx asks when it is told nothing")
}

// Errors of servers contain addresses. So they are logged, but players do not see them.
func TestPlayersAreNotToldAddresses(t *testing.T) {
	var log bytes.Buffer
	s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	told := s.explainGameError(errors.New("dial tcp 10.1.2.3:3306: connection refused")).Error()
	if !strings.Contains(told, "begin the game again") || strings.Contains(told, "10.1.2.3") {
		t.Errorf("a player is told %q", told)
	}
	labtest.Contains(t, log.String(), "10.1.2.3", "the log")
}

// service starts a process that answers with its name and with the request that it received.
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

// closedPort returns an address at which connections are refused.
func closedPort(t *testing.T) string {
	l := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
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
		status, body, _ := call{"POST", "/api/v1/seckill", `{"x":1}`,
			map[string]string{"X-Forwarded-For": "1.2.3.4"}}.do(t, h.URL)
		if status != 200 || !strings.HasSuffix(body, `POST /api/v1/seckill {"x":1} `) {
			t.Fatalf("got %d %q", status, body)
		}
	}
	if a.Load() < 10 || b.Load() < 10 || a.Load()+b.Load() != 30 {
		t.Errorf("a was asked %d times and b %d times, 30 requests were sent", a.Load(), b.Load())
	}
	_, h, _ = start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: closedPort(t), Up: true}}} })
	call{method: "POST", path: "/api/v1/seckill", body: "{}"}.wants(t, h.URL, 503,
		"backend_unavailable") // the service has died, but the lab still lists it as running
}

func TestProxyNeverSendsTwice(t *testing.T) {
	var a, b atomic.Int64
	_, h, _ := start(t, func(c *Config) {
		c.Lab = &fakeLab{services: []lab.Service{{URL: service(t, "a", &a), Up: true},
			{URL: service(t, "b", &b), Up: true}}}
	})
	for _, c := range []struct {
		call   call
		status int
		code   string
	}{
		{call{"POST", "/api/v1/seckill", "crash", nil}, 504, "unknown_outcome"},
		{call{"DELETE", "/api/v1/orders/crash", "", nil}, 504, "unknown_outcome"},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "k&1"}}, 504,
			`"request_id":"k\u00261"`},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "k&1"}}, 504,
			"request_id=k%261 tells"},
		{call{"POST", "/api/v1/seckill", "crash", map[string]string{"Idempotency-Key": "a b"}}, 504,
			"Look before you try again.\""},
	} {
		a.Store(0)
		b.Store(0)
		status, body, _ := c.call.do(t, h.URL)
		if status != c.status || !strings.Contains(body, c.code) || a.Load()+b.Load() != 1 {
			t.Errorf("%v: got %d %s after %d attempts, want %d %s after one", c.call, status, body, a.Load()+b.Load(),
				c.status, c.code)
		}
	}
	call{method: "GET", path: "/api/v1/crash"}.wants(t, h.URL, 502, "service_failed")
}

func TestProxyPassesOnAQueryThatCannotBeRead(t *testing.T) {
	var asked atomic.Int64
	_, h, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: service(t, "a", &asked), Up: true}}} })
	for _, query := range []string{"?strategy=%zz",
		"?strategy=naive;x=1"} { // if the proxy dropped the query, the default strategy would sell
		call{method: "POST", path: "/api/v1/seckill" + query, body: "{}"}.wants(t, h.URL, 200,
			"/api/v1/seckill"+query+" ")
	}
	call{method: "GET", path: "/openapi.json"}.wants(t, h.URL, 200, "a GET /openapi.json")
	for _, path := range []string{"/healthz", "/api/lab/v1/status", "/api/v1/skus"} {
		if status, body, _ := (call{method: "HEAD", path: path}).do(t, h.URL); status != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q, want 200 without a body", path, status, body)
		}
	}
	status, _, _ := call{method: "HEAD", path: "/api/lab/v1/events"}.do(t, h.URL)
	labtest.Same(t, status, 405, "HEAD of the stream")
}
