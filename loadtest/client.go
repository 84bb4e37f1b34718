package loadtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// A client knows the targets of a run and how to call them.
//
// Its buyers write requests to their connections themselves and read the responses with net/http. They
// do not use http.Transport, whose two goroutines for each connection raise the processor time of a call
// by a third to two thirds. A Transport also repeats a request with an Idempotency-Key when a connection
// breaks, so the run would not know that the service was called twice.
type client struct {
	scenario   Scenario
	keyless    bool
	adminToken string
	targets    []*url.URL
	buyPath    string

	running   context.Context // ends when the run is interrupted
	interrupt context.CancelFunc
}

// newClient returns a client for the targets of c. checkTarget must have accepted these targets.
func newClient(c Config) *client {
	cl := &client{scenario: c.Scenario, keyless: c.Keyless, adminToken: c.AdminToken, buyPath: "/api/v1/seckill"}
	if c.Reserve > 0 {
		cl.buyPath = reservationsPath
	}
	cl.buyPath += "?strategy=" + url.QueryEscape(c.Strategy)
	cl.running, cl.interrupt = context.WithCancel(context.Background())
	for _, t := range c.Targets {
		u, _ := url.Parse(strings.TrimRight(t, "/"))
		cl.targets = append(cl.targets, u)
	}
	return cl
}

// A buyer sends calls one after the other, each exactly once, over connections of its own.
type buyer struct {
	client      *client
	connections []connection // one connection for each target
	request     bytes.Buffer // the bytes of the current call
	body        bytes.Buffer // the body of the last response
}

// A connection stays open between calls, so that most calls need no handshake.
type connection struct {
	net.Conn               // nil while the connection is closed
	reader   *bufio.Reader // reads from Conn through limit, which bounds the size of a response
	limit    io.LimitedReader
	used     time.Time // when the last call on this connection began
}

func (c *client) newBuyer() *buyer {
	return &buyer{client: c, connections: make([]connection, len(c.targets))}
}

func (b *buyer) closeConnections() {
	for i := range b.connections {
		b.connections[i].hangUp()
	}
}

func (c *connection) hangUp() {
	if c.Conn != nil {
		_ = c.Conn.Close()
		c.Conn = nil
	}
}

// maxIdle is how long a connection can be unused before the next call opens a new connection. After a longer time,
// the service may have closed the connection, or may have been started again.
const maxIdle = time.Second

// dialTarget returns an open connection to a target. It opens a new one if there is none that can be used.
func (b *buyer) dialTarget(target int, deadline time.Time) (*connection, error) {
	c, t := &b.connections[target], b.client.targets[target]
	if c.Conn != nil && time.Since(c.used) < maxIdle {
		return c, nil
	}
	c.hangUp()
	conn, err := (&net.Dialer{Deadline: deadline}).Dial("tcp", net.JoinHostPort(t.Hostname(), cmp.Or(t.Port(), "80")))
	if err != nil {
		return nil, err
	}
	c.Conn, c.limit.R = conn, conn
	c.reader = bufio.NewReader(&c.limit)
	c.used = time.Now()
	return c, nil
}

// connectTo opens the connection that the buyer's next purchase needs, so that the purchase does not wait for
// a handshake. If connectTo fails, the purchase opens the connection itself and reports the error.
func (b *buyer) connectTo(turn int) {
	_, _ = b.dialTarget(turn%len(b.connections), time.Now().Add(b.client.scenario.Timeout))
}

// A call is one HTTP request, and the function that interprets its response.
type call struct {
	method, path string
	header       string // complete header lines, each with CR and LF at its end
	body         string
	interpret    func(response) reply
}

// sendCall makes a call for the purchase p. The target follows from p.index and p.turn.
func (b *buyer) sendCall(p purchase, c call) reply {
	target := (p.index + p.turn) % len(b.connections)
	begun := time.Now()
	deadline := begun.Add(b.client.scenario.Timeout)
	conn, err := b.dialTarget(target, deadline)
	if err != nil {
		return replyToError(err)
	}
	conn.used = begun
	if p.patience > 0 {
		deadline = time.Now().Add(p.patience)
	}
	_ = conn.SetDeadline(deadline)
	interrupted := b.client.running
	defer context.AfterFunc(interrupted, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	t := b.client.targets[target]
	b.request.Reset()
	fmt.Fprintf(&b.request, "%s %s%s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: %d\r\n\r\n%s",
		c.method, t.EscapedPath(), c.path, t.Host, c.header, len(c.body), c.body)
	a, err := b.exchangeMessages(conn)
	if err != nil || a.last {
		conn.hangUp()
	}
	late := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case err == nil:
		r := c.interpret(a)
		r.Status, r.RetryAfter = a.Status, a.RetryAfter
		return r
	case late && interrupted.Err() != nil:
		return replyToError(interrupted.Err())
	case late && p.patience > 0:
		return unknownReply(codeLost, "the buyer hung up before the answer")
	}
	return replyToError(err)
}

