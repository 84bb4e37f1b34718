package loadtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/loadtest/adapter"
)

// A client knows the targets and how to ask them. Each of its buyers has
// connections of its own.
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

const (
	orders       = "/api/v1/orders"
	reservations = "/api/v1/reservations"
)

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

// A buyer sends calls one after the other, each exactly once. It never resends
// by itself: what became of a call whose connection broke is unknown, and a retry
// is the scenario's to make.
type buyer struct {
	client *client
	lines  []link // one a target
	// The request that is being sent: all of it, its own header lines, its body.
	out, header, body []byte
}

// A link is a connection that stays open from purchase to purchase.
type link struct {
	conn net.Conn // nil when there is none
	wire wire
	used time.Time // last
}

func (c *client) newBuyer() *buyer {
	return &buyer{client: c, lines: make([]link, len(c.targets))}
}

// close hangs up everywhere.
func (b *buyer) close() {
	for i := range b.lines {
		b.hangUp(&b.lines[i])
	}
}

// buy sends one purchase and says what the buyer was told. The reply is valid
// until the next request.
func (b *buyer) buy(p purchase, key []byte) adapter.Reply {
	c := b.client
	b.header = append(b.header[:0], "Content-Type: application/json\r\nIdempotency-Key: "...)
	b.header = append(append(b.header, key...), "\r\n"...)
	if c.async {
		b.header = append(b.header, "Prefer: respond-async\r\n"...)
	}
	b.body = strconv.AppendInt(append(b.body[:0], `{"sku_id":`...), p.sku, 10)
	b.body = strconv.AppendInt(append(b.body, `,"user_id":`...), p.user, 10)
	b.body = strconv.AppendInt(append(b.body, `,"quantity":`...), p.quantity, 10)
	means := c.order(p).Bought
	if c.reserve > 0 {
		b.body = strconv.AppendInt(append(b.body, `,"expires_in":`...), int64(c.reserve.Seconds()), 10)
		means = c.order(p).Reserved
	}
	b.body = append(b.body, '}')
	return b.ask(p, means, http.MethodPost, c.buyPath)
}

func (c *client) order(p purchase) adapter.Order {
	return adapter.Order{SKU: p.sku, Quantity: p.quantity, Strategy: c.strategy}
}

// cancel cancels an order, or the reservation.
func (b *buyer) cancel(p purchase, id string) adapter.Reply {
	b.header, b.body = b.header[:0], b.body[:0]
	if b.client.reserve > 0 {
		return b.ask(p, adapter.Released, http.MethodDelete, reservations, "/", id)
	}
	return b.ask(p, adapter.Cancelled, http.MethodDelete, orders, "/", id)
}

// pay pays a reservation.
func (b *buyer) pay(p purchase, id string) adapter.Reply {
	b.header, b.body = b.header[:0], b.body[:0]
	return b.ask(p, adapter.Paid, http.MethodPost, reservations, "/", id, "/pay")
}

// became asks what an accepted purchase came to. Without an answer it is open.
func (b *buyer) became(p purchase, key []byte) (r adapter.Reply, final bool) {
	b.header, b.body = b.header[:0], b.body[:0]
	a, err := b.exchange(p, http.MethodGet, orders, "?user_id=", strconv.FormatInt(p.user, 10), "&request_id=", string(key),
		"&sku_id=", strconv.FormatInt(p.sku, 10))
	if err != nil {
		return adapter.Reply{}, false
	}
	r, final = b.client.order(p).Became(a)
	r.Status = a.Status
	return r, final
}

// ask sends a request, and says what its answer means.
func (b *buyer) ask(p purchase, means func(adapter.Response) adapter.Reply, method string, path ...string) adapter.Reply {
	a, err := b.exchange(p, method, path...)
	if err != nil {
		return b.noAnswer(err)
	}
	r := means(a)
	r.Status, r.RetryAfter = a.Status, a.RetryAfter
	return r
}

func (b *buyer) noAnswer(err error) adapter.Reply {
	var o oddity
	if errors.As(err, &o) {
		return adapter.Nonsense("%s", o)
	}
	if b.client.interrupted.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Canceled
	}
	return adapter.NoAnswer(err)
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
		a, last, err = l.wire.receive()
	}
	if err != nil || last {
		b.hangUp(l)
	}
	l.used = begun
	return a, err
}

func (b *buyer) write(at *endpoint, method string, path []string) {
	b.out = append(append(b.out[:0], method...), ' ')
	b.out = append(b.out, at.prefix...)
	for _, part := range path {
		b.out = append(b.out, part...)
	}
	b.out = append(append(append(b.out, " HTTP/1.1\r\nHost: "...), at.host...), "\r\n"...)
	b.out = append(b.out, b.header...)
	if method == http.MethodPost {
		b.out = strconv.AppendInt(append(b.out, "Content-Length: "...), int64(len(b.body)), 10)
		b.out = append(b.out, "\r\n"...)
	}
	b.out = append(append(b.out, "\r\n"...), b.body...)
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
	l.conn = conn
	l.wire.connect(conn)
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
