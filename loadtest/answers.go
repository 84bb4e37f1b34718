package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"seckill/internal/judge"
)

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
)

// Outcomes lists the possible outcomes of a purchase, in the order in which reports show them.
var Outcomes = []judge.Outcome{
	judge.OutcomeSold, judge.OutcomeReserved, judge.OutcomeSoldOut, judge.OutcomeBusy, judge.OutcomeConflict,
	judge.OutcomeDuplicate, judge.OutcomeInProgress, judge.OutcomeAccepted, judge.OutcomeUnknown, judge.OutcomeError,
}

// The client itself gives these codes to calls that got no valid answer.
const (
	codeTimeout     = "timeout"         // there was no answer within the buyer's time-out
	codeInterrupted = "interrupted"     // the run was interrupted while the buyer waited
	codeLost        = "connection_lost" // the connection ended before the answer was complete
	codeUnreachable = "unreachable"     // the client could not connect, so it sent nothing
	codeNonsense    = "nonsense"        // the answer breaks the service's contract
)

// maxBody bounds the body of a response, in bytes.
const maxBody = 64 << 10

// A response is an HTTP response. Body is overwritten by the buyer's next call.
type response struct {
	Status      int
	ContentType string
	Body        []byte
	RetryAfter  time.Duration // 0 if the header is missing, or is a date
	Replayed    bool          // true if the service repeats its answer to an earlier call of this request
	last        bool          // true if the service closes the connection after this response
}

// A reply is the answer to one call, as the buyer understands it.
type reply struct {
	Outcome    judge.Outcome
	Code       string // empty for a sale
	Message    string
	OrderID    string
	Remaining  int64
	Status     int           // the HTTP status; 0 if there was no answer
	RetryAfter time.Duration // 0 if the answer has no Retry-After
	Replayed   bool          // true if the service repeats its answer to an earlier call of this request
	ThisCall   bool          // true if the error is about this call only; another call of the request may have succeeded
	answered   time.Duration // when the answer came
	// reservedUntil is a time before which the reservation cannot have expired. It is 0 if no such time is known.
	reservedUntil time.Duration
}

func (r reply) maySendAgain() bool {
	switch r.Code {
	case codeTimeout, codeLost, codeUnreachable, string(judge.OutcomeInProgress):
		return true
	}
	return r.Status >= 500
}

func (r reply) isDefinite() bool {
	switch r.Outcome {
	case judge.OutcomeUnknown, judge.OutcomeError, judge.OutcomeInProgress:
		return false
	}
	return true
}

// replyToError returns the reply for a call that ended with err. If the connection could not be opened,
// nothing was sent. After any other error the outcome is unknown.
func replyToError(err error) reply {
	var op *net.OpError
	var broken net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return unknownReply(codeInterrupted, err.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return reply{Outcome: judge.OutcomeError, Code: codeUnreachable, Message: err.Error(), ThisCall: true}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return unknownReply(codeTimeout, "no answer in time")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken):
		return unknownReply(codeLost, err.Error())
	}
	// The connection is sound, so the response is not HTTP, or its status, size or encoding is not allowed.
	return invalidReply("%s", quoteStart([]byte(err.Error())))
}

func unknownReply(code, message string) reply {
	return reply{Outcome: judge.OutcomeUnknown, Code: code, Message: message}
}

// invalidReply returns the reply for an answer that breaks the service's contract.
func invalidReply(format string, args ...any) reply {
	return unknownReply(codeNonsense, fmt.Sprintf(format, args...))
}

// hasType reports whether contentType is a media type in lower case. It ignores parameters such as charset.
func hasType(contentType, mediaType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(t), mediaType)
}

// quoteStart returns the start of a text, quoted, so that it fits into one line of a report.
func quoteStart(text []byte) string { return fmt.Sprintf("%.120q", text) }

type problemBody struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Ask    string `json:"ask"` // the path at which the buyer can ask what other calls with the same key did
}

// readPurchase returns what an answer to the purchase p says. An answer that breaks the service's contract
// proves nothing, so its outcome is unknown.
func (c *client) readPurchase(p purchase, a response) reply {
	switch a.Status {
	case http.StatusOK:
		var s sale
		if !decodeBody(a, &s) {
			return invalidReply("a sale of type %q: %s", a.ContentType, quoteStart(a.Body))
		}
		return c.readSale(p, s, a)
	case http.StatusAccepted:
		return readAcceptance(a)
	}
	return readRefusal(a)
}

func readRefusal(a response) reply {
	var p problemBody
	if !hasType(a.ContentType, typeProblem) || json.Unmarshal(a.Body, &p) != nil || p.Code == "" {
		if a.Status >= 500 { // The answer is from a proxy, or from a process that is shutting down.
			return unknownReply(fmt.Sprintf("http_%d", a.Status), quoteStart(a.Body))
		}
		return invalidReply("status %d, %s: %s", a.Status, a.ContentType, quoteStart(a.Body))
	}
	known, ok := judge.FindCode(p.Code)
	if !ok || known.Status != a.Status {
		return invalidReply("status %d with code %q: %s", a.Status, p.Code, p.Detail)
	}
	return reply{Outcome: known.Outcome, Code: p.Code, Message: p.Detail, ThisCall: p.Ask != ""}
}

