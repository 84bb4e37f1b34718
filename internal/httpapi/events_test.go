package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
)

// smallBuffers hold little of what a slow reader does not read.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		_ = c.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return c, err
}

func served(t *testing.T, c httpapi.Config) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &running{Server: serverWith(t, nil, c), t: t, url: l.Addr().String(), stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- r.Serve(ctx, smallBuffers{l}) }()
	return r
}

// A listener is one stream of a buyer.
type listener struct {
	net.Conn
	lines *bufio.Reader
}

// listen opens a stream and reads the head of its answer.
func (r *running) listen(query, header string) (l *listener, status int) {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	if header != "" {
		header += "\r\n"
	}
	fmt.Fprintf(conn, "GET /api/v1/orders/events%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query, header)
	lines := bufio.NewReader(conn)
	head, err := http.ReadResponse(lines, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if head.StatusCode == http.StatusOK && head.Header.Get("Content-Type") != "text/event-stream" {
		r.t.Errorf("the stream is of type %q", head.Header.Get("Content-Type"))
	}
	return &listener{conn, bufio.NewReader(head.Body)}, head.StatusCode
}

// event reads the next one.
func (l *listener) event(t *testing.T, into any) (name string) {
	t.Helper()
	_ = l.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends: %v", err)
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "event":
			name = value
		case "data":
			if err := json.Unmarshal([]byte(value), into); err != nil {
				t.Fatal(err)
			}
			return name
		}
	}
}

// ends reads to the end, and returns how many events came.
func (l *listener) ends(t *testing.T) int {
	t.Helper()
	_ = l.SetReadDeadline(time.Now().Add(time.Minute))
	rest, err := io.ReadAll(l.lines)
	if err, timeout := err.(net.Error); timeout && err.Timeout() {
		t.Fatal("the stream does not end")
	}
	return strings.Count(string(rest), "event: ")
}

// A buyer hears of their orders and refusals, by whichever process, and of
// no other buyer's.
func TestOrderEvents(t *testing.T) {
	in := embedded(t)
	r := served(t, httpapi.Config{Instance: in})
	other := serverWith(t, nil, httpapi.Config{Instance: in})
	for sku := 1; sku <= 2; sku++ {
		ask(t, other, "PUT", fmt.Sprint("/api/v1/skus/", sku), `{"stock":9}`).want(t, "reset", 200, "")
	}
	var first, second sale
	ask(t, other, "POST", "/api/v1/seckill", purchase(7, 1)).into(t, &first)
	l, _ := r.listen("?user_id=7", "")
	var o ledger.Order
	if name := l.event(t, &o); name != "order" || o.PublicID != first.OrderID || o.Status != ledger.Active {
		t.Errorf("first came %s %+v", name, o)
	}
	ask(t, other, "POST", "/api/v1/seckill", purchase(8, 1)).want(t, "another buyer", 200, "")
	ask(t, other, "DELETE", "/api/v1/orders/"+first.OrderID, "").want(t, "cancel", 200, "")
	if name := l.event(t, &o); name != "order" || o.PublicID != first.OrderID || o.Status != ledger.Cancelled {
		t.Errorf("then came %s %+v", name, o)
	}
	insert := "INSERT INTO refusals (request_id, user_id, sku_id, run, quantity, reason, strategy, refused_at) VALUES (?, ?, 1, ?, 1, 'sold_out', 'redis-stream', 5)"
	for user, run := range map[int]int{7: 1, 8: 1, 9: 0} {
		if err := in.DB.Exec(insert, "k", user, run).Error; err != nil {
			t.Fatal(err)
		}
	}
	var refused struct {
		RequestID string `json:"request_id"`
		User      int64  `json:"user_id"`
		Code      string
	}
	if name := l.event(t, &refused); name != "refused" || refused.RequestID != "k" || refused.User != 7 || refused.Code != "sold_out" {
		t.Errorf("then came %s %+v", name, refused)
	}
	ask(t, other, "POST", "/api/v1/seckill", `{"sku_id":2,"user_id":7}`).into(t, &second)
	if name := l.event(t, &o); name != "order" || o.PublicID != second.OrderID {
		t.Errorf("then came %s %+v", name, o)
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if n := l.ends(t); n != 0 {
		t.Errorf("%d more events came", n)
	}
}

// As many streams as there may be, of which no buyer reads: the service answers
// others, refuses one more, and shuts down without waiting for them.
func TestSlowReadersDoNotBlockShutdown(t *testing.T) {
	in := embedded(t)
	r := served(t, httpapi.Config{Instance: in, ShutdownTimeout: 4 * time.Second}) // shorter than a write may take
	ask(t, r.Server, "PUT", "/api/v1/skus/1", `{"stock":9}`).want(t, "reset", 200, "")
	const users, each, orders, busy = 64, 4, 100, 8
	for user := range busy {
		fill(t, in, user+1, orders)
	}
	var all []*listener
	for i := range users * each {
		l, status := r.listen(fmt.Sprintf("?user_id=%d", i%users+1), "")
		if status != http.StatusOK {
			t.Fatalf("stream %d: %d", i+1, status)
		}
		all = append(all, l)
	}
	for _, user := range []int{1, users + 1} { // too many of one buyer, and of all
		if _, status := r.listen(fmt.Sprintf("?user_id=%d", user), ""); status != http.StatusServiceUnavailable {
			t.Errorf("one more stream, of user %d: %d, want 503", user, status)
		}
	}
	ask(t, r.Server, "POST", "/api/v1/seckill", purchase(1000, 1)).want(t, "a purchase beside them", 200, "")
	r.stop()
	if err := r.end(); err != nil {
		t.Errorf("the service waited for slow readers: %v", err)
	}
	for _, l := range all[:3] {
		_ = l.Conn.(*net.TCPConn).SetReadBuffer(1 << 20)
		if n := l.ends(t); n == orders {
			t.Error("a stream was not blocked, so this test shows nothing")
		}
	}
}

// fill writes cancelled orders of a user, with keys that are longer than buffers.
func fill(t *testing.T, in *backend.Instance, user, orders int) {
	t.Helper()
	rows := make([]string, orders)
	for i := range rows {
		rows[i] = fmt.Sprintf("('o-%d-%d', '%s%d', 1, %d, 1, 1, 1, 'cancelled', 'conditional')", user, i, strings.Repeat("k", 10_000), i, user)
	}
	err := in.DB.Exec("INSERT INTO orders (public_id, request_id, run, user_id, sku_id, quantity, remaining, status, strategy) VALUES " +
		strings.Join(rows, ", ")).Error
	if err != nil {
		t.Fatal(err)
	}
}
