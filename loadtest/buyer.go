package loadtest

import (
	"net/http"
	"strconv"

	"seckill/internal/ledger"
)

const (
	orders       = "/api/v1/orders"
	reservations = "/api/v1/reservations"
)

// buy sends one purchase and says what the buyer was told.
func (b *buyer) buy(p purchase) reply {
	b.header = append(b.header[:0], "Content-Type: application/json\r\nIdempotency-Key: "...)
	b.header = append(append(b.header, p.key...), "\r\n"...)
	if b.Async {
		b.header = append(b.header, "Prefer: respond-async\r\n"...)
	}
	b.body = strconv.AppendInt(append(b.body[:0], `{"sku_id":`...), p.sku, 10)
	b.body = strconv.AppendInt(append(b.body, `,"user_id":`...), p.user, 10)
	b.body = strconv.AppendInt(append(b.body, `,"quantity":`...), p.quantity, 10)
	if b.Reserve > 0 {
		b.body = strconv.AppendInt(append(b.body, `,"expires_in":`...), int64(b.Reserve.Seconds()), 10)
	}
	b.body = append(b.body, '}')
	return b.ask(p, b.order(p).Bought, http.MethodPost, b.buyPath)
}

func (c *client) order(p purchase) wantedSale {
	o := wantedSale{p.sku, p.quantity, c.Strategy, ledger.OutcomeSold}
	if c.Reserve > 0 {
		o.Outcome = ledger.OutcomeReserved
	}
	return o
}

// cancel cancels an order, or the reservation.
func (b *buyer) cancel(p purchase, id string) reply {
	b.header, b.body = b.header[:0], b.body[:0]
	if b.Reserve > 0 {
		return b.ask(p, released, http.MethodDelete, reservations, "/", id)
	}
	return b.ask(p, cancelled, http.MethodDelete, orders, "/", id)
}

// pay pays a reservation.
func (b *buyer) pay(p purchase, id string) reply {
	b.header, b.body = b.header[:0], b.body[:0]
	return b.ask(p, paid, http.MethodPost, reservations, "/", id, "/pay")
}

// became asks what an accepted purchase came to. Without an answer it is open.
func (b *buyer) became(p purchase) (r reply, final bool) {
	b.header, b.body = b.header[:0], b.body[:0]
	r = b.ask(p, func(a response) (r reply) {
		r, final = b.order(p).Became(a)
		return r
	}, http.MethodGet, orders, "?user_id=", strconv.FormatInt(p.user, 10), "&request_id=", p.key, "&sku_id=", strconv.FormatInt(p.sku, 10))
	return r, final
}
