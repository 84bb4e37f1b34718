package loadtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A client knows the targets and how to ask them. Each of its buyers has
// connections of its own, and writes to them itself: net/http's transport, with
// two goroutines a connection, takes a quarter more processor time for a purchase,
// the service's end included, and sends again what it takes for safe.
type client struct {
	Scenario
	targets []*url.URL
	buyPath string
	keyless bool

	interrupted atomic.Bool
	mu          sync.Mutex
	open        map[net.Conn]bool
}

// newClient takes targets that have been checked.
func newClient(c Config) *client {
	cl := &client{Scenario: c.Scenario, buyPath: "/api/v1/seckill", keyless: c.Keyless, open: map[net.Conn]bool{}}
	if c.Reserve > 0 {
		cl.buyPath = reservations
	}
	cl.buyPath += "?strategy=" + url.QueryEscape(c.Strategy)
	for _, t := range c.Targets {
		u, _ := url.Parse(strings.TrimRight(t, "/"))
		cl.targets = append(cl.targets, u)
	}
	return cl
}

// interrupt ends the wait of every buyer.
func (c *client) interrupt() {
	c.interrupted.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.SetDeadline(longAgo)
	}
}

var longAgo = time.Unix(1, 0)

// A buyer sends calls one after the other, each exactly once. It never resends
// by itself: what became of a call whose connection broke is unknown, and a retry
// is the scenario's to make.
type buyer struct {
	*client
	lines             []link // one a target
	out, header, body []byte // the request that is being sent, its own header lines, its body
}

func (c *client) newBuyer() *buyer { return &buyer{client: c, lines: make([]link, len(c.targets))} }

// close hangs up everywhere.
func (b *buyer) close() {
	for i := range b.lines {
		b.hangUp(&b.lines[i])
	}
}

// ask sends a request with b.header and b.body to the target whose turn it is, and
// says what its answer means. The path is given in parts.
func (b *buyer) ask(p purchase, means func(response) reply, method string, path ...string) reply {
	turn := (p.index + p.turn) % len(b.lines)
	at, l := b.targets[turn], &b.lines[turn]
	begun := time.Now()
	deadline := begun.Add(b.Timeout)
	if begun.Sub(l.used) > idle {
		b.hangUp(l)
	}
	if l.conn == nil {
		if err := b.dial(at, l, deadline); err != nil {
			return noAnswer(err)
		}
	}
	if p.patience > 0 {
		deadline = time.Now().Add(p.patience)
	}
	_ = l.conn.SetDeadline(deadline)
	if b.interrupted.Load() { // perhaps before the line above
		_ = l.conn.SetDeadline(longAgo)
	}
	b.write(at, method, path)
	a, last := response{}, false
	_, err := l.conn.Write(b.out)
	if err == nil {
		a, last, err = l.receive()
	}
	if err != nil || last {
		b.hangUp(l)
	}
	l.used = begun
	var o oddity
	switch {
	case errors.As(err, &o):
		return nonsense("%s", o)
	case b.interrupted.Load() && errors.Is(err, os.ErrDeadlineExceeded):
		return noAnswer(context.Canceled)
	case p.patience > 0 && errors.Is(err, os.ErrDeadlineExceeded):
		return unknown(codeLost, "the buyer hung up before the answer")
	case err != nil:
		return noAnswer(err)
	}
	r := means(a)
	r.Status, r.RetryAfter = a.Status, a.RetryAfter
	return r
}

func (b *buyer) write(at *url.URL, method string, path []string) {
	b.out = append(append(append(b.out[:0], method...), ' '), at.EscapedPath()...)
	for _, part := range path {
		b.out = append(b.out, part...)
	}
	b.out = append(append(append(b.out, " HTTP/1.1\r\nHost: "...), at.Host...), "\r\n"...)
	b.out = append(b.out, b.header...)
	if method == http.MethodPost {
		b.out = strconv.AppendInt(append(b.out, "Content-Length: "...), int64(len(b.body)), 10)
		b.out = append(b.out, "\r\n"...)
	}
	b.out = append(append(b.out, "\r\n"...), b.body...)
}

// idle is how long a connection may be quiet: then a service may have closed it, or
// have been started again, and another is opened.
const idle = time.Second

func (b *buyer) dial(at *url.URL, l *link, deadline time.Time) error {
	conn, err := (&net.Dialer{Deadline: deadline}).Dial("tcp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), "80")))
	if err != nil {
		return err
	}
	l.connect(conn)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[conn] = true
	return nil
}

func (b *buyer) hangUp(l *link) {
	if l.conn == nil {
		return
	}
	b.mu.Lock()
	delete(b.open, l.conn)
	b.mu.Unlock()
	_ = l.conn.Close()
	l.conn = nil
}

// connect opens the connection to the first target that the buyer will ask. It may
// fail: the first purchase dials again, and counts.
func (b *buyer) connect(turn int) {
	turn %= len(b.lines)
	if l := &b.lines[turn]; l.conn == nil && b.dial(b.targets[turn], l, time.Now().Add(b.Timeout)) == nil {
		l.used = time.Now()
	}
}

// A link is a connection that stays open from purchase to purchase.
type link struct {
	conn     net.Conn      // nil when there is none
	used     time.Time     // last
	buffered *bufio.Reader // of the link
	body     bytes.Buffer
	left     int   // bytes that the answer may still have
	err      error // that ended reading from conn
}

const mostHead = 8 << 10 // bytes, of an answer

// connect begins with a new connection.
func (l *link) connect(conn net.Conn) { l.conn, l.buffered = conn, bufio.NewReader(l) }

// Read reads from the connection. It remembers why that ended: an error of the
// connection means that the answer is lost, any other that it is not HTTP.
func (l *link) Read(p []byte) (n int, err error) {
	if l.left <= 0 {
		return 0, oddity("an answer that does not end")
	}
	n, l.err = l.conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, l.err
}

// An oddity is an answer that is not HTTP/1.1 as it was asked for.
type oddity string

func (o oddity) Error() string { return string(o) }

// receive reads the next answer. last: the connection cannot be used again. The
// error is an oddity, or that of the connection.
func (l *link) receive() (a response, last bool, err error) {
	l.left, l.err = mostHead+maxBody, nil
	r, err := http.ReadResponse(l.buffered, nil)
	if err == nil {
		l.body.Reset()
		_, err = l.body.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	}
	switch {
	case err != nil && l.err == nil:
		return a, true, oddity(excerpt([]byte(err.Error())))
	case err != nil:
		return a, true, l.err
	case r.StatusCode < http.StatusOK || r.StatusCode > 599:
		return a, true, oddity("a status of " + strconv.Itoa(r.StatusCode))
	case r.Header.Get("Content-Encoding") != "":
		return a, true, oddity("a Content-Encoding of " + r.Header.Get("Content-Encoding") + ", which was not asked for")
	case l.body.Len() > maxBody:
		return a, true, oddity("a body of more than " + strconv.Itoa(maxBody) + " bytes")
	}
	a = response{Status: r.StatusCode, ContentType: r.Header.Get("Content-Type"), Body: l.body.Bytes(),
		Replayed: r.Header.Get("Idempotency-Replayed") == "true"}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 30); err == nil {
		a.RetryAfter = time.Duration(seconds) * time.Second
	}
	return a, r.Close || l.err != nil || l.buffered.Buffered() > 0, nil
}
