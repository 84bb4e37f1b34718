// Package explore runs buyers through every order of their backend commands,
// on the real servers.
//
// A buyer runs the untouched strategy. The tap stops him before each command,
// and a scheduler lets one buyer go at a time. Whoever waits inside a server
// (for a row, GET_LOCK, BLPOP, a watch) is recognised by the server's own word,
// and the others go on. One order of steps, from a fresh SKU to the audit, is
// an Order; the search replays a prefix of an order that it has seen and takes
// another turn, until no turn is left, those with the fewest preemptions first
// (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
// multithreaded programs", PLDI 2007), so that the first counterexample that
// is found is a short one.
package explore

import (
	"errors"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Scenario is what is explored: who buys what, and what may go wrong.
type Scenario struct {
	Name   string  `json:"name"`
	Stock  int64   `json:"stock"` // units of the fresh SKU
	Buyers []Buyer `json:"buyers"`
	// Faults that may happen, each at any moment; at most MaxFaults of them in
	// one order.
	Faults    []Fault `json:"faults,omitempty"`
	MaxFaults int     `json:"max_faults,omitempty"`
	// DiesFirst: the first buyer is alone, and dies before any of his commands;
	// a lease later the others come.
	DiesFirst bool `json:"dies_first,omitempty"`
	// InLine: before anything is chosen the first buyer takes the lock, and the
	// others come, one after the other, and wait for it.
	InLine bool `json:"in_line,omitempty"`
	// Next sends one more buyer through when all others are done: a lock that
	// was left behind shows by him.
	Next bool `json:"next,omitempty"`
	// Clears: LeaseEnds also removes a lock that has no lease, as an operator
	// would who thinks its holder dead.
	Clears bool `json:"clears,omitempty"`
}

// A Buyer is one actor.
type Buyer struct {
	Name     string `json:"name"`    // "A"
	Process  int    `json:"process"` // buyers of one process share an instance
	Quantity int64  `json:"quantity,omitempty"`
	Does     Does   `json:"does"`
	Other    bool   `json:"other,omitempty"` // he wants another SKU than the buyers who do not say so
	// Ahead is how far the clock of his process goes before the others'.
	Ahead time.Duration `json:"clock_ahead_ns,omitempty"`
}

// Does is what a buyer does.
type Does string

const (
	Buys    Does = "buys"
	Cancels Does = "cancels" // an order that he placed before the others came
	Locks   Does = "locks"   // takes the lock, works a step, frees it: no stock
)

// A Fault is something that goes wrong at a moment of the scheduler's choice.
type Fault string

const (
	// LeaseEnds: whoever holds the lock now loses it, as the server sees it:
	// the key expires, the session's nodes go, the lease is revoked, the
	// connection is killed. The holder has not heard of it: he was paused.
	LeaseEnds Fault = "lease ends"
	// Dies: the buyer's process ends before his next command. Nothing of his
	// clean-up runs, his connections close.
	Dies Fault = "dies"
	// GivenUp: the server ends the session or the lease of a process that has
	// died. It follows Dies, at any later moment, and is no fault of its own.
	GivenUp Fault = "given up by the server"
	// ReplyLost: the next command takes effect, the buyer sees an error.
	ReplyLost Fault = "reply lost"
	// CommandLost: the next command never arrives, the buyer sees an error.
	CommandLost Fault = "command lost"
)

// A Choice is one step of an order: whose turn it is and, with a Fault, what
// happens to him instead. LeaseEnds belongs to nobody.
type Choice struct {
	Who   string `json:"who,omitempty"`
	Fault Fault  `json:"fault,omitempty"`
}

func (c Choice) String() string {
	switch {
	case c.Fault == "":
		return c.Who
	case c.Who == "":
		return string(c.Fault)
	}
	return c.Who + ": " + string(c.Fault)
}

// A Step is a choice and what came of it.
type Step struct {
	Choice
	Backend string `json:"backend,omitempty"`
	Command string `json:"command,omitempty"` // the SKU's id written as 1
	Result  string `json:"result,omitempty"`  // "", "waits", or an error
	// Woke names those who waited inside a server and went on by this step.
	Woke []string `json:"woke,omitempty"`
	// Values after the step, when they were looked at: the row, the key.
	Values []Value `json:"values,omitempty"`

	// ByItself: nobody chose it. Time passed until it had to happen.
	ByItself bool `json:"by_itself,omitempty"`

	chosen bool // by the search
}

// A Value is something that the servers keep.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Order is one order of steps that was run to its end.
type Order struct {
	Scenario *Scenario
	Steps    []Step
	// Preemptions counts turns that were taken from a buyer who could go on.
	Preemptions int
	Buyers      []Outcome
	Audit       ledger.Report
	// Overlaps are moments at which two buyers held the lock.
	Overlaps []Overlap
	// Left is what the servers still kept for the lock after a death, before
	// the next buyer came.
	Left     []Value
	Problems []Problem
}

// An Outcome is what became of one buyer.
type Outcome struct {
	Buyer
	Receipt seckill.Receipt
	Err     error
	Dead    bool
	// GaveUp: he waited, nobody could ever wake him any more, and his time was
	// up. WaitedFor counts leases that had to end before he got through.
	GaveUp    bool
	WaitedFor int
	// Expired: the lease was ended under him.
	Expired bool
	// Waited: at some moment he could not go on until somebody else moved.
	Waited bool
}

// An Overlap is two holders of one lock.
type Overlap struct {
	Step   int // index in Steps
	First  string
	Second string
	// Excused: First's lease had ended before, so nobody promised otherwise.
	Excused bool
}

// A Problem is one thing that must not happen.
type Problem struct {
	Rule    string `json:"rule"` // a ledger rule, or one of those below
	Message string `json:"message"`
}

// Rules beside the ledger's.
const (
	RuleOverlap  = "two_holders" // one holder at a time
	RuleUnknown  = "unknown"     // without a fault every buyer is told what he got
	RuleStuck    = "blocked"     // the next buyer gets through
	RuleError    = "error"       // without a fault no buyer sees a backend's error
	RuleHindered = "hindered"    // buyers of different SKUs do not wait for each other
	RuleStolen   = "stolen"      // nobody else frees the lock of a holder
)

// Limits bound a search. The zero value is no limit.
type Limits struct {
	Preemptions int // -1: all orders; n: orders with at most n
	Orders      int // stop after so many
	Time        time.Duration
	// Random seeds orders drawn at random when all with at most Preemptions
	// are done and RandomTime is left.
	Random     uint64
	RandomTime time.Duration
	// All goes on after the first broken order.
	All bool
	// Stop says which rules make an order broken. Nil means every one.
	Stop func(rule string) bool
}

// A Result is what a search found.
type Result struct {
	Orders int `json:"orders"` // run to their end
	Random int `json:"random"` // of them drawn at random
	Broken int `json:"broken"` // of them with problems
	// Preemptions: all orders with at most so many were run; -1: all orders.
	Preemptions int `json:"preemptions"`
	// Cut counts turns that were not taken: the limits came first, or they
	// need more preemptions than allowed, or the servers did not repeat
	// themselves (Diverged).
	Cut      int    `json:"cut"`
	Diverged int    `json:"diverged"`
	Faulty   int    `json:"faulty"` // orders in which a fault happened
	First    *Order `json:"-"`      // the first broken order
	// Rules are the first orders that broke each rule.
	Rules map[string]*Order `json:"-"`
}

// ErrDiverged: a replay met another command than the one it was made of.
var ErrDiverged = errors.New("the order does not fit any more")
