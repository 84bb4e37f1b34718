// Package explore runs buyers through many orders (schedules) of their backend commands, on real servers.
//
// Each buyer runs the unchanged strategy. A tap.Tap stops the buyer before each command, and a scheduler lets one buyer
// continue at a time. A command may wait inside a server (for a row, GET_LOCK, BLPOP or a watch); the explorer learns
// this from the server and lets the other buyers continue. A Schedule is one run from a new SKU to the audit. Package
// policy, which knows no servers, decides which schedules are run.
//
// The tables actorKinds (does.go) and faultKinds (faults.go) define what actors do and what may go
// wrong. The package's example explores a SQL transaction that is no strategy of this project.
package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/explore/policy"
	"seckill/internal/judge"
	"seckill/internal/probe"
	"seckill/internal/seckill"
)

// A Scenario is what an exploration runs: the actors, their actions and the possible faults.
type Scenario struct {
	Name   string  `json:"name,omitempty"`
	Stock  int64   `json:"stock"` // the number of units on sale
	Buyers []Buyer `json:"buyers"`
	// Faults may happen at any moment, but at most MaxFaults of them in one schedule.
	Faults    []Fault `json:"faults,omitzero"`
	MaxFaults int     `json:"max_faults,omitempty"`
	// Denies is the Redis command that the fault Refused forbids.
	Denies string `json:"denies,omitempty"`
	// Renewals limits how often goroutines that renew a lock wake up in one schedule. The policy chooses the moments.
	// If Renewals is 0, these goroutines never wake up.
	Renewals int `json:"renewals,omitempty"`
	// DiesFirst lets the first buyer run alone and die before one of its commands, which the policy chooses. The
	// other buyers start after the lease of the first buyer has ended.
	DiesFirst bool `json:"dies_first,omitempty"`
	// InLine builds a queue before the first choice of the schedule. The first buyer takes the lock, and the other
	// buyers start one by one and wait for the lock.
	InLine bool `json:"in_line,omitempty"`
	// Latecomers is the number of buyers at the end of the list Buyers that InLine leaves out of the queue. They
	// start when the queue is complete, and each of their commands is a choice. If there are latecomers, LeaseEnds
	// ends the session of a waiting buyer instead of the holder's.
	Latecomers int `json:"latecomers,omitempty"`
	// Next adds one more buyer when all others are done. That buyer finds locks that were left
	// behind and stock that was lost.
	Next bool `json:"next,omitempty"`
	// Clears lets LeaseEnds remove even a lock that has no lease. An operator who believes that the holder is dead
	// does the same.
	Clears bool `json:"clears,omitempty"`
	// Wakes makes the end of a wait a step of its own. So a buyer can leave when its wait is over
	// but before it goes on.
	Wakes bool `json:"wakes,omitempty"`
	// Unheard makes a buyer leave while its next command to ZooKeeper or etcd is on its way. The command takes effect,
	// but the buyer gets the error of its ended context.
	Unheard bool `json:"unheard,omitempty"`
}

// A Buyer is one actor of a scenario.
type Buyer struct {
	Name     string `json:"name"`    // "A"
	Process  int    `json:"process"` // buyers with the same number share a process
	Quantity int64  `json:"quantity,omitempty"`
	Action   Action `json:"does"`
	Other    bool   `json:"other,omitempty"` // buys the second SKU
	// Same is the name of the buyer whose order this buyer cancels, or whose request it repeats. If
	// Same is "", the buyer acts on its own order or request.
	Same string `json:"same,omitempty"`
	// User is the name of the buyer on whose behalf this buyer sends requests; "" if on its own.
	User string `json:"user,omitempty"`
	// Again is how often the buyer repeats a request that got no final answer. If the action is Locks, it is how often
	// the buyer takes the lock once more.
	Again int `json:"again,omitempty"`
}

// A Fault is something that goes wrong between two commands of a buyer, at a moment that the scheduler chooses.
type Fault = policy.Fault

