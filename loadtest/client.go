package loadtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/loadtest/adapter"
)

// A client knows the targets and how to ask them. Each of its buyers has
// connections of its own.
type client struct {
	protocol *adapter.Protocol
	targets  []*endpoint
	strategy string
	timeout  time.Duration

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
	cl := &client{protocol: c.protocol, strategy: c.Strategy, timeout: c.Timeout, open: map[net.Conn]bool{}}
	switch {
	case cl.protocol != nil:
	case c.Service != nil:
		cl.protocol, _ = c.Service.Protocol(c.Cancellations > 0) // checked
	case c.Reserve > 0:
		cl.protocol = adapter.OursReserving(c.Strategy, c.ByDefault, c.Reserve)
	default:
		cl.protocol = adapter.Ours(c.Strategy, c.ByDefault)
		if c.Async {
			cl.protocol = cl.protocol.InTwoSteps()
		}
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

// A buyer sends calls one after the other, each exactly once. It never resends
// by itself: what became of a call whose connection broke is unknown, and a retry
// is the scenario's to make.
type buyer struct {
	client *client
	lines  []link // one a target
	out    []byte // the request that is being sent
	body   []byte
	values adapter.Values
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
	a, err := b.exchange(&b.client.protocol.Buy, p, key, "")
	if err != nil {
		return b.noAnswer(err)
	}
	r := b.client.protocol.Bought(adapter.Order{SKU: p.sku, Quantity: p.quantity, Strategy: b.client.strategy}, a)
	r.Status, r.RetryAfter = a.Status, a.RetryAfter
	return r
}

// cancel cancels an order.
func (b *buyer) cancel(p purchase, key []byte, orderID string) adapter.Reply {
	a, err := b.exchange(&b.client.protocol.Cancel, p, key, orderID)
	if err != nil {
		return b.noAnswer(err)
	}
	r := b.client.protocol.Cancelled(a)
	r.Status, r.RetryAfter = a.Status, a.RetryAfter
	return r
}

// became asks what an accepted purchase came to. Without an answer it is open.
func (b *buyer) became(p purchase, key []byte) (r adapter.Reply, final bool) {
	a, err := b.exchange(&b.client.protocol.Ask, p, key, "")
	if err != nil {
		return adapter.Reply{}, false
	}
	r, final = b.client.protocol.Became(adapter.Order{SKU: p.sku, Quantity: p.quantity, Strategy: b.client.strategy}, a)
	r.Status = a.Status
	return r, final
}

// pay pays a reservation.
func (b *buyer) pay(p purchase, key []byte, id string) adapter.Reply {
	a, err := b.exchange(&b.client.protocol.Pay, p, key, id)
	if err != nil {
		return b.noAnswer(err)
	}
	r := b.client.protocol.Paid(a)
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

// exchange sends a request to the target whose turn it is, and reads the answer.
func (b *buyer) exchange(m *adapter.Message, p purchase, key []byte, orderID string) (a adapter.Response, err error) {
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
	b.values.SKU, b.values.User, b.values.Quantity = p.sku, p.user, p.quantity
	b.values.RequestID, b.values.OrderID = key, orderID
	b.out, b.body = m.Append(b.out[:0], b.body, at.host, at.prefix, &b.values)
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