// A sale is the body of a successful answer to a purchase or a reservation. A pointer is nil if the answer
// lacks the field.
type sale struct {
	OrderID       string `json:"order_id"`
	ReservationID string `json:"reservation_id"`
	SKU           *int64 `json:"sku_id"`
	Quantity      *int64 `json:"quantity"`
	Remaining     *int64 `json:"remaining"`
	Strategy      string `json:"strategy"`
}

// decodeBody decodes the JSON body of an answer. It returns false if the body is not JSON, or does not fit the given
// type. The package go-json-experiment/json takes less than half the time of encoding/json.
func decodeBody(a response, into any) bool {
	return hasType(a.ContentType, typeJSON) && json.Unmarshal(a.Body, into) == nil
}

func (c *client) readSale(p purchase, s sale, a response) reply {
	id, outcome := s.OrderID, judge.OutcomeSold
	// An answer about a paid reservation also has an OrderID.
	if c.scenario.Reserve > 0 {
		id, outcome = s.ReservationID, judge.OutcomeReserved
	}
	switch {
	case id == "" || s.SKU == nil || s.Quantity == nil || s.Remaining == nil:
		return invalidReply("a sale without all its fields: %s", quoteStart(a.Body))
	case *s.SKU != p.sku || *s.Quantity != p.quantity:
		return invalidReply("asked for %d of SKU %d, was given %d of SKU %d", p.quantity, p.sku, *s.Quantity, *s.SKU)
	case s.Strategy != c.scenario.Strategy:
		return invalidReply("asked for strategy %q, was served by %q", c.scenario.Strategy, s.Strategy)
	}
	return reply{Outcome: outcome, OrderID: id, Remaining: *s.Remaining, Replayed: a.Replayed}
}

// readAcceptance reads an answer which says that the purchase is accepted, and that its order is written later.
func readAcceptance(a response) reply {
	var first struct {
		Status    string `json:"status"`
		RequestID string `json:"request_id"`
	}
	if !decodeBody(a, &first) || first.Status != "accepted" || first.RequestID == "" {
		return invalidReply("status %d, %s: %s", http.StatusAccepted, a.ContentType, quoteStart(a.Body))
	}
	return acceptedReply
}

var acceptedReply = reply{Outcome: judge.OutcomeAccepted, Code: string(judge.OutcomeAccepted)}

// readOutcome reads the answer to a call that asks for the outcome of an accepted purchase. It returns false
// while the service has not decided, or cannot say. If the service no longer knows the request, the outcome
// stays "accepted", and the judge looks for the order in the ledger.
func (c *client) readOutcome(p purchase, a response) (reply, bool) {
	var page struct {
		Orders  []sale `json:"orders"`
		Request struct {
			Status string `json:"status"`
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"request"`
	}
	if a.Status != http.StatusOK {
		return acceptedReply, false
	}
	if !decodeBody(a, &page) {
		return invalidReply("a look-up of type %q: %s", a.ContentType, quoteStart(a.Body)), true
	}
	switch page.Request.Status {
	case "pending", "unknown":
		return acceptedReply, false
	case "none":
		return acceptedReply, true
	case "refused":
		if known, ok := judge.FindCode(page.Request.Code); ok && known.Outcome != judge.OutcomeUnknown {
			return reply{Outcome: known.Outcome, Code: page.Request.Code, Message: page.Request.Detail}, true
		}
	case "ordered":
		if len(page.Orders) == 1 {
			return c.readSale(p, page.Orders[0], a), true
		}
	}
	return invalidReply("a look-up that says %s", quoteStart(a.Body)), true
}

var (
	readCancellation = expectState(judge.OutcomeCancelled, "cancelled")
	readPayment      = expectState(judge.OutcomeSold, "paid")
	readRelease      = expectState(judge.OutcomeCancelled, "cancelled", "expired")
)

// expectState returns a function that reads an answer about an order or a reservation. If the state is one of
// the given states, the reply has the given outcome.
func expectState(outcome judge.Outcome, states ...string) func(response) reply {
	return func(a response) reply {
		if a.Status != http.StatusOK {
			return readRefusal(a)
		}
		var r struct {
			Status string `json:"status"` // status of an order
			State  string `json:"state"`  // the state of a reservation
		}
		if decodeBody(a, &r) && slices.Contains(states, r.Status+r.State) {
			return reply{Outcome: outcome}
		}
		return invalidReply("the state %q: %s", r.Status+r.State, quoteStart(a.Body))
	}
}

// readRestock reads the answer to a restock. If the restock is in progress, its units may still arrive, so the
// outcome is unknown.
func readRestock(a response) reply {
	if a.Status == http.StatusOK {
		return reply{Outcome: judge.OutcomeRestocked}
	}
	r := readRefusal(a)
	if r.Outcome == judge.OutcomeInProgress {
		r.Outcome = judge.OutcomeUnknown
	}
	return r
}
