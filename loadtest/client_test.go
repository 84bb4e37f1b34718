package loadtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// net/http sends a request with an Idempotency-Key again by itself when a kept
// connection breaks. A buyer must not: the service would be asked twice, and
// no one would know.
func TestClientNeverSendsTwice(t *testing.T) {
	const sold = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n" +
		`{"order_id":"a","sku_id":1,"quantity":1,"remaining":5,"strategy":"conditional" }`
	for _, test := range []struct {
		name string
		drop func(conn net.Conn) // deals with the second request of a connection
	}{
		{"closed", func(net.Conn) {}},
		{"closed in mid-answer", func(conn net.Conn) { _, _ = io.WriteString(conn, sold[:70]) }},
		{"reset", func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			arrived := map[string]int{} // by key
			target := listen(t, func(conn net.Conn) {
				requests := bufio.NewReader(conn)
				for _, then := range []func(net.Conn){
					func(conn net.Conn) { _, _ = io.WriteString(conn, sold) },
					test.drop,
				} {
					key, err := readPurchase(requests)
					if err != nil {
						return
					}
					mu.Lock()
					arrived[key]++
					mu.Unlock()
					then(conn)
				}
			})
			c := newClient(Config{Targets: []string{target}, Scenario: Scenario{Strategy: testStrategy, SKU: 1, Quantity: 1, Concurrency: 1, Timeout: 5 * time.Second}})
			b := c.newBuyer()
			defer b.close()
			plan := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: 20}, []int64{1})
			const purchases = 20
			for i := range purchases {
				// The first of a connection is sold, the second is dropped.
				want := []ledger.Outcome{ledger.OutcomeSold, ledger.OutcomeUnknown}[i%2]
				if r := b.buy(plan.purchase(i)); r.Outcome != want {
					t.Errorf("purchase %d: %+v, want %s", i, r, want)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(arrived) != purchases {
				t.Errorf("%d of %d purchases arrived", len(arrived), purchases)
			}
			for key, times := range arrived {
				if times > 1 {
					t.Errorf("%s arrived %d times", key, times)
				}
			}
		})
	}
}

func readPurchase(r *bufio.Reader) (key string, err error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return req.Header.Get("Idempotency-Key"), err
}

// listen serves every connection with f, and closes it after that.
func listen(t *testing.T, f func(net.Conn)) (target string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	labtest.Must(t, err)
	var open sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				f(conn)
			})
		}
	})
	return "http://" + l.Addr().String()
}

