package ledger

import "time"

// Told is what a buyer was told about one call. Copies and retries of one
// request are calls of their own with the same user and request id, and so is
// a cancellation.
type Told struct {
	Call Call // "": CallBuy
	// RequestID is the idempotency key of the purchase. A cancellation names its
	// order by OrderID, or by the user and the key of the purchase.
	RequestID string
	User      int64
	Quantity  int64 // units asked for; of a cancellation: units of its order
	Outcome   Outcome
	OrderID   string // of a purchase that was told sold or reserved; of other calls: its order
	Remaining int64  // of a purchase that was told sold or reserved
	// Late: of CallPay: it was sent when the deadline had certainly passed.
	Late bool
	// Early: of CallPay: it was answered when the deadline had certainly not passed.
	Early bool
	// Sent and Answered are times since the start of the run, by one clock.
	// Answered 0: no answer, or its time is not known. Both 0: neither is known.
	Sent, Answered time.Duration
}

// A Call is what a buyer asked for.
type Call string

const (
	CallBuy    Call = "buy"
	CallCancel Call = "cancel"
	CallPay    Call = "pay" // a reservation, named as a cancellation names its order
)

// Is compares calls; "" is CallBuy.
func (c Call) Is(other Call) bool { return c == other || c == "" && other == CallBuy }

// An Outcome is what a buyer was told.
type Outcome string

const (
	OutcomeSold       Outcome = "sold"     // of CallPay: the reservation is paid
	OutcomeReserved   Outcome = "reserved" // of CallBuy: the units are held until they are paid
	OutcomeSoldOut    Outcome = "sold_out"
	OutcomeBusy       Outcome = "busy"
	OutcomeConflict   Outcome = "conflict"
	OutcomeDuplicate  Outcome = "duplicate"
	OutcomeInProgress Outcome = "in_progress" // another copy of the request is under way
	OutcomeAccepted   Outcome = "accepted"    // the answer comes later
	OutcomeExpired    Outcome = "expired"     // of CallPay: it came after the deadline
	OutcomeCancelled  Outcome = "cancelled"   // of CallCancel: the order is cancelled
	OutcomeUnknown    Outcome = "unknown"     // no answer, or one that says so
	OutcomeError      Outcome = "error"       // an answer that says that nothing was taken, or given back
)
