package loadtest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
)

// If a kept connection breaks, an http.Transport sends a request with an Idempotency-Key again. A
// buyer must not do so: the service would be called twice, and the run would not know.
func TestClientNeverSendsTwice(t *testing.T) {
	const sold = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRetry-After: 2\r\nContent-Length: 80\r\n\r\n" +
		`{"order_id":"a","sku_id":1,"quantity":1,"remaining":5,"strategy":"conditional" }`
	closing := strings.Replace(sold, "OK\r\n", "OK\r\nConnection: close\r\n", 1)
	for _, test := range []struct {
		name  string
		first string              // answer to the first request of a connection
		drop  func(conn net.Conn) // handles the second request of a connection
		want  judge.Outcome       // outcome of each second purchase
	}{
		{"closed", sold, func(net.Conn) {}, judge.OutcomeUnknown},
		{"closed in mid-answer", sold, func(conn net.Conn) { _, _ = io.WriteString(conn, sold[:70]) },
			judge.OutcomeUnknown},
		{"reset", sold, func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }, judge.OutcomeUnknown},
		{"closed as it was announced", closing, func(net.Conn) {}, judge.OutcomeSold},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			arrived := map[string]int{} // how often each key has arrived
			target := serveConnections(t, func(conn net.Conn) {
				requests := bufio.NewReader(conn)
				for _, answer := range []func(net.Conn){
					func(conn net.Conn) { _, _ = io.WriteString(conn, test.first) },
					test.drop,
				} {
					key, err := readKey(requests)
					if err != nil {
						return
					}
					mu.Lock()
					arrived[key]++
					mu.Unlock()
					answer(conn)
				}
			})
			b := newTestBuyer(t, target, 5*time.Second)
			const purchases = 20
			plan := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: purchases}, []int64{1})
			for i := range purchases {
				want := []judge.Outcome{judge.OutcomeSold, test.want}[i%2]
				if i == purchases-1 { // pretend that the connection was idle for too long
					b.connections[0].used, want = time.Now().Add(-2*maxIdle), judge.OutcomeSold
				}
				r := b.sendPurchase(plan.purchaseOf(i))
				if r.Outcome != want || want == judge.OutcomeSold && r.RetryAfter != 2*time.Second {
					t.Errorf("purchase %d: %+v, want %s", i, r, want)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			labtest.Same(t, len(arrived), purchases, "the purchases that arrived")
			for key, times := range arrived {
				if times > 1 {
					t.Errorf("%s arrived %d times", key, times)
				}
			}
		})
	}
}

// newTestBuyer returns a buyer that buys one unit of SKU 1.
func newTestBuyer(t *testing.T, target string, timeout time.Duration) *buyer {
	t.Helper()
	b := newClient(Config{Targets: []string{target},
		Scenario: Scenario{Strategy: testStrategy, SKU: 1, Quantity: 1, Timeout: timeout}}).newBuyer()
	t.Cleanup(b.closeConnections)
	return b
}

func readKey(r *bufio.Reader) (string, error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return req.Header.Get("Idempotency-Key"), err
}

