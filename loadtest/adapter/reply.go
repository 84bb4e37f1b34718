package adapter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"seckill/internal/ledger"
)

// Outcomes are what a purchase can come to, in the order of reports.
var Outcomes = []ledger.Outcome{
	ledger.OutcomeSold, ledger.OutcomeReserved, ledger.OutcomeSoldOut, ledger.OutcomeBusy, ledger.OutcomeConflict,
	ledger.OutcomeDuplicate, ledger.OutcomeInProgress, ledger.OutcomeAccepted, ledger.OutcomeUnknown, ledger.OutcomeError,
}

// Codes for what is not one of the service's answers.
const (
	CodeTimeout     = "timeout"         // no answer within the buyer's time-out
	CodeInterrupted = "interrupted"     // the run ended while the buyer waited
	CodeLost        = "connection_lost" // reset or closed before the answer was complete
	CodeUnreachable = "unreachable"     // no connection, so nothing was sent
	CodeNonsense    = "nonsense"        // an answer outside the contract
)

// MaxBody bounds the body of an answer, in bytes.
const MaxBody = 64 << 10

// A Response is an HTTP answer. Its body is valid until the next one is read.
type Response struct {
	Status      int
	ContentType string
	Body        []byte
	RetryAfter  time.Duration // 0: none, or a date
}

// A Reply is what one buyer was told.
type Reply struct {
	Outcome    ledger.Outcome
	Code       string // empty for a sale
	Message    string
	OrderID    string
	Remaining  int64
	Status     int           // 0: no answer
	RetryAfter time.Duration // 0: none
}

// Again reports whether a client sends the same request again after this.
func (r Reply) Again() bool {
	switch r.Code {
	case CodeTimeout, CodeLost, CodeUnreachable:
		return true
	}
	return r.Status >= 500 || r.Outcome == ledger.OutcomeInProgress
}

// Silent reports that no answer came, so that it has no time.
func (r Reply) Silent() bool {
	return r.Code == CodeTimeout || r.Code == CodeLost || r.Code == CodeInterrupted
}

// Definite reports whether the answer says what the buyer got.
func (r Reply) Definite() bool {
	switch r.Outcome {
	case ledger.OutcomeUnknown, ledger.OutcomeError, ledger.OutcomeInProgress:
		return false
	}
	return true
}

// NoAnswer is the reply to a request that ended with err. Only a failed dial
// proves that nothing was sent; everything else is unknown.
func NoAnswer(err error) Reply {
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return unknown(CodeInterrupted, err.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return Reply{Outcome: ledger.OutcomeError, Code: CodeUnreachable, Message: err.Error()}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return unknown(CodeTimeout, "no answer in time")
	}
	return unknown(CodeLost, err.Error())
}

func unknown(code, message string) Reply {
	return Reply{Outcome: ledger.OutcomeUnknown, Code: code, Message: message}
}

// Nonsense is the reply of an answer that the contract does not allow.
func Nonsense(format string, args ...any) Reply {
	return unknown(CodeNonsense, fmt.Sprintf(format, args...))
}

// isType compares a Content-Type without its parameters; want is lower case.
func isType(contentType, want string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(t), want)
}

// Excerpt makes any body fit into one line of a report.
func Excerpt(body []byte) string {
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