const (
	// LeaseEnds ends the lease of a lock at the server: the key expires, the session's nodes are deleted, the lease is
	// revoked or the connection is killed. The holder does not learn of this end, because the holder is paused.
	LeaseEnds Fault = "lease ends"
	// Dies ends the buyer's process before the buyer's next command, with all other buyers in that
	// process. No clean-up runs; the connections close.
	Dies Fault = "dies"
	// Leaves ends the buyer's context, as when the client disconnects or a deadline passes. The
	// process lives on, but it can send no command under that context any more.
	Leaves Fault = "leaves"
	// Panics makes the buyer's code panic instead of writing to the database; the service recovers.
	// The process lives on.
	Panics Fault = "panics"
	// GivenUp makes the server end the session or the lease of a dead process. It can happen at any moment after Dies,
	// and does not count towards Scenario.MaxFaults.
	GivenUp Fault = "given up by the server"
	// IDTaken inserts a row with the id of the last order that the next command will write, as if another process had
	// generated the same id in the same microsecond. It applies only to commands that write several orders.
	IDTaken Fault = "id taken"
	// ReplyLost executes the next command, but the buyer sees an error.
	ReplyLost Fault = "reply lost"
	// CommandLost drops the next command, and the buyer sees an error.
	CommandLost Fault = "command lost"
	// Refused makes Redis refuse the command Scenario.Denies while the buyer's next command runs, as if an
	// administrator had withdrawn a right. If the next command is a script, its writes before the refusal stay.
	Refused Fault = "refused"
	// Delayed keeps the next command in the network. The buyer sees an error and continues.
	Delayed Fault = "delayed"
	// Arrives delivers a delayed command at any moment after Delayed. It does not count towards Scenario.MaxFaults.
	Arrives Fault = "arrives late"
	// ClockJumps moves the clock of the buyer's process ahead by more than a lease, as a time server with the wrong
	// time does. The servers' clocks and all timers are unaffected.
	ClockJumps Fault = "clock jumps"
	// NodeLost stops one of several servers (Options.Node), and another takes over.
	NodeLost Fault = "a node is lost"
	// TimePasses ends leases, and waits that have a time limit. It happens when no buyer can continue.
	TimePasses Fault = "time passes"
)

// A Choice selects one step of a schedule (see policy.Choice).
type Choice = policy.Choice

// A Step is a choice and its result. Some steps are not chosen by the policy: those with ByItself true, with the fault
// TimePasses, or with the result gaveUp. After such a step, Forced is true on the first of the next options
// (policy.Option).
type Step struct {
	Choice
	Backend string `json:"backend,omitempty"`
	Command string `json:"command,omitempty"` // the text after Normalizer.Normalize
	Result  string `json:"result,omitempty"`  // "", "waits", an error, or the effect of a fault
	Reply   string `json:"reply,omitempty"`   // the normalized tap.Command.Reply
	// Woke has the names of the buyers that had waited inside a server until this step.
	Woke []string `json:"woke,omitempty"`
	// Values lists what the servers stored after the step, if the run records this (see run.peek).
	Values []probe.Value `json:"values,omitempty"`

	// ByItself is true for a step that nobody chose, because nothing else could happen.
	ByItself bool `json:"by_itself,omitempty"`
}