// serveConnections calls f with every connection, and closes the connection when f returns. It
// returns its address in the form of a target.
func serveConnections(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
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

// A service may answer with bytes that are not the requested HTTP. The buyer must not hang, and
// must not guess at the meaning. The outcome is unknown, and the message says why.
func TestHostileAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	const sale = `{"order_id":"a","sku_id":1,"quantity":1,"remaining":5,"strategy":"conditional"}`
	padded := func(length int) string {
		return fmt.Sprintf("Content-Length: %d\r\n\r\n%s%s", length, sale, strings.Repeat(" ", length-len(sale)))
	}
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x;a=b\r\n%s\r\n", 10, sale[:10],
		len(sale)-10, sale[10:])
	for _, test := range []struct {
		name, answer string
		code         string // code of the reply; "" for a sale
		message      string // text that the reply's message must contain
	}{
		{name: "with a length", answer: ok + padded(len(sale))},
		{name: "in chunks", answer: ok + chunked + "0\r\n\r\n"},
		{name: "closing", answer: ok + "Connection: Close\r\n" + padded(len(sale))},
		{name: "of the greatest length", answer: ok + padded(maxBody)},

		{name: "nothing", code: codeLost},
		{name: "cut in the header", answer: ok, code: codeLost},
		{name: "cut in the body", answer: ok + "Content-Length: 500\r\n\r\n" + sale, code: codeLost},
		{name: "chunks without an end", answer: ok + chunked, code: codeLost},

		{name: "another protocol", answer: "SSH-2.0-OpenSSH_9.2\r\n", code: codeNonsense, message: "malformed HTTP"},
		{name: "a status out of range", answer: "HTTP/1.1 600 X\r\n\r\n", code: codeNonsense,
			message: "a status of 600"},
		{name: "another protocol is switched to", answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n",
			code: codeNonsense, message: "a status of 101"},
		{name: "a body that is too long", answer: ok + padded(maxBody+1), code: codeNonsense,
			message: "a body of more than 65536 bytes"},
		{name: "a bad chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\nhello\r\n", code: codeNonsense,
			message: "chunk length"},
		{name: "a header without a name", answer: ok + ": x\r\n\r\n", code: codeNonsense,
			message: "malformed MIME header"},
		{name: "a header without an end", answer: ok + strings.Repeat("X: y\r\n", 20_000), code: codeNonsense,
			message: "a response that does not end"},
		{name: "gzip", answer: ok + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", code: codeNonsense,
			message: "a Content-Encoding of gzip"},
		{name: "an order with another's fields", answer: ok + "Content-Length: 2\r\n\r\n{}", code: codeNonsense,
			message: "without all its fields"},
	} {
		target := serveConnections(t, func(conn net.Conn) {
			if _, err := readKey(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, test.answer)
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn) // wait for the buyer, since Close could reset the connection
			}
		})
		b := newTestBuyer(t, target, 5*time.Second)
		r := b.sendPurchase(newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: 1}, []int64{1}).purchaseOf(0))
		b.closeConnections()
		want := judge.OutcomeUnknown
		if test.code == "" {
			want = judge.OutcomeSold
		}
		if r.Outcome != want || r.Code != test.code || !strings.Contains(r.Message, test.message) ||
			strings.Contains(r.Message, "\n") || len(r.Message) > 300 {
			t.Errorf("%s: %+v, want %s %q with %q", test.name, r, want, test.code, test.message)
		}
	}
}

// If an answer never comes, or never ends, the buyer gives up at the time-out.
func TestAnswersThatNeverEnd(t *testing.T) {
	for _, answer := range []string{"", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"} {
		target := serveConnections(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, answer)
			_, _ = io.Copy(io.Discard, conn)
		})
		b := newTestBuyer(t, target, 50*time.Millisecond)
		p := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: 1}, []int64{1}).purchaseOf(0)
		if r := b.sendPurchase(p); r.Outcome != judge.OutcomeUnknown || r.Code != codeTimeout {
			t.Errorf("%q: %+v, want an unknown outcome because of the time-out", answer, r)
		}
		p.patience = time.Millisecond
		if r := b.sendPurchase(p); r.Outcome != judge.OutcomeUnknown || r.Code != codeLost {
			t.Errorf("%q, and the buyer hangs up: %+v, want an unknown outcome", answer, r)
		}
		b.client.interrupt()
		if r := b.sendPurchase(p); r.Outcome != judge.OutcomeUnknown || r.Code != codeInterrupted {
			t.Errorf("%q, when the run is interrupted: %+v, want an unknown outcome", answer, r)
		}
		b.closeConnections()
	}
}

// The format of the cases is described in testdata/answers.txt.
func TestAnswers(t *testing.T) {
	text := labtest.Value(os.ReadFile("testdata/answers.txt")).Must(t)
	buys := func(a response) reply {
		return (&client{scenario: Scenario{Strategy: "version"}}).readPurchase(purchase{sku: 1, quantity: 2}, a)
	}
	reserves := func(a response) reply {
		c := client{scenario: Scenario{Strategy: "reserve", Reserve: time.Second}}
		return c.readPurchase(purchase{sku: 1, quantity: 3}, a)
	}
	asks := map[string]func(response) reply{"buys": buys, "reserves": reserves, "pays": readPayment, "releases": readRelease}
	types := map[string]string{"json": "application/json; charset=utf-8", "problem": typeProblem}
	for line := range strings.Lines(string(text)) {
		told, want, is := strings.Cut(strings.TrimSpace(line), " => ")
		if !is || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(told, " ", 4)
		status, _ := strconv.Atoi(parts[1])
		r := asks[parts[0]](response{Status: status, ContentType: cmp.Or(types[parts[2]], parts[2]),
			Body: []byte(parts[3])})
		if got := strings.TrimSpace(fmt.Sprint(r.Outcome, " ", r.Code)); got != want || parts[0] == "buys" &&
			want == "sold" && r.OrderID != "a1" {
			t.Errorf("%s\nis %s with the order %q (%s), want %s", told, got, r.OrderID, r.Message, want)
		}
	}
}
