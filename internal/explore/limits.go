package explore

import (
	"errors"
	"time"
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
	Cut      int       `json:"cut"`
	Diverged int       `json:"diverged"`
	Faulty   int       `json:"faulty"` // orders in which a fault happened
	First    *Schedule `json:"-"`      // the first broken order
	// Rules are the first orders that broke each rule.
	Rules map[string]*Schedule `json:"-"`
}

// ErrDiverged: a replay met another command than the one it was made of.
var ErrDiverged = errors.New("the order does not fit any more")
