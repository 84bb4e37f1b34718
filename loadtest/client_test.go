package loadtest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
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
	const sold = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRetry-After: 2\r\nContent-Length: 80\r\n\r\n" +
		`{"order_id":"a","sku_id":1,"quantity":1,"remaining":5,"strategy":"conditional" }`
	closing := strings.Replace(sold, "OK\r\n", "OK\r\nConnection: close\r\n", 1)
	for _, test := range []struct {
		name  string
		first string              // the answer to the first request of a connection
		drop  func(conn net.Conn) // deals with the second
		want  ledger.Outcome      // of each second purchase
	}{
		{"closed", sold, func(net.Conn) {}, ledger.OutcomeUnknown},
		{"closed in mid-answer", sold, func(conn net.Conn) { _, _ = io.WriteString(conn, sold[:70]) }, ledger.OutcomeUnknown},
		{"reset", sold, func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }, ledger.OutcomeUnknown},
		{"closed as it was announced", closing, func(net.Conn) {}, ledger.OutcomeSold},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			arrived := map[string]int{} // by key
			target := listen(t, func(conn net.Conn) {
				requests := bufio.NewReader(conn)
				for _, then := range []func(net.Conn){
					func(conn net.Conn) { _, _ = io.WriteString(conn, test.first) },
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
			const purchases = 20
			plan := newPlan(Scenario{SKU: 1, Quantity: 1, Buyers: purchases}, []int64{1})
			for i := range purchases {
				want := []ledger.Outcome{ledger.OutcomeSold, test.want}[i%2]
				if i == purchases-1 { // over a connection that was quiet for long, the service may have gone
					b.lines[0].used, want = time.Now().Add(-2*idle), ledger.OutcomeSold
				}
				r := b.buy(plan.purchase(i))
				if r.Outcome != want || want == ledger.OutcomeSold && r.RetryAfter != 2*time.Second {
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

// testdata/answers.txt says what it has.
func TestAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.txt")
	labtest.Must(t, err)
	asks := map[string]func(response) reply{"buys": wantedSale{1, 2, "version", ledger.OutcomeSold}.Bought,
		"reserves": wantedSale{1, 3, "reserve", ledger.OutcomeReserved}.Bought, "pays": paid, "releases": released}
	types := map[string]string{"json": "application/json; charset=utf-8", "problem": typeProblem}
	for line := range strings.Lines(string(text)) {
		told, want, is := strings.Cut(strings.TrimSpace(line), " => ")
		if !is || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(told, " ", 4)
		status, _ := strconv.Atoi(parts[1])
		r := asks[parts[0]](response{Status: status, ContentType: cmp.Or(types[parts[2]], parts[2]), Body: []byte(parts[3])})
		if got := strings.TrimSpace(fmt.Sprint(r.Outcome, " ", r.Code)); got != want || parts[0] == "buys" && want == "sold" && r.OrderID != "a1" {
			t.Errorf("%s\nis %s with the order %q (%s), want %s", told, got, r.OrderID, r.Message, want)
		}
	}
}
