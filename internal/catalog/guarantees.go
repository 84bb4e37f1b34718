package catalog

import (
	"maps"
	"slices"

	"seckill/internal/backend"
)

// A Question is the ID of a question that the proof (internal/prove) asks of every strategy.
type Question string

// A strategy can declare the expected answers to these questions. Each comment says what a strategy guarantees, or
// what it tolerates, if its answer is Holds.
const (
	Oversell    Question = "oversell"     // buyers in one process never buy more units than there are
	LostUpdate  Question = "lost-update"  // with buyers in one process, stock and orders agree in the end
	SoldOut     Question = "sold-out"     // a buyer gets the answer "sold out" only if too few units are left
	Processes   Question = "processes"    // oversell and lost-update have the same answers with several processes
	DeadHolder  Question = "dead-holder"  // if a buyer dies, nothing is sold twice, and others wait for a bounded time
	BuyerLeaves Question = "leaves"       // a buyer who hangs up gets no false answer, and blocks no other buyer
	LeaseEnd    Question = "lease-end"    // a lease, session or connection may end while its holder is at work
	Clocks      Question = "clocks"       // clocks of processes may differ by more than a lease
	Owner       Question = "owner"        // a release never frees the lock of another holder
	LostReply   Question = "lost-reply"   // a command or its reply may be lost
	LateCommand Question = "late-command" // a command may arrive after its sender has given up
	Renewal     Question = "renewal"      // a renewal never takes, keeps or frees another holder's lock
	// a cancelled order's units return once, even if replies are lost or the order is cancelled again
	Cancel  Question = "cancel"
	Restock Question = "restock" // units that are added to a sale enter its stock once, even if replies are lost
	Reset   Question = "reset"   // a sale may be reset, or start, while buyers buy
	// a request that is sent several times gets one order; an accepted request gets an order or a refusal
	SameKey   Question = "same-key"
	TwoFaults Question = "two-faults" // two faults may happen at once, if the strategy survives each of them alone
	OtherSKUs Question = "other-skus" // buyers of different SKUs do not wait for each other
	NodeLoss  Question = "node-loss"  // the strategy's backend may lose one node
)

// Guarantees maps questions to the answers that are expected of a strategy.
type Guarantees map[Question]Expectation

// An Expectation is an answer of the proof: Holds or Breaks.
type Expectation string

const (
	Holds  Expectation = "holds"
	Breaks Expectation = "breaks"
)

var (
	// Sound is for strategies that are right as long as no process dies, no connection breaks and no lease ends.
	Sound = Guarantees{}.Holds(Oversell, LostUpdate, Processes, Cancel, Restock, Reset, SameKey)
	// Robust is for strategies that are also right when a process dies, a lease ends, a reply is lost or a command
	// arrives late.
	Robust = Sound.Holds(DeadHolder, LeaseEnd, LostReply, LateCommand, TwoFaults, OtherSKUs)
	// Leased is for locks with a lease or a session. A holder that is paused until the lease has ended goes on
	// selling, at the same time as the next holder. A command that arrives late is not refused.
	Leased = Sound.Holds(DeadHolder, LostReply, TwoFaults, OtherSKUs).Breaks(LeaseEnd, LateCommand)
	// Unsound is for strategies that are shipped as bad examples.
	Unsound = Guarantees{}.Breaks(Oversell, LostUpdate, Processes)
)

// Holds returns a copy of g in which the expected answer to these questions is Holds.
func (g Guarantees) Holds(questions ...Question) Guarantees { return g.with(Holds, questions) }

// Breaks returns a copy of g in which the expected answer to these questions is Breaks.
func (g Guarantees) Breaks(questions ...Question) Guarantees { return g.with(Breaks, questions) }

func (g Guarantees) with(e Expectation, questions []Question) Guarantees {
	g = maps.Clone(g)
	for _, q := range questions {
		g[q] = e
	}
	return g
}

// Broken reports whether the strategy is shipped as a bad example, which loses updates or oversells
// even without a fault.
func (i Info) Broken() bool {
	return i.Guarantees[Oversell] == Breaks || i.Guarantees[LostUpdate] == Breaks
}

// Breaks returns the questions to which the expected answer is Breaks.
func (i Info) Breaks() []string {
	var questions []string
	for _, q := range slices.Sorted(maps.Keys(i.Guarantees)) {
		if i.Guarantees[q] == Breaks {
			questions = append(questions, string(q))
		}
	}
	return questions
}

// BreaksIn reports whether a sale with one unit for each buyer oversells with the given number of service processes. A
// lock inside one process does not keep out the buyers of another process.
func (i Info) BreaksIn(processes int) bool {
	return !i.Refuses && (i.Broken() || processes > 1 && i.Guarantees[Processes] == Breaks)
}

// Names of the lab's topologies on which some strategies break.
const (
	onGalera   = "galera"
	onSentinel = "sentinel"
)

// Unfit returns why the strategy breaks on a topology, or "" if it is not known to break there.
func (i Info) Unfit(topology string) string {
	switch {
	case topology == onGalera && i.OneNode:
		return "its lock is local to one node of the database, and buyers come to several: two hold it at once, and it oversells"
	case topology == onSentinel && slices.Contains(i.Needs, backend.Redis) && i.Guarantees[NodeLoss] == Breaks:
		return "a failover of Redis forgets what no replica has yet: a lock is granted twice, or a count goes back"
	}
	return ""
}

// UnfitOn returns the topologies on which the strategy breaks.
func (i Info) UnfitOn() []string {
	on := []string{}
	for _, topology := range []string{onGalera, onSentinel} {
		if i.Unfit(topology) != "" {
			on = append(on, topology)
		}
	}
	return on
}
