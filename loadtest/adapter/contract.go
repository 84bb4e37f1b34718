// Package adapter says what the answers of the service mean to a buyer.
package adapter

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"seckill/internal/ledger"
	"seckill/internal/wire"
)

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
)

// A Problem is our service's error answer.
type Problem struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// Message is the detail, or else the title.
func (p Problem) Message() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// An Order is what a buyer asks for, and so what a sale must say.
type Order struct {
	SKU, Quantity int64
	Strategy      string
}

// Bought says what a purchase was told. What deviates from the contract proves
// nothing, so its outcome is unknown.
func (o Order) Bought(a Response) Reply {
	switch a.Status {
	case http.StatusOK:
		return o.receipt(a, ledger.OutcomeSold)
	case http.StatusAccepted:
		return accepted(a)
	}
	var p Problem
	if !isType(a.ContentType, typeProblem) || json.Unmarshal(a.Body, &p) != nil || p.Code == "" {
		if a.Status >= 500 { // a proxy, or a process that is shutting down
			return unknown(fmt.Sprintf("http_%d", a.Status), Excerpt(a.Body))
		}
		return Nonsense("status %d, %s: %s", a.Status, a.ContentType, Excerpt(a.Body))
	}
	known, ok := wire.Coded(p.Code)
	if !ok || known.Status != a.Status {
		return Nonsense("status %d with code %q: %s", a.Status, p.Code, p.Message())
	}
	return Reply{Outcome: known.Outcome, Code: p.Code, Message: p.Message()}
}

// A sale is our service's answer 200 to a purchase, or to one who reserves; pointers
// tell what is there.
type sale struct {
	OrderID       string `json:"order_id"`
	ReservationID string `json:"reservation_id"`
	SKU           *int64 `json:"sku_id"`
	Quantity      *int64 `json:"quantity"`
	Remaining     *int64 `json:"remaining"`
	Strategy      string `json:"strategy"`
	State         string `json:"state"` // of a reservation
}

// read decodes an answer 200; false: it is not JSON of the right form. This reader
// takes less than half the time of encoding/json.
func read(a Response, into any) bool {
	return isType(a.ContentType, typeJSON) && json.Unmarshal(a.Body, into) == nil
}

// receipt reads an answer 200, and checks that it is what was asked for.
func (o Order) receipt(a Response, outcome ledger.Outcome) Reply {
	var s sale
	if !read(a, &s) {
		return Nonsense("a sale of type %q: %s", a.ContentType, Excerpt(a.Body))
	}
	return o.check(s, a, outcome)
}

func (o Order) check(s sale, a Response, outcome ledger.Outcome) Reply {
	id := s.OrderID
	if outcome == ledger.OutcomeReserved {
		id = s.ReservationID
	}
	switch {
	case id == "" || s.SKU == nil || s.Quantity == nil || s.Remaining == nil:
		return Nonsense("a sale without all its fields: %s", Excerpt(a.Body))
	case *s.SKU != o.SKU || *s.Quantity != o.Quantity:
		return Nonsense("asked for %d of SKU %d, was given %d of SKU %d", o.Quantity, o.SKU, *s.Quantity, *s.SKU)
	case s.Strategy != o.Strategy:
		return Nonsense("asked for strategy %q, was served by %q", o.Strategy, s.Strategy)
	}
	return Reply{Outcome: outcome, OrderID: id, Remaining: *s.Remaining}
}

// accepted reads the first of two answers.
func accepted(a Response) Reply {
	var first struct {
		Status    string `json:"status"`
		RequestID string `json:"request_id"`
	}
	if !read(a, &first) || first.Status != "accepted" || first.RequestID == "" {
		return Nonsense("status %d, %s: %s", http.StatusAccepted, a.ContentType, Excerpt(a.Body))
	}
	return Reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
}

// Cancelled says what became of a cancellation.
func Cancelled(a Response) Reply {
	var o struct {
		Status string `json:"status"`
	}
	if a.Status == http.StatusOK && read(a, &o) {
		if o.Status == ledger.Cancelled {
			return Reply{Outcome: ledger.OutcomeCancelled}
		}
		return Nonsense("a cancelled order with status %q: %s", o.Status, Excerpt(a.Body))
	}
	return Order{}.Bought(a)
}

// Became reads a look-up of an accepted purchase; false: it is open, as after an
// answer that says nothing, such as of a backend that does not answer. A request that is not known any
// more is final and stays accepted: the judge finds out what became of it.
func (o Order) Became(a Response) (r Reply, final bool) {
	var page struct {
		Orders  []sale `json:"orders"`
		Request struct {
			Status string `json:"status"`
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"request"`
	}
	open := Reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
	if a.Status != http.StatusOK {
		return open, false
	}
	if !read(a, &page) {
		return Nonsense("a look-up of type %q: %s", a.ContentType, Excerpt(a.Body)), true
	}
	switch page.Request.Status {
	case "pending", "unknown":
		return open, false
	case "none":
		return open, true
	case "refused":
		if known, ok := wire.Coded(page.Request.Code); ok && known.Outcome != ledger.OutcomeUnknown {
			return Reply{Outcome: known.Outcome, Code: page.Request.Code, Message: page.Request.Detail}, true
		}
	case "ordered":
		if len(page.Orders) == 1 {
			return o.check(page.Orders[0], a, ledger.OutcomeSold), true
		}
	}
	return Nonsense("a look-up that says %s", Excerpt(a.Body)), true
}

// Reserved says what a buyer was told who reserves. A copy may be told what became
// of the reservation since; it was theirs all the same.
func (o Order) Reserved(a Response) Reply {
	if a.Status != http.StatusOK {
		return o.Bought(a)
	}
	return o.receipt(a, ledger.OutcomeReserved)
}

// Paid says what became of a payment.
func Paid(a Response) Reply { return reservationIn(a, ledger.OutcomeSold, "paid") }

// Released says what became of the cancellation of a reservation.
func Released(a Response) Reply {
	return reservationIn(a, ledger.OutcomeCancelled, "cancelled", "expired")
}

// reservationIn is the outcome, if the answer says that the reservation is in one
// of the states.
func reservationIn(a Response, outcome ledger.Outcome, states ...string) Reply {
	if a.Status != http.StatusOK {
		return Order{}.Bought(a)
	}
	var r sale
	if read(a, &r) && r.ReservationID != "" && slices.Contains(states, r.State) {
		return Reply{Outcome: outcome}
	}
	return Nonsense("a reservation in the state %q: %s", r.State, Excerpt(a.Body))
}
