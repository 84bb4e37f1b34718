// Package explore runs buyers through the schedules of their backend commands,
// on the real servers.
//
// A buyer runs the untouched strategy. The tap stops it before each command,
// and a scheduler lets one buyer go at a time. A command that waits inside a
// server (for a row, GET_LOCK, BLPOP, a watch) is recognised by the server's own
// word, and the others go on. One run, from a fresh SKU to the audit, is a
// Schedule. Which schedules are run is for a policy (package policy), which
// knows no servers.
//
// What actors do is a table (does.go), and so is what may go wrong (faults.go). The
// example explores a SQL transaction of one's own.
package explore

import (
	"fmt"
	"strings"
	"time"

	"seckill/internal/explore/policy"
	"seckill/internal/judge"
	"seckill/internal/probe"
	"seckill/internal/seckill"
)

// A Scenario is what is explored: actors, what they do, and the faults.
type Scenario struct {
	Name   string  `json:"name,omitempty"`
	Stock  int64   `json:"stock"` // units of the fresh SKU
	Buyers []Buyer `json:"buyers"`
	// Faults that may happen, each at any moment; at most MaxFaults of them in
	// one schedule.
	Faults    []Fault `json:"faults,omitzero"`
	MaxFaults int     `json:"max_faults,omitempty"`
	// Denies is the command that Redis refuses by Refused.
	Denies string `json:"denies,omitempty"`
	// Renewals: renewers of locks act at any moment, so often in one schedule at
	// most. With 0 no time passes for them.
	Renewals int `json:"renewals,omitempty"`
	// DiesFirst: the first buyer is alone, and dies before any of its commands;
	// a lease later the others come.
	DiesFirst bool `json:"dies_first,omitempty"`
	// InLine: before anything is chosen the first buyer takes the lock, and the
	// others come, one after the other, and wait for it.
	InLine bool `json:"in_line,omitempty"`
	// Latecomers are so many of the last buyers, who are not brought into line: each of
	// their commands is a choice. LeaseEnds then ends the session of one who queues, in
	// place of the holder's.
	Latecomers int `json:"latecomers,omitempty"`
	// Next sends one more buyer through when all others are done: a lock that
	// was left behind, or stock that was lost, shows by it.
	Next bool `json:"next,omitempty"`
	// Clears: LeaseEnds also removes a lock without a lease, as an operator does
	// who takes its holder for dead.
	Clears bool `json:"clears,omitempty"`
	// Wakes: the end of a wait is a step of its own, and a buyer may leave before it.
	Wakes bool `json:"wakes,omitempty"`
}

// A Buyer is one actor.
type Buyer struct {
	Name     string `json:"name"`    // "A"
	Process  int    `json:"process"` // buyers of one process share an instance
	Quantity int64  `json:"quantity,omitempty"`
	Does     Does   `json:"does"`
	Other    bool   `json:"other,omitempty"` // buys another SKU
	// Same names the buyer whose order is cancelled, or whose request this is a
	// copy of; "" is its own.
	Same string `json:"same,omitempty"`
	// User names the buyer who sends this one's requests, too; "" is its own.
	User string `json:"user,omitempty"`
	// Again is how often a request is sent again that got no final answer, or a lock is
	// taken again that was freed.
	Again int `json:"again,omitempty"`
}

// A Fault is something that goes wrong between two commands of a buyer, at a
// moment of the scheduler's choice.
type Fault = policy.Fault

const (
	// LeaseEnds: the holder of the lock loses it, as the server sees it: the key
	// expires, the session's nodes go, the lease is revoked, the connection is
	// killed. The holder has not heard of it: they were paused.
	LeaseEnds Fault = "lease ends"
	// Dies: the buyer's process ends before its next command, and with it all other
	// buyers in it. No clean-up runs, its connections close.
	Dies Fault = "dies"
	// Leaves: the buyer closes their connection, or their time is up. Their process
	// lives on; whatever it does for them under their context is refused.
	Leaves Fault = "leaves"
	// Panics: the code of the buyer panics in place of its next write to the database, and
	// the service recovers. Their process lives on.
	Panics Fault = "panics"
	// GivenUp: the server ends the session or the lease of a process that has
	// died. It follows Dies at any later moment, and is no fault of its own.
	GivenUp Fault = "given up by the server"
	// IDTaken: another process has made the same id in the same microsecond: a row has that of the last order which
	// the next command is to write. Only of commands that write several.
	IDTaken Fault = "id taken"
	// ReplyLost: the next command takes effect, the buyer sees an error.
	ReplyLost Fault = "reply lost"
	// CommandLost: the next command never arrives, the buyer sees an error.
	CommandLost Fault = "command lost"
	// Refused: during the next command Redis refuses Scenario.Denies, as an administrator
	// withdraws a right. A script keeps what it has written before.
	Refused Fault = "refused"
	// Delayed: the next command stays in the network, the buyer sees an error
	// and goes on.
	Delayed Fault = "delayed"
	// Arrives: a delayed command reaches its server. It follows Delayed at any
	// later moment, and is no fault of its own.
	Arrives Fault = "arrives late"
	// ClockJumps: the clock of the buyer's process jumps ahead by more than a lease, as a
	// wrong time server sets it. Servers' clocks go on as before, and so do timers.
	ClockJumps Fault = "clock jumps"
	// NodeLost: a server of several is lost (Options.Node), and another takes over.
	NodeLost Fault = "a node is lost"
	// TimePasses: no buyer could go on, so leases ended.
	TimePasses Fault = "time passes"
)

