package adapter

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"seckill/internal/ledger"
)

// A meaning is the status a code comes with, and what the buyer was told.
type meaning struct {
	status  int
	outcome ledger.Outcome
}

// contract is every refusal that our service may answer.
var contract = map[string]meaning{
	"sold_out":               {http.StatusConflict, ledger.OutcomeSoldOut},
	"duplicate":              {http.StatusConflict, ledger.OutcomeDuplicate},
	"in_progress":            {http.StatusConflict, ledger.OutcomeInProgress},
	"conflict":               {http.StatusConflict, ledger.OutcomeConflict},
	"busy":                   {http.StatusTooManyRequests, ledger.OutcomeBusy},
	"not_started":            {http.StatusConflict, ledger.OutcomeError},
	"expired":                {http.StatusConflict, ledger.OutcomeExpired},
	"cancelled":              {http.StatusConflict, ledger.OutcomeError},
	"paid":                   {http.StatusConflict, ledger.OutcomeError},
	"too_many_units":         {http.StatusConflict, ledger.OutcomeError},
	"invalid":                {http.StatusBadRequest, ledger.OutcomeError},
	"forbidden":              {http.StatusForbidden, ledger.OutcomeError},
	"not_found":              {http.StatusNotFound, ledger.OutcomeError},
	"unknown_strategy":       {http.StatusNotFound, ledger.OutcomeError},
	"unknown_sku":            {http.StatusNotFound, ledger.OutcomeError},
	"unknown_order":          {http.StatusNotFound, ledger.OutcomeError},
	"method_not_allowed":     {http.StatusMethodNotAllowed, ledger.OutcomeError},
	"too_large":              {http.StatusRequestEntityTooLarge, ledger.OutcomeError},
	"unsupported_media_type": {http.StatusUnsupportedMediaType, ledger.OutcomeError},
	"idempotency_mismatch":   {http.StatusUnprocessableEntity, ledger.OutcomeError},
	"strategy_unavailable":   {http.StatusServiceUnavailable, ledger.OutcomeError},
	"backend_unavailable":    {http.StatusServiceUnavailable, ledger.OutcomeError},
	"unknown_outcome":        {http.StatusGatewayTimeout, ledger.OutcomeUnknown},
	"internal":               {http.StatusInternalServerError, ledger.OutcomeUnknown},
}

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

// bought says what an answer means. What deviates from the contract proves
// nothing, so its outcome is unknown.
func (o Order) bought(a Response) Reply {
	switch a.Status {
	case http.StatusOK:
		return o.sold(a)
	case http.StatusAccepted:
		return accepted(a)
	}
	var p Problem
	if !isType(a.ContentType, typeProblem) || json.Unmarshal(a.Body, &p) != nil || p.Code == "" {
		if a.Status >= 500 { // a proxy, or a process that is shutting down
			return serverError(a)
		}
		return Nonsense("status %d, %s: %s", a.Status, a.ContentType, Excerpt(a.Body))
	}
	known, ok := contract[p.Code]
	if !ok || known.status != a.Status {
		return Nonsense("status %d with code %q: %s", a.Status, p.Code, p.Message())
	}
	return Reply{Outcome: known.outcome, Code: p.Code, Message: []byte(p.Message())}
}

// A sale is our service's answer 200; pointers tell what is there.
type sale struct {
	OrderID   string `json:"order_id"`
	SKU       *int64 `json:"sku_id"`
	Quantity  *int64 `json:"quantity"`
	Remaining *int64 `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// sold reads an answer 200. This JSON reader takes 0.6 µs of processor time and
// encoding/json 1.6 µs (see BenchmarkSale); a purchase costs the generator 14 µs
// in all.
func (o Order) sold(a Response) Reply {
	var sale sale
	if !isType(a.ContentType, typeJSON) {
		return Nonsense("a sale of type %q: %s", a.ContentType, Excerpt(a.Body))
	}
	if err := json.Unmarshal(a.Body, &sale); err != nil {
		return Nonsense("a sale that is not JSON of the right form: %v", err)
	}
	return o.receipt(sale, a)
}

// receipt checks that a sale is what was asked for.
func (o Order) receipt(sale sale, a Response) Reply {
	switch {
	case sale.OrderID == "" || sale.SKU == nil || sale.Quantity == nil || sale.Remaining == nil:
		return Nonsense("a sale without all its fields: %s", Excerpt(a.Body))
	case *sale.SKU != o.SKU || *sale.Quantity != o.Quantity:
		return Nonsense("asked for %d of SKU %d, was sold %d of SKU %d", o.Quantity, o.SKU, *sale.Quantity, *sale.SKU)
	case sale.Strategy != o.Strategy:
		return Nonsense("asked for strategy %q, was served by %q", o.Strategy, sale.Strategy)
	}
	return Reply{Outcome: ledger.OutcomeSold, OrderID: []byte(sale.OrderID), Remaining: *sale.Remaining}
}

// accepted reads the first of two answers.
func accepted(a Response) Reply {
	var first struct {
		Status    string `json:"status"`
		RequestID string `json:"request_id"`
	}
	if !isType(a.ContentType, typeJSON) || json.Unmarshal(a.Body, &first) != nil || first.Status != "accepted" || first.RequestID == "" {
		return Nonsense("status %d, %s: %s", http.StatusAccepted, a.ContentType, Excerpt(a.Body))
	}
	return Reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
}

// cancelled says what became of a cancellation.
func cancelled(a Response) Reply {
	var o struct {
		Status string `json:"status"`
	}
	if a.Status == http.StatusOK && isType(a.ContentType, typeJSON) && json.Unmarshal(a.Body, &o) == nil {
		if o.Status == ledger.Cancelled {
			return Reply{Outcome: ledger.OutcomeCancelled}
		}
		return Nonsense("a cancelled order with status %q: %s", o.Status, Excerpt(a.Body))
	}
	return Order{}.bought(a)
}

// serverError is the reply of a 5xx that says nothing else: unknown.
func serverError(a Response) Reply {
	return unknown(fmt.Sprintf("http_%d", a.Status), Excerpt(a.Body))
}
