package web

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Conns bounds the connections of a server. When there are too many, the one that
// has waited longest for its client is closed, to make room: for the first byte, the
// rest of a header or a body, or the next request. A connection whose request is
// whole is never closed, until it is answered. So slow clients lose their
// connection, however many they are, and those who send what they have are served.
//
// It is for HTTP/1: a connection has one request at a time.
type Conns struct {
	Most      int // 0: any number
	PerClient int // from one address (of IPv6: from one /64); 0: any number
	// Proxies are not counted as clients: many come through each.
	Proxies []netip.Prefix

	mu      sync.Mutex
	waiting list.List // of *conn, longest first
	open    int
	clients map[netip.Prefix]int
	slow    atomic.Int64
	refused atomic.Int64
}

// Counts are the open connections, those that were closed to make room, and those
// that were refused.
func (c *Conns) Counts() (open, slow, refused int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.open), c.slow.Load(), c.refused.Load()
}

// Listen bounds what l accepts.
func (c *Conns) Listen(l net.Listener) net.Listener { return &boundListener{l, c} }

type boundListener struct {
	net.Listener
	conns *Conns
}

func (l *boundListener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if bound := l.conns.admit(inner); bound != nil {
			return bound, nil
		}
		inner.Close()
	}
}

// A conn waits for its client while place is not nil.
type conn struct {
	net.Conn
	conns  *Conns
	client netip.Prefix
	place  *list.Element
	over   bool
}

// admit makes room for a connection, or returns nil.
func (c *Conns) admit(inner net.Conn) *conn {
	b := &conn{Conn: inner, conns: c, client: Client(Peer(inner.RemoteAddr().String()))}
	c.mu.Lock()
	var victim *conn
	switch {
	case c.PerClient > 0 && c.clients[b.client] >= c.PerClient && !within(c.Proxies, b.client.Addr()):
		c.mu.Unlock()
		c.refused.Add(1)
		return nil
	case c.Most > 0 && c.open >= c.Most:
		oldest := c.waiting.Front()
		if oldest == nil { // all are being answered
			c.mu.Unlock()
			c.refused.Add(1)
			return nil
		}
		victim = oldest.Value.(*conn)
		c.forget(victim)
		c.slow.Add(1)
	}
	if c.clients == nil {
		c.clients = map[netip.Prefix]int{}
	}
	c.open++
	c.clients[b.client]++
	b.place = c.waiting.PushBack(b)
	c.mu.Unlock()
	if victim != nil {
		victim.Conn.Close()
	}
	return b
}

// forget is called with the lock held.
func (c *Conns) forget(b *conn) {
	if b.over {
		return
	}
	b.over = true
	if b.place != nil {
		c.waiting.Remove(b.place)
		b.place = nil
	}
	c.open--
	if c.clients[b.client]--; c.clients[b.client] == 0 {
		delete(c.clients, b.client)
	}
}

func (b *conn) Close() error {
	b.conns.mu.Lock()
	b.conns.forget(b)
	b.conns.mu.Unlock()
	return b.Conn.Close()
}

// CloseWrite has net/http end an answer before the connection: what the client still
// sends would else reset it, and with it the answer.
func (b *conn) CloseWrite() error {
	if half, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// whole: the request is here, or it waits for the next one.
func (b *conn) whole(is bool) {
	c := b.conns
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case b.over:
	case is && b.place != nil:
		c.waiting.Remove(b.place)
		b.place = nil
	case !is && b.place == nil:
		b.place = c.waiting.PushBack(b)
	}
}

type connKey struct{}

// Context is http.Server's ConnContext.
func (c *Conns) Context(ctx context.Context, inner net.Conn) context.Context {
	if b, ok := inner.(*conn); ok {
		return context.WithValue(ctx, connKey{}, b)
	}
	return ctx
}

// Handler tells when a request is whole, and when it is answered.
func (c *Conns) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := r.Context().Value(connKey{}).(*conn)
		if !ok {
			h.ServeHTTP(w, r)
			return
		}
		defer b.whole(false)
		if r.Body == nil || r.Body == http.NoBody {
			b.whole(true)
		} else {
			r.Body = &wholeBody{body: r.Body, conn: b}
		}
		h.ServeHTTP(w, r)
	})
}

// A wholeBody notices its end.
type wholeBody struct {
	body io.ReadCloser
	conn *conn
}

func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if errors.Is(err, io.EOF) {
		b.conn.whole(true)
	}
	return n, err
}

func (b *wholeBody) Close() error { return b.body.Close() }

func within(all []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ClientOf is whom a request comes from: the peer, or whom the last of proxies that
// can be trusted names. What stands before that in X-Forwarded-For, anyone can write.
func ClientOf(r *http.Request, proxies []netip.Prefix) netip.Addr {
	client := Peer(r.RemoteAddr)
	if len(proxies) == 0 {
		return client
	}
	chain := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, name := range slices.Backward(chain) {
		if !within(proxies, client) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(name))
		if err != nil {
			break
		}
		client = before.Unmap().WithZone("")
	}
	return client
}

// Client is what connections and requests of one client are counted by: an
// address, of IPv6 the /64 that one customer has. The zero value stands for all who
// have none.
func Client(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}
