package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"seckill/internal/ledger"
	"seckill/internal/wire"
)

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
)

// Outcomes are what a purchase can come to, in the order of reports.
var Outcomes = []ledger.Outcome{
	ledger.OutcomeSold, ledger.OutcomeReserved, ledger.OutcomeSoldOut, ledger.OutcomeBusy, ledger.OutcomeConflict,
	ledger.OutcomeDuplicate, ledger.OutcomeInProgress, ledger.OutcomeAccepted, ledger.OutcomeUnknown, ledger.OutcomeError,
}

// Codes for what is not one of the service's answers.
const (
	codeTimeout     = "timeout"         // no answer within the buyer's time-out
	codeInterrupted = "interrupted"     // the run ended while the buyer waited
	codeLost        = "connection_lost" // reset or closed before the answer was complete
	codeUnreachable = "unreachable"     // no connection, so nothing was sent
	codeNonsense    = "nonsense"        // an answer outside the contract
)

// maxBody bounds the body of an answer, in bytes.
const maxBody = 64 << 10

// A response is an HTTP answer. Its body is valid until the next one is read.
type response struct {
	Status      int
	ContentType string
	Body        []byte
	RetryAfter  time.Duration // 0: none, or a date
	Replayed    bool          // another call of the request had bought
}

// A reply is what one buyer was told.
type reply struct {
	Outcome    ledger.Outcome
	Code       string // empty for a sale
	Message    string
	OrderID    string
	Remaining  int64
	Status     int           // 0: no answer
	RetryAfter time.Duration // 0: none
	Replayed   bool          // another call of the request had bought
	ThisCall   bool          // an error that says nothing of other calls of the request
}

// Again reports whether a client sends the same request again after this.
func (r reply) Again() bool {
	switch r.Code {
	case codeTimeout, codeLost, codeUnreachable:
		return true
	}
	return r.Status >= 500 || r.Outcome == ledger.OutcomeInProgress
}

// Definite reports whether the answer says what the buyer got.
func (r reply) Definite() bool {
	switch r.Outcome {
	case ledger.OutcomeUnknown, ledger.OutcomeError, ledger.OutcomeInProgress:
		return false
	}
	return true
}

// noAnswer is the reply to a request that ended with err. Only a failed dial
// proves that nothing was sent; everything else is unknown.
func noAnswer(err error) reply {
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return unknown(codeInterrupted, err.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return reply{Outcome: ledger.OutcomeError, Code: codeUnreachable, Message: err.Error(), ThisCall: true}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return unknown(codeTimeout, "no answer in time")
	}
	return unknown(codeLost, err.Error())
}

func unknown(code, message string) reply {
	return reply{Outcome: ledger.OutcomeUnknown, Code: code, Message: message}
}

// nonsense is the reply of an answer that the contract does not allow.
func nonsense(format string, args ...any) reply {
	return unknown(codeNonsense, fmt.Sprintf(format, args...))
}

// isType compares a Content-Type without its parameters; want is lower case.
func isType(contentType, want string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(t), want)
}

// excerpt makes any body fit into one line of a report.
func excerpt(body []byte) string { return fmt.Sprintf("%.120q", body) }

// A problemBody is our service's error answer.
type problemBody struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Ask    string `json:"ask"` // where another call of the request is told of
}

// A wantedSale is what a buyer asks for, and so what a sale must say.
type wantedSale struct {
	SKU, Quantity int64
	Strategy      string
	Outcome       ledger.Outcome // of an answer 200: sold or reserved
}

// Bought says what a purchase was told. What deviates from the contract proves
// nothing, so its outcome is unknown.
func (o wantedSale) Bought(a response) reply {
	switch a.Status {
	case http.StatusOK:
		return o.receipt(a)
	case http.StatusAccepted:
		return accepted(a)
	}
	var p problemBody
	if !isType(a.ContentType, typeProblem) || json.Unmarshal(a.Body, &p) != nil || p.Code == "" {
		if a.Status >= 500 { // a proxy, or a process that is shutting down
			return unknown(fmt.Sprintf("http_%d", a.Status), excerpt(a.Body))
		}
		return nonsense("status %d, %s: %s", a.Status, a.ContentType, excerpt(a.Body))
	}
	known, ok := wire.Coded(p.Code)
	if !ok || known.Status != a.Status {
		return nonsense("status %d with code %q: %s", a.Status, p.Code, p.Detail)
	}
	return reply{Outcome: known.Outcome, Code: p.Code, Message: p.Detail, ThisCall: p.Ask != ""}
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
}

