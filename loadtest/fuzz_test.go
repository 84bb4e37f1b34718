package loadtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
)

// If a requirement can be parsed, its text can be parsed again with the same result. An empty result does not meet it.
func FuzzRequirement(f *testing.F) {
	for _, text := range []string{"p99<50ms", "rate >= 1e3", "errors==0", "sold>=-1", "p50<=-1s", "late<NaN",
		"rate<0x1p60", "max=1s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRequirement(text); err == nil {
			if again, err := ParseRequirement(r.text); err != nil || again != r || r.checkResult(&Result{}).Met {
				t.Errorf("%q is %+v, and %q is %+v (%v)", text, r, r.text, again, err)
			}
		}
	})
}

// A scenario file is refused with an error of one line, or can be written as a command line.
func FuzzScenario(f *testing.F) {
	for _, text := range []string{"stock: 5\nbuyers: 9\n", "profile: constant\nrate: 100\nduration: 2s\n",
		"stock: [1]\n", "a: &a [*a]\n", "require: [p99<50ms]\n", "stock: 1\n---\nstock: 2\n", "rate: .nan\n",
		"duration: 9999999h\n", "<<: {stock: 3}\n"} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "scenario.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		labtest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := ReadScenario(file, DefaultScenario())
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is refused with several lines: %q", text, err)
		} else if err == nil && s.Check() == nil {
			s.Command()
		}
	})
}

// talk lets a buyer send a purchase to a service that answers with the given bytes. It returns what
// the buyer sent, and the reply as the buyer understood it.
func talk(t testing.TB, target, answer string) (sent string, told reply) {
	b := newClient(Config{Targets: []string{target},
		Scenario: Scenario{Strategy: testStrategy, Timeout: time.Second}}).newBuyer()
	ours, theirs := net.Pipe()
	defer ours.Close()
	c := &b.connections[0]
	c.Conn, c.limit.R, c.used = ours, ours, time.Now()
	c.reader = bufio.NewReader(&c.limit)
	heard := make(chan string)
	go func() {
		request := make([]byte, 64<<10) // one Read gets it all, because the buyer writes the request at once
		n, _ := theirs.Read(request)
		_, _ = io.WriteString(theirs, answer)
		theirs.Close()
		heard <- string(request[:n])
	}()
	told = b.sendPurchase(purchase{key: "k1"})
	ours.Close()
	return <-heard, told
}

// If a target is accepted, a request to it has no header beyond the buyer's own. Whatever the
// service answers, a buyer reports a sale only if the answer has an order's id.
func FuzzAnswer(f *testing.F) {
	const ok, body = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", `{"order_id":"a","sku_id":0,"quantity":0,"remaining":5,"strategy":"conditional"}`
	for _, answer := range []string{ok + "Content-Length: 78\r\n\r\n" + body,
		ok + "Transfer-Encoding: chunked\r\n\r\n4e\r\n" + body + "\r\n0\r\n\r\n",
		"HTTP/1.1 409 X\r\nRetry-After: 9\r\nContent-Type: application/problem+json\r\nContent-Length: 19\r\n\r\n{\"code\":\"sold_out\"}",
		"HTTP/1.1 202 X\r\nContent-Type: application/json\r\n\r\n{\"status\":\"accepted\",\"request_id\":\"k\"}",
		"HTTP/1.1 100 Continue\r\n\r\n"} {
		f.Add("http://127.0.0.1:8081", answer)
	}
	f.Add("http://[::1]:80/x/", "SSH-2.0")
	f.Add("http://h%0d%0aA:1", "")
	f.Fuzz(func(t *testing.T, target, answer string) {
		if checkTarget(target) != nil || len(target) > 1000 {
			return
		}
		sent, told := talk(t, target, answer)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(sent)))
		if err != nil || r.Header.Get("Idempotency-Key") != "k1" || len(r.Header) != 3 {
			t.Errorf("to %q the buyer sends %q (%v)", target, sent, err)
		}
		if told.Outcome == "" || told.Outcome == judge.OutcomeSold && told.OrderID == "" {
			t.Errorf("%q is understood as %+v", answer, told)
		}
	})
}

// BenchmarkGenerator measures buyers, each with one connection, at a service that answers at once.
func BenchmarkGenerator(b *testing.B) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		respond(w, map[string]any{"order_id": "a", "sku_id": 1, "quantity": 1, "remaining": 5,
			"strategy": testStrategy})
	}))
	defer service.Close()
	b.RunParallel(func(pb *testing.PB) {
		buys := newClient(Config{Targets: []string{service.URL},
			Scenario: Scenario{Strategy: testStrategy, Timeout: 5 * time.Second}}).newBuyer()
		defer buys.closeConnections()
		for pb.Next() {
			if r := buys.sendPurchase(purchase{sku: 1, quantity: 1, user: 1,
				key: "k1"}); r.Outcome != judge.OutcomeSold {
				b.Errorf("told %+v", r)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
