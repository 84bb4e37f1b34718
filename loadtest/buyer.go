package loadtest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"

	"seckill/loadtest/adapter"
)

const (
	orders       = "/api/v1/orders"
	reservations = "/api/v1/reservations"
)

// A buyer sends calls one after the other, each exactly once. It never resends
// by itself: what became of a call whose connection broke is unknown, and a retry
// is the scenario's to make.
type buyer struct {
	client *client
	lines  []link // one a target
	// The request that is being sent: all of it, its own header lines, its body.
	out, header, body []byte
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
	b.body = appendPurchase(b.body[:0], p)
	if c.reserve == 0 {
		return b.ask(p, c.order(p).Bought, http.MethodPost, c.buyPath)
	}
	b.body = strconv.AppendInt(append(b.body[:len(b.body)-1], `,"expires_in":`...), int64(c.reserve.Seconds()), 10)
	b.body = append(b.body, '}')
	return b.ask(p, c.order(p).Reserved, http.MethodPost, c.buyPath)
}

func appendPurchase(to []byte, p purchase) []byte {
	to = strconv.AppendInt(append(to, `{"sku_id":`...), p.sku, 10)
	to = strconv.AppendInt(append(to, `,"user_id":`...), p.user, 10)
	return append(strconv.AppendInt(append(to, `,"quantity":`...), p.quantity, 10), '}')
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
