package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/loadtest/adapter"
)

// A client knows the targets and how to ask them. Each of its buyers has
// connections of its own, and writes to them itself: net/http's transport, with
// two goroutines a connection, takes twice the processor time for a purchase (see
// BenchmarkClient).
type client struct {
	targets  []*endpoint
	strategy string
	timeout  time.Duration
	buyPath  string        // with the strategy, unless it is the targets' own
	async    bool          // answers in two steps
	reserve  time.Duration // buyers reserve for so long; 0: they buy at once

	interrupted atomic.Bool
	mu          sync.Mutex
	open        map[net.Conn]bool
}

// An endpoint is one target.
type endpoint struct {
	addr   string // to connect to
	host   string // as requests name it
	prefix string // of every path
	tls    *tls.Config
}

func newClient(c Config) *client {
	cl := &client{strategy: c.Strategy, timeout: c.Timeout, buyPath: "/api/v1/seckill", async: c.Async, reserve: c.Reserve,
		open: map[net.Conn]bool{}}
	if c.Reserve > 0 {
		cl.buyPath = reservations
	}
	if !c.ByDefault {
		cl.buyPath += "?" + url.Values{"strategy": {c.Strategy}}.Encode()
	}
	for _, t := range c.Targets {
		cl.targets = append(cl.targets, newEndpoint(t, c.Authorities))
	}
	return cl
}

// newEndpoint takes an address that has been checked.
func newEndpoint(target string, authorities *x509.CertPool) *endpoint {
	u, _ := url.Parse(target)
	e := &endpoint{addr: u.Host, host: u.Host, prefix: strings.TrimRight(u.EscapedPath(), "/")}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
		e.tls = &tls.Config{ServerName: u.Hostname(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
			RootCAs: authorities}
	}
	if u.Port() == "" {
		e.addr = net.JoinHostPort(u.Hostname(), port)
	}
	return e
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

// A link is a connection that stays open from purchase to purchase.
type link struct {
	conn     net.Conn      // nil when there is none
	used     time.Time     // last
	buffered *bufio.Reader // of the link
	body     bytes.Buffer
	left     int   // bytes that the answer may still have
	err      error // that ended reading from conn
}

// exchange sends a request with b.header and b.body to the target whose turn it
// is, and reads the answer. The path is given in parts.
func (b *buyer) exchange(p purchase, method string, path ...string) (a adapter.Response, err error) {
	turn := (p.index + p.turn) % len(b.lines)
	at, l := b.client.targets[turn], &b.lines[turn]
	begun := time.Now()
	deadline := begun.Add(b.client.timeout)
	if l.conn != nil && begun.Sub(l.used) > idle && hasEnded(l.conn) {
		b.hangUp(l)
	}
	if l.conn == nil {
		if err := b.dial(at, l, deadline); err != nil {
			return a, err
		}
	}
	_ = l.conn.SetDeadline(deadline)
	if b.client.interrupted.Load() { // perhaps before the line above
		_ = l.conn.SetDeadline(longAgo)
	}
	b.write(at, method, path)
	last := false
	if _, err = l.conn.Write(b.out); err == nil {
		a, last, err = l.receive()
	}
	if err != nil || last {
		b.hangUp(l)
	}
	l.used = begun
	return a, err
}

const mostHead = 8 << 10 // bytes, of an answer

// connect begins with a new connection.
func (l *link) connect(conn net.Conn) {
	l.conn, l.buffered = conn, bufio.NewReader(l)
}

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
func (l *link) receive() (a adapter.Response, last bool, err error) {
	l.left, l.err = mostHead+adapter.MaxBody, nil
	r, err := http.ReadResponse(l.buffered, nil)
	for err == nil && r.StatusCode == http.StatusEarlyHints {
		r, err = http.ReadResponse(l.buffered, nil)
	}
	if err == nil {
		l.body.Reset()
		_, err = l.body.ReadFrom(io.LimitReader(r.Body, adapter.MaxBody+1))
	}
	switch {
	case err != nil && l.err == nil:
		return a, true, oddity(adapter.Excerpt([]byte(err.Error())))
	case err != nil:
		return a, true, l.err
	case r.StatusCode < http.StatusOK || r.StatusCode > 599:
		return a, true, oddity("a status of " + strconv.Itoa(r.StatusCode))
	case r.Header.Get("Content-Encoding") != "":
		return a, true, oddity("a Content-Encoding of " + r.Header.Get("Content-Encoding") + ", which was not asked for")
	case l.body.Len() > adapter.MaxBody:
		return a, true, oddity("a body of more than " + strconv.Itoa(adapter.MaxBody) + " bytes")
	}
	a = adapter.Response{Status: r.StatusCode, ContentType: r.Header.Get("Content-Type"), Body: l.body.Bytes()}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 30); err == nil {
		a.RetryAfter = time.Duration(seconds) * time.Second
	}
	return a, r.Close || l.err != nil || l.buffered.Buffered() > 0, nil
}

// idle is how long a connection may be quiet before it is checked: a service may
// have closed it.
const idle = 50 * time.Millisecond

func (b *buyer) dial(at *endpoint, l *link, deadline time.Time) error {
	d := net.Dialer{Deadline: deadline}
	ctx := context.Background()
	conn, err := d.DialContext(ctx, "tcp", at.addr)
	if err != nil {
		return err
	}
	if at.tls != nil {
		secure := tls.Client(conn, at.tls)
		_ = conn.SetDeadline(deadline)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return &net.OpError{Op: "dial", Net: "tcp", Addr: conn.RemoteAddr(), Err: err} // nothing was sent
		}
		conn = secure
	}
	l.connect(conn)
	b.client.mu.Lock()
	b.client.open[conn] = true
	b.client.mu.Unlock()
	return nil
}

func (b *buyer) hangUp(l *link) {
	if l.conn == nil {
		return
	}
	b.client.mu.Lock()
	delete(b.client.open, l.conn)
	b.client.mu.Unlock()
	_ = l.conn.Close()
	l.conn = nil
}

// connect opens the connection to the first target that the buyer will ask, so
// that a run does not begin with handshakes. It may fail: the first purchase
// dials again, and counts.
func (b *buyer) connect(turn int) {
	turn %= len(b.lines)
	if l := &b.lines[turn]; l.conn == nil {
		if b.dial(b.client.targets[turn], l, time.Now().Add(b.client.timeout)) == nil {
			l.used = time.Now()
		}
	}
}