// String returns the step on one line: "A UPDATE stock … → 1 row", "A arrives late: COMMIT".
func (s Step) String() string {
	// The colon is written only between a fault and a command.
	words := s.Who + " " + strings.Trim(fmt.Sprint(s.Fault, ": ", s.Command), ": ")
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

func (s Step) isChosen() bool { return !s.ByItself && s.Fault != TimePasses && s.Result != gaveUp }

// A Schedule contains the steps of one run, from a new SKU to the audit.
type Schedule struct {
	Scenario *Scenario
	Steps    []Step
	// Preemptions counts the steps that another buyer made although the buyer of the step before could continue.
	Preemptions int
	Buyers      []Outcome
	Audit       judge.Report
	// Held lists the periods during which buyers believed that they had the lock.
	Held     []Belief
	Problems []Problem
	// Outage is the time from NodeLost until all servers answered again.
	Outage time.Duration

	names *Normalizer
	// locks lists failures of the lock: two buyers held it although the lease of the first had not ended, or a renewer
	// continued although another buyer had the lock when the answer to the renewal came.
	locks []Problem
}

// A Belief is a period during which a buyer believes that it has the lock. From is the index of the step at which the
// buyer got the lock; -1 if that was before the first step. To is the index of the step that gives the lock back.
type Belief struct {
	Who  string `json:"who"`
	From int    `json:"from"`
	To   *int   `json:"to,omitempty"` // nil if the period lasted until the end of the schedule or the buyer's death
}

func (s *Schedule) endHold(who string, step int) {
	for i := range s.Held {
		if b := &s.Held[i]; b.Who == who && b.To == nil {
			b.To = &step
		}
	}
}

// An Outcome is the result of one buyer.
type Outcome struct {
	Buyer
	Receipt seckill.Receipt
	Err     error
	// Calls are the requests that the buyer sent to the service, with their answers.
	Calls []judge.Call
	Dead  bool
	// GaveUp is true if the buyer waited and nothing could ever have woken it. WaitedFor counts the leases that had
	// to end while the buyer could not continue.
	GaveUp    bool
	WaitedFor int
	// Expired is true if a fault ended the buyer's lease.
	Expired bool
	// Waited is true if the buyer at some time could not continue until another buyer had made a step.
	Waited bool
	// Accepted is true if the buyer got the answer that its purchase is accepted and the order comes later.
	Accepted bool
	// Ended is the number of steps in the schedule when the buyer finished.
	Ended int
}

// An Answer is the final answer to a buyer.
type Answer struct {
	Who    string `json:"who"`
	Answer string `json:"answer"`
}

// Answers returns the final answers to all buyers.
func (s *Schedule) Answers() []Answer {
	var list []Answer
	for _, b := range s.Buyers {
		list = append(list, Answer{b.Name, s.names.Normalize(b.Answer())})
	}
	return list
}

// Answer returns the final answer to the buyer, in words.
func (o Outcome) Answer() string {
	switch {
	case o.Dead:
		return "died"
	case o.Err != nil:
		return o.Err.Error()
	case o.Accepted:
		return "accepted"
	}
	if answer := actorKinds[o.Action].answer; answer != "" {
		return answer
	}
	return fmt.Sprintf("sold %d, %d left", o.Receipt.Quantity, o.Receipt.Remaining)
}

// A Problem is one violation of a rule.
type Problem struct {
	Rule    string `json:"rule"` // a rule of package judge, or one of the constants below
	Message string `json:"message"`
}

// These rules apply to schedules, in addition to the rules of package judge.
const (
	RuleOverlap  = "two_holders" // a lock has one holder at a time
	RuleUnknown  = "unknown"     // without a fault, every buyer learns the result of its request
	RuleStuck    = "blocked"     // a buyer can continue when all others have left
	RuleError    = "error"       // without a fault, no buyer sees the error of a backend
	RuleHindered = "hindered"    // buyers of different SKUs do not wait for each other
	RuleStolen   = "stolen"      // only the holder of a lock frees it
	RuleKept     = "kept"        // a renewer stops when it has learned that another buyer has the lock
	RuleEarly    = "early"       // nothing is sold before the sale starts
	RuleUntold   = "untold"      // a look-up returns the result of an accepted request
)

// LedgerRule reports whether a rule is about sales and the answers to buyers: a rule of package judge,
// RuleEarly or RuleUntold. The other rules are about locks, waits and errors.
func LedgerRule(rule string) bool {
	return !slices.Contains([]string{
		RuleOverlap, RuleUnknown, RuleStuck, RuleError, RuleHindered, RuleStolen, RuleKept}, rule)
}