// A Choice is one step of a schedule: whose turn it is and, with a Fault, what
// happens instead. A fault may belong to no buyer.
type Choice = policy.Choice

// A Step is a choice and what came of it.
type Step struct {
	Choice
	Backend string `json:"backend,omitempty"`
	Command string `json:"command,omitempty"` // as a Normalizer writes it
	Result  string `json:"result,omitempty"`  // "", "waits", or an error
	Reply   string `json:"reply,omitempty"`   // what it answered, as tap.Command.Reply
	// Woke names the buyers that waited inside a server until this step.
	Woke []string `json:"woke,omitempty"`
	// Values after the step, when they were looked at: the row, the key.
	Values []probe.Value `json:"values,omitempty"`

	// ByItself: it was not chosen. Time passed until it had to happen.
	ByItself bool `json:"by_itself,omitempty"`
}

// String is the step on one line: "A UPDATE stock … → 1 row".
func (s Step) String() string {
	words := fmt.Sprint(s.Who, " ", s.Fault, " ", s.Command)
	switch {
	case s.Result != "":
		words += " [" + s.Result + "]"
	case s.Reply != "":
		words += " → " + s.Reply
	}
	for _, who := range s.Woke {
		words += ", and " + who + " goes on"
	}
	return strings.Join(strings.Fields(words), " ")
}

// chosen: it was the search's choice.
func (s Step) chosen() bool { return !s.ByItself && s.Fault != TimePasses && s.Result != gaveUp }

// A Schedule is the steps of one run, from a fresh SKU to the audit.
type Schedule struct {
	Scenario *Scenario
	Steps    []Step
	// Preemptions counts turns taken from a buyer that could go on.
	Preemptions int
	Buyers      []Outcome
	Audit       judge.Report
	// Held says when buyers believed that they had the lock.
	Held     []Belief
	Problems []Problem
	// Outage is how long no server answered after NodeLost.
	Outage time.Duration

	names *Normalizer
	// locks are moments at which two buyers held the lock, and the lease of the first had
	// not ended, or a renewer went on, though it had been answered while another had the lock.
	locks []Problem
}

// A Belief is a buyer's: that they have the lock, from the step after which they
// were told so (-1: before the first) to the step by which they give it back.
type Belief struct {
	Who  string `json:"who"`
	From int    `json:"from"`
	To   *int   `json:"to,omitempty"` // nil: to the end, or until they died
}

func (s *Schedule) givesBack(who string, step int) {
	for i := range s.Held {
		if b := &s.Held[i]; b.Who == who && b.To == nil {
			b.To = &step
		}
	}
}

// An Outcome is what became of one buyer.
type Outcome struct {
	Buyer
	Receipt seckill.Receipt
	Err     error
	// Told are the answers to each call, of a buyer that asks the service.
	Told []judge.Call
	Dead bool
	// GaveUp: it waited, nothing could ever wake it any more, and its time was
	// up. WaitedFor counts leases that had to end before it got through.
	GaveUp    bool
	WaitedFor int
	// Expired: the lease was ended under it.
	Expired bool
	// Waited: at some moment it could not go on until another moved.
	Waited bool
	// Accepted: it was told that the order comes later.
	Accepted bool
	// Ended is the step after which it was through.
	Ended int
}

// An Answer is what a buyer was told.
type Answer struct {
	Who    string `json:"who"`
	Answer string `json:"answer"`
}

// Told is what the buyers were told.
func (s *Schedule) Told() (list []Answer) {
	for _, b := range s.Buyers {
		list = append(list, Answer{b.Name, s.names.Normalize(b.Answer())})
	}
	return list
}

// Answer is what the buyer was told, in words.
func (o Outcome) Answer() string {
	switch {
	case o.Dead:
		return "died"
	case o.Err != nil:
		return o.Err.Error()
	case o.Accepted:
		return "accepted"
	}
	if answer := actorKinds[o.Does].answer; answer != "" {
		return answer
	}
	return fmt.Sprintf("sold %d, %d left", o.Receipt.Quantity, o.Receipt.Remaining)
}

// A Problem is one thing that must not happen.
type Problem struct {
	Rule    string `json:"rule"` // a ledger rule, or one of those below
	Message string `json:"message"`
}

// Rules beside the ledger's.
const (
	RuleOverlap  = "two_holders" // one holder at a time
	RuleUnknown  = "unknown"     // without a fault every buyer is told what became of it
	RuleStuck    = "blocked"     // the next buyer gets through
	RuleError    = "error"       // without a fault no buyer sees a backend's error
	RuleHindered = "hindered"    // buyers of different SKUs do not wait for each other
	RuleStolen   = "stolen"      // only its holder frees a lock
	RuleKept     = "kept"        // a renewer that has asked knows when the lock is another's
	RuleEarly    = "early"       // nothing is sold before the sale starts
	RuleUntold   = "untold"      // what became of an accepted request is told when it is asked for
)

// LedgerRule reports whether a rule is about sales and what their buyers are told: the
// audit's, RuleEarly or RuleUntold. The others are about locks, waits and errors.
func LedgerRule(rule string) bool {
	switch rule {
	case RuleOverlap, RuleUnknown, RuleStuck, RuleError, RuleHindered, RuleStolen, RuleKept:
		return false
	}
	return true
}