// read decodes an answer 200; false: it is not JSON of the right form. This reader
// takes less than half the time of encoding/json.
func read(a response, into any) bool {
	return isType(a.ContentType, typeJSON) && json.Unmarshal(a.Body, into) == nil
}

// receipt reads an answer 200, and checks that it is what was asked for.
func (o wantedSale) receipt(a response) reply {
	var s sale
	if !read(a, &s) {
		return nonsense("a sale of type %q: %s", a.ContentType, excerpt(a.Body))
	}
	return o.check(s, a)
}

func (o wantedSale) check(s sale, a response) reply {
	id := s.OrderID
	if o.Outcome == ledger.OutcomeReserved { // a copy may be told what became of it since; it was the buyer's all the same
		id = s.ReservationID
	}
	switch {
	case id == "" || s.SKU == nil || s.Quantity == nil || s.Remaining == nil:
		return nonsense("a sale without all its fields: %s", excerpt(a.Body))
	case *s.SKU != o.SKU || *s.Quantity != o.Quantity:
		return nonsense("asked for %d of SKU %d, was given %d of SKU %d", o.Quantity, o.SKU, *s.Quantity, *s.SKU)
	case s.Strategy != o.Strategy:
		return nonsense("asked for strategy %q, was served by %q", o.Strategy, s.Strategy)
	}
	return reply{Outcome: o.Outcome, OrderID: id, Remaining: *s.Remaining, Replayed: a.Replayed}
}

// accepted reads the first of two answers.
func accepted(a response) reply {
	var first struct {
		Status    string `json:"status"`
		RequestID string `json:"request_id"`
	}
	if !read(a, &first) || first.Status != "accepted" || first.RequestID == "" {
		return nonsense("status %d, %s: %s", http.StatusAccepted, a.ContentType, excerpt(a.Body))
	}
	return reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
}

// Became reads a look-up of an accepted purchase; false: it is open, as after an
// answer that says nothing, such as of a backend that does not answer. A request that is not known any
// more is final and stays accepted: the judge finds out what became of it.
func (o wantedSale) Became(a response) (r reply, final bool) {
	var page struct {
		Orders  []sale `json:"orders"`
		Request struct {
			Status string `json:"status"`
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"request"`
	}
	open := reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
	if a.Status != http.StatusOK {
		return open, false
	}
	if !read(a, &page) {
		return nonsense("a look-up of type %q: %s", a.ContentType, excerpt(a.Body)), true
	}
	switch page.Request.Status {
	case "pending", "unknown":
		return open, false
	case "none":
		return open, true
	case "refused":
		if known, ok := wire.Coded(page.Request.Code); ok && known.Outcome != ledger.OutcomeUnknown {
			return reply{Outcome: known.Outcome, Code: page.Request.Code, Message: page.Request.Detail}, true
		}
	case "ordered":
		if len(page.Orders) == 1 {
			return o.check(page.Orders[0], a), true
		}
	}
	return nonsense("a look-up that says %s", excerpt(a.Body)), true
}

// What the cancellation of an order, a payment, and the cancellation of a reservation must say.
var (
	cancelled = says(ledger.OutcomeCancelled, "cancelled")
	paid      = says(ledger.OutcomeSold, "paid")
	released  = says(ledger.OutcomeCancelled, "cancelled", "expired")
)

// says is the outcome if the answer says that the order, or reservation, is in one of
// the states.
func says(outcome ledger.Outcome, states ...string) func(response) reply {
	return func(a response) reply {
		if a.Status != http.StatusOK {
			return wantedSale{}.Bought(a)
		}
		var r struct {
			Status string `json:"status"` // of an order
			State  string `json:"state"`  // of a reservation
		}
		if read(a, &r) && slices.Contains(states, r.Status+r.State) {
			return reply{Outcome: outcome}
		}
		return nonsense("the state %q: %s", r.Status+r.State, excerpt(a.Body))
	}
}

const (
	orders       = "/api/v1/orders"
	reservations = "/api/v1/reservations"
)

// buy sends one purchase and says what the buyer was told.
func (b *buyer) buy(p purchase) reply {
	b.header = append(b.header[:0], "Content-Type: application/json\r\n"...)
	if !b.keyless {
		b.header = append(append(append(b.header, "Idempotency-Key: "...), p.key...), "\r\n"...)
	}
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
	means, at := cancelled, orders
	if b.Reserve > 0 {
		means = released
		if !p.order {
			at = reservations
		}
	}
	return b.ask(p, means, http.MethodDelete, at, "/", id)
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
