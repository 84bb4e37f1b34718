package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"seckill/internal/ledger"
)

// Codes of our own, for what is not one of the service's answers.
const (
	codeTimeout     = "timeout"         // no answer while the buyer waited
	codeInterrupted = "interrupted"     // the run was ended while the buyer waited
	codeLost        = "connection_lost" // reset or closed before the answer was complete
	codeUnreachable = "unreachable"     // never connected, so nothing was sent
	codeNonsense    = "nonsense"        // an answer that the contract does not know
)

// A reply is what one buyer was told.
type reply struct {
	outcome   ledger.Outcome
	code      string // empty for a sale
	message   []byte // lasts as long as the answer, as does orderID
	orderID   []byte
	remaining int64
	status    int           // 0: no answer
	after     time.Duration // as its Retry-After says; 0: it does not
}

// A meaning of a code: the status it comes with, and whether it proves that
// nothing was taken.
type meaning struct {
	status  int
	outcome ledger.Outcome
}

// contract is every refusal the service may answer.
var contract = map[string]meaning{
	"sold_out":               {http.StatusConflict, ledger.OutcomeSoldOut},
	"duplicate":              {http.StatusConflict, ledger.OutcomeDuplicate},
	"in_progress":            {http.StatusConflict, ledger.OutcomeInProgress},
	"conflict":               {http.StatusConflict, ledger.OutcomeConflict},
	"busy":                   {http.StatusTooManyRequests, ledger.OutcomeBusy},
	"rate_limited":           {http.StatusTooManyRequests, ledger.OutcomeBusy},
	"not_started":            {http.StatusConflict, ledger.OutcomeError},
	"invalid":                {http.StatusBadRequest, ledger.OutcomeError},
	"unauthenticated":        {http.StatusUnauthorized, ledger.OutcomeError},
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

// codes are the contract's, so that a code that is read from an answer needs
// no string of its own.
var codes = func() map[string]string {
	all := map[string]string{}
	for code := range contract {
		all[code] = code
	}
	return all
}()

// An order is what a buyer asks for, and so what a sale must say.
type order struct {
	sku, quantity int64
	strategy      string
}

// means is classify, for the answers that are as our service writes them.
func (o order) means(a answer) reply {
	var f fields
	if isType(a.contentType, "application/json") && a.status == http.StatusOK && f.read(a.body) {
		if len(f.orderID) > 0 && f.sku == (number{o.sku, true}) && f.quantity == (number{o.quantity, true}) &&
			f.remaining.seen && string(f.strategy) == o.strategy {
			return reply{outcome: ledger.OutcomeSold, orderID: f.orderID, remaining: f.remaining.value}
		}
	} else if isType(a.contentType, "application/problem+json") && a.status != http.StatusOK && f.read(a.body) {
		if known, ok := contract[string(f.code)]; ok && known.status == a.status {
			r := reply{outcome: known.outcome, code: codes[string(f.code)], message: f.detail}
			if len(f.detail) == 0 {
				r.message = f.title
			}
			return r
		}
	}
	return o.classify(a.status, string(a.contentType), a.body)
}

// classify says what an answer means. What is not exactly as the contract has
// it proves nothing, so its outcome is unknown.
func (o order) classify(status int, contentType string, body []byte) reply {
	switch status {
	case http.StatusOK:
		return o.classifySale(contentType, body)
	case http.StatusAccepted:
		return classifyAccepted(contentType, body)
	}
	var p problem
	isProblem := mediaType(contentType) == "application/problem+json" && json.Unmarshal(body, &p) == nil && p.Code != ""
	if !isProblem {
		if status >= 500 { // a proxy, or a process on its way down
			return unknown(fmt.Sprintf("http_%d", status), excerpt(body))
		}
		return nonsense("status %d, %s: %s", status, contentType, excerpt(body))
	}
	known, ok := contract[p.Code]
	if !ok || known.status != status {
		return nonsense("status %d with code %q: %s", status, p.Code, p.message())
	}
	return reply{outcome: known.outcome, code: codes[p.Code], message: []byte(p.message())}
}

func (o order) classifySale(contentType string, body []byte) reply {
	var sale struct {
		OrderID   string `json:"order_id"`
		SKU       *int64 `json:"sku_id"`
		Quantity  *int64 `json:"quantity"`
		Remaining *int64 `json:"remaining"`
		Strategy  string `json:"strategy"`
	}
	if mediaType(contentType) != "application/json" {
		return nonsense("a sale of type %q: %s", contentType, excerpt(body))
	}
	if err := json.Unmarshal(body, &sale); err != nil {
		return nonsense("a sale that is not JSON of the right form: %v", err)
	}
	switch {
	case sale.OrderID == "" || sale.SKU == nil || sale.Quantity == nil || sale.Remaining == nil:
		return nonsense("a sale without all its fields: %s", excerpt(body))
	case *sale.SKU != o.sku || *sale.Quantity != o.quantity:
		return nonsense("asked for %d of SKU %d, was sold %d of SKU %d", o.quantity, o.sku, *sale.Quantity, *sale.SKU)
	case sale.Strategy != o.strategy:
		return nonsense("asked for strategy %q, was served by %q", o.strategy, sale.Strategy)
	}
	return reply{outcome: ledger.OutcomeSold, orderID: []byte(sale.OrderID), remaining: *sale.Remaining}
}

// classifyAccepted reads the first step of an answer in two.
func classifyAccepted(contentType string, body []byte) reply {
	var a struct {
		Status    string `json:"status"`
		RequestID string `json:"request_id"`
	}
	if mediaType(contentType) != "application/json" || json.Unmarshal(body, &a) != nil || a.Status != "accepted" || a.RequestID == "" {
		return nonsense("status %d, %s: %s", http.StatusAccepted, contentType, excerpt(body))
	}
	return reply{outcome: ledger.OutcomeAccepted, code: string(ledger.OutcomeAccepted)}
}

// noAnswer says what it means that a request ended with err.
func noAnswer(err error) reply {
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return unknown(codeInterrupted, err.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return reply{outcome: ledger.OutcomeError, code: codeUnreachable, message: []byte(err.Error())}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return unknown(codeTimeout, "no answer in time")
	}
	return unknown(codeLost, err.Error())
}

func unknown(code, message string) reply {
	return reply{outcome: ledger.OutcomeUnknown, code: code, message: []byte(message)}
}

func nonsense(format string, args ...any) reply {
	return unknown(codeNonsense, fmt.Sprintf(format, args...))
}

// A problem is the service's error answer, application/problem+json.
type problem struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (p problem) message() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// isType is mediaType for what has been received, without a string of its own.
func isType(contentType []byte, want string) bool {
	t, _, _ := bytes.Cut(contentType, []byte(";"))
	return is(bytes.TrimSpace(t), want)
}

// cancelled says what became of a cancellation.
func cancelled(a answer) reply {
	var o struct {
		Status string `json:"status"`
	}
	if a.status == http.StatusOK && isType(a.contentType, "application/json") && json.Unmarshal(a.body, &o) == nil {
		if o.Status == ledger.Cancelled {
			return reply{outcome: ledger.OutcomeCancelled}
		}
		return nonsense("a cancelled order with status %q: %s", o.Status, excerpt(a.body))
	}
	return order{}.classify(a.status, string(a.contentType), a.body)
}

// excerpt makes any body fit into one line of a report.
func excerpt(body []byte) string {
	const most = 120
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*most)]), "�")), " ")
	if text == "" {
		return "an empty body"
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