const (
	ordersPath       = "/api/v1/orders"
	reservationsPath = "/api/v1/reservations"
)

func (b *buyer) sendPurchase(p purchase) reply {
	c, s := b.client, b.client.scenario
	header := "Content-Type: " + typeJSON + "\r\n"
	if !c.keyless {
		header += "Idempotency-Key: " + p.key + "\r\n"
	}
	if s.Async {
		header += "Prefer: respond-async\r\n"
	}
	body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d,"quantity":%d`, p.sku, p.user, p.quantity)
	if s.Reserve > 0 {
		body += fmt.Sprintf(`,"expires_in":%d`, int64(s.Reserve.Seconds()))
	}
	return b.sendCall(p, call{method: http.MethodPost, path: c.buyPath, header: header, body: body + "}",
		interpret: func(a response) reply { return c.readPurchase(p, a) }})
}

// sendCancellation cancels what the buyer got: a reservation if the scenario has reservations, otherwise an order.
func (b *buyer) sendCancellation(p purchase) reply {
	interpret, path := readCancellation, ordersPath
	if b.client.scenario.Reserve > 0 {
		interpret = readRelease
		if !p.asOrder {
			path = reservationsPath
		}
	}
	path += "/" + url.PathEscape(p.orderID)
	return b.sendCall(p, call{method: http.MethodDelete, path: path, interpret: interpret})
}

func (b *buyer) sendPayment(p purchase) reply {
	path := reservationsPath + "/" + url.PathEscape(p.orderID) + "/pay"
	return b.sendCall(p, call{method: http.MethodPost, path: path, interpret: readPayment})
}

// sendRestock adds p.quantity units to the stock of p.sku.
func (b *buyer) sendRestock(p purchase) reply {
	header := "Content-Type: " + typeJSON + "\r\nIdempotency-Key: " + p.key + "\r\n"
	if token := b.client.adminToken; token != "" {
		header += "Authorization: Bearer " + token + "\r\n"
	}
	return b.sendCall(p, call{method: http.MethodPost, header: header, body: fmt.Sprintf(`{"units":%d}`, p.quantity),
		path:      skuPath(p.sku) + "/restock?strategy=" + url.QueryEscape(b.client.scenario.Strategy),
		interpret: readRestock})
}

// askOutcome asks for the outcome of an accepted purchase. It returns false while the service has not
// decided, or if the service does not answer.
func (b *buyer) askOutcome(p purchase) (reply, bool) {
	final := false
	path := fmt.Sprintf("%s?user_id=%d&request_id=%s&sku_id=%d", ordersPath, p.user, url.QueryEscape(p.key), p.sku)
	read := func(a response) (r reply) {
		r, final = b.client.readOutcome(p, a)
		return r
	}
	r := b.sendCall(p, call{method: http.MethodGet, path: path, interpret: read})
	return r, final
}

// maxHeader bounds the header of a response, in bytes.
const maxHeader = 8 << 10

// exchangeMessages sends the request and reads the response. It returns an error if the connection fails, or if the
// client does not accept the response.
func (b *buyer) exchangeMessages(c *connection) (response, error) {
	if _, err := c.Write(b.request.Bytes()); err != nil {
		return response{}, err
	}
	c.limit.N = maxHeader + maxBody
	r, err := http.ReadResponse(c.reader, nil) //nolint:bodyclose // the body is read to its end; the connection is kept
	if err == nil && (r.StatusCode < http.StatusOK || r.StatusCode > 599) {
		return response{}, fmt.Errorf("a status of %d", r.StatusCode)
	}
	if err == nil {
		b.body.Reset()
		_, err = b.body.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	}
	switch {
	case err != nil && c.limit.N <= 0:
		return response{}, errors.New("a response that does not end")
	case err != nil:
		return response{}, err
	case r.Header.Get("Content-Encoding") != "":
		return response{}, errors.New("a Content-Encoding of " + r.Header.Get("Content-Encoding"))
	case b.body.Len() > maxBody:
		return response{}, fmt.Errorf("a body of more than %d bytes", maxBody)
	}
	a := response{Status: r.StatusCode, ContentType: r.Header.Get("Content-Type"), Body: b.body.Bytes(),
		Replayed: r.Header.Get("Idempotency-Replayed") == "true", last: r.Close || c.reader.Buffered() > 0}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 30); err == nil {
		a.RetryAfter = time.Duration(seconds) * time.Second
	}
	return a, nil
}