// Each answer, byte by byte; what is odd is never guessed at.
func TestReceive(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	long := strings.Repeat("x", maxBody)
	for _, test := range []struct {
		name, sent string
		body       string
		last       bool
		odd        string // part of the oddity
		lost       bool
	}{
		{name: "with a length", sent: ok + "Content-Length: 5\r\n\r\nhello", body: "hello"},
		{name: "chunks", sent: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n", body: "hello"},
		{name: "closing", sent: ok + "Connection: Close\r\nContent-Length: 2\r\n\r\nok", body: "ok", last: true},
		{name: "the longest", sent: ok + "Content-Length: 65536\r\n\r\n" + long, body: long},

		{name: "nothing", sent: "", lost: true},
		{name: "cut in the body", sent: ok + "Content-Length: 5\r\n\r\nhell", lost: true},

		{name: "another protocol", sent: "SSH-2.0-OpenSSH_9.2\r\n", odd: "malformed HTTP"},
		{name: "a status out of range", sent: "HTTP/1.1 600 X\r\n\r\n", odd: "a status of 600"},
		{name: "too long", sent: ok + "Content-Length: 65537\r\n\r\n" + long + "x", odd: "a body of more than 65536 bytes"},
		{name: "headers without an end", sent: ok + strings.Repeat("X: y\r\n", 20_000), odd: "malformed MIME header"},
		{name: "gzip", sent: ok + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", odd: "a Content-Encoding of gzip"},
	} {
		l := &link{}
		l.connect(readConn{Reader: iotest.OneByteReader(strings.NewReader(test.sent))})
		a, last, err := l.receive()
		var o oddity
		switch {
		case test.odd != "":
			if !errors.As(err, &o) || !strings.Contains(err.Error(), test.odd) {
				t.Errorf("%s: %v, want an oddity with %q", test.name, err, test.odd)
			}
		case test.lost:
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v, want the end of the connection", test.name, err)
			}
		case err != nil || a.Status != http.StatusOK || string(a.Body) != test.body || last != test.last:
			t.Errorf("%s: %d %.40q last %t, %v; want %.40q last %t", test.name, a.Status, a.Body, last, err, test.body, test.last)
		}
	}
}

// A readConn is a connection that is only read.
type readConn struct {
	io.Reader
	net.Conn
}

func (c readConn) Read(p []byte) (int, error) { return c.Reader.Read(p) }

func TestClassify(t *testing.T) {
	const (
		json    = "application/json; charset=utf-8"
		problem = "application/problem+json"
		sale    = `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":-3,"strategy":"version"}`
	)
	for _, test := range []struct {
		status            int
		contentType, body string
		outcome           ledger.Outcome
		code              string
	}{
		{200, json, sale, ledger.OutcomeSold, ""},
		{200, "application/json", `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0,"strategy":"version","more":[1]}`, ledger.OutcomeSold, ""},
		{200, "text/html", sale, ledger.OutcomeUnknown, codeNonsense},
		{200, json, sale + "x", ledger.OutcomeUnknown, codeNonsense},
		{200, json, "null", ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"","sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":7,"sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":2,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":1,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0,"strategy":"naive"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0.5,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{201, json, sale, ledger.OutcomeUnknown, codeNonsense},

		{409, problem, `{"code":"sold_out"}`, ledger.OutcomeSoldOut, "sold_out"},
		{409, problem, `{"code":"not_started"}`, ledger.OutcomeError, "not_started"},
		{503, problem, `{"code":"backend_unavailable"}`, ledger.OutcomeError, "backend_unavailable"},
		{504, problem, `{"code":"unknown_outcome"}`, ledger.OutcomeUnknown, "unknown_outcome"},
		{500, problem, `{"code":"internal"}`, ledger.OutcomeUnknown, "internal"},

		{409, problem, `{"code":"sold_out"`, ledger.OutcomeUnknown, codeNonsense},
		{409, json, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{404, problem, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{409, problem, `{"code":"surprise"}`, ledger.OutcomeUnknown, codeNonsense},
		{500, "text/plain", "boom", ledger.OutcomeUnknown, "http_500"},
		{503, problem, `{}`, ledger.OutcomeUnknown, "http_503"},
	} {
		o := wantedSale{1, 2, "version", ledger.OutcomeSold}
		r := o.Bought(response{Status: test.status, ContentType: test.contentType, Body: []byte(test.body)})
		if r.Outcome != test.outcome || r.Code != test.code {
			t.Errorf("%d %s %s\n\tis %s %q (%s), want %s %q", test.status, test.contentType, test.body,
				r.Outcome, r.Code, r.Message, test.outcome, test.code)
		}
		if r.Outcome == ledger.OutcomeSold && r.OrderID != "a1" {
			t.Errorf("order %q", r.OrderID)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	for _, test := range []struct {
		err     error
		outcome ledger.Outcome
		code    string
	}{
		{context.DeadlineExceeded, ledger.OutcomeUnknown, codeTimeout},
		{context.Canceled, ledger.OutcomeUnknown, codeInterrupted},
		{io.ErrUnexpectedEOF, ledger.OutcomeUnknown, codeLost},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ledger.OutcomeUnknown, codeLost},
		{fmt.Errorf("wrapped: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), ledger.OutcomeError, codeUnreachable},
	} {
		if r := noAnswer(test.err); r.Outcome != test.outcome || r.Code != test.code {
			t.Errorf("%v is %s %q, want %s %q", test.err, r.Outcome, r.Code, test.outcome, test.code)
		}
	}
}

// What buyers who reserve are told, and what is none of the contract.
func TestRepliesToThoseWhoReserve(t *testing.T) {
	buy := wantedSale{1, 3, "reserve", ledger.OutcomeReserved}.Bought
	in := func(state string) string {
		return `{"reservation_id":"o1","sku_id":1,"user_id":42,"quantity":3,"remaining":7,"strategy":"reserve","state":"` + state + `"}`
	}
	problem := func(code string) string { return `{"code":"` + code + `","detail":"d"}` }
	for _, c := range []struct {
		what   string
		reply  func(response) reply
		status int
		body   string
		want   ledger.Outcome
	}{
		{"reserved", buy, 200, in("reserved"), ledger.OutcomeReserved},
		{"a copy, when it has expired", buy, 200, in("expired"), ledger.OutcomeReserved},
		{"another quantity", buy, 200, strings.Replace(in("reserved"), `"quantity":3`, `"quantity":2`, 1), ledger.OutcomeUnknown},
		{"no id", buy, 200, strings.Replace(in("reserved"), "o1", "", 1), ledger.OutcomeUnknown},
		{"paid", paid, 200, in("paid"), ledger.OutcomeSold},
		{"paid, it says, and it is not", paid, 200, in("reserved"), ledger.OutcomeUnknown},
		{"too late", paid, 409, problem("expired"), ledger.OutcomeExpired},
		{"expired with another status", paid, 404, problem("expired"), ledger.OutcomeUnknown},
		{"released", released, 200, in("cancelled"), ledger.OutcomeCancelled},
		{"released by the deadline", released, 200, in("expired"), ledger.OutcomeCancelled},
		{"released, it says, and it is not", released, 200, in("reserved"), ledger.OutcomeUnknown},
		{"paid before", released, 409, problem("paid"), ledger.OutcomeError},
	} {
		kind := typeProblem
		if c.status == 200 {
			kind = typeJSON
		}
		if r := c.reply(response{Status: c.status, ContentType: kind, Body: []byte(c.body)}); r.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, r.Outcome, r.Message, c.want)
		}
	}
}
