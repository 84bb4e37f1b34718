package adapter

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"seckill/internal/ledger"
)

// OursReserving is Ours for buyers who reserve for so long, and pay by a second
// call. To cancel is to cancel the reservation.
func OursReserving(strategy string, byDefault bool, hold time.Duration) *Protocol {
	p := Ours(strategy, byDefault)
	const path = "/api/v1/reservations"
	query := p.Buy.Path[0].text[len("/api/v1/seckill"):]
	p.Buy.Path = Template{{text: path + query}}
	last := len(p.Buy.Body) - 1
	p.Buy.Body = slices.Concat(p.Buy.Body[:last], Template{{text: `,"expires_in":` + strconv.Itoa(int(hold.Seconds())) + "}"}})
	p.Cancel.Path = Template{{text: path + "/"}, {is: OrderID}}
	p.Pay = Message{Method: http.MethodPost, Path: Template{{text: path + "/"}, {is: OrderID}, {text: "/pay"}}, Header: p.Cancel.Header}
	p.Bought, p.Cancelled, p.Paid = Order.reserved, released, paid
	return p
}

// A reservation is our service's answer 200; pointers tell what is there.
type reservation struct {
	ID        string `json:"reservation_id"`
	SKU       *int64 `json:"sku_id"`
	Quantity  *int64 `json:"quantity"`
	Remaining *int64 `json:"remaining"`
	Strategy  string `json:"strategy"`
	State     string `json:"state"`
}

// reserved says what a buyer was told who reserves. A copy may be told what became
// of the reservation since; it was theirs all the same.
func (o Order) reserved(a Response) Reply {
	if a.Status != http.StatusOK {
		return o.bought(a)
	}
	r, ok := readReservation(a)
	switch {
	case !ok || r.SKU == nil || r.Quantity == nil || r.Remaining == nil:
		return Nonsense("a reservation without all its fields: %s", Excerpt(a.Body))
	case *r.SKU != o.SKU || *r.Quantity != o.Quantity:
		return Nonsense("asked for %d of SKU %d, reserved %d of SKU %d", o.Quantity, o.SKU, *r.Quantity, *r.SKU)
	case r.Strategy != o.Strategy:
		return Nonsense("asked for strategy %q, was served by %q", o.Strategy, r.Strategy)
	}
	return Reply{Outcome: ledger.OutcomeReserved, OrderID: []byte(r.ID), Remaining: *r.Remaining}
}

// paid says what became of a payment.
func paid(a Response) Reply {
	return atDesk(a, func(s string) ledger.Outcome {
		if s == "paid" {
			return ledger.OutcomeSold
		}
		return ""
	})
}

// released says what became of a cancellation.
func released(a Response) Reply {
	return atDesk(a, func(s string) ledger.Outcome {
		if s == "cancelled" || s == "expired" {
			return ledger.OutcomeCancelled
		}
		return ""
	})
}

func atDesk(a Response, means func(string) ledger.Outcome) Reply {
	if a.Status != http.StatusOK {
		return Order{}.bought(a)
	}
	r, ok := readReservation(a)
	if outcome := means(r.State); ok && outcome != "" {
		return Reply{Outcome: outcome}
	}
	return Nonsense("a reservation in the state %q: %s", r.State, Excerpt(a.Body))
}

func readReservation(a Response) (r reservation, ok bool) {
	ok = isType(a.ContentType, typeJSON) && json.Unmarshal(a.Body, &r) == nil && r.ID != ""
	return r, ok
}
