package prove

import (
	"slices"

	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// soldOut has no next buyer, because that buyer would buy the units that prove the answer wrong.
func soldOut() Question {
	return Question{ID: "sold-out", Title: "sold out told rightly",
		Asks: "Two buyers each want all units, or one wants more than there are, or one of them dies, or a " +
			"batch follows one that may fail: is a buyer told sold out of units that stay unsold to the end?",
		premise:   "it breaks with enough for all",
		breaks:    func(rule string) bool { return rule == judge.RuleUndersold },
		scenarios: soldOutScenarios}
}

func soldOutScenarios(t *trial) []*explore.Scenario {
	all, more := newBuyers(t.processes, explore.Buys, explore.Buys), newBuyers(t.processes, explore.Buys, explore.Buys)
	all[1].Quantity = 2
	more[0].Quantity, more[1].Quantity = 3, 2
	list := []*explore.Scenario{
		{Name: "two buyers each want all units", Stock: 2, Buyers: all},
		{Name: "one wants all units, one more than there are", Stock: 2, Buyers: more},
	}
	if t.processes > 1 { // a process takes all its buyers along
		list = append(list, &explore.Scenario{Name: "two buyers each want all units, one may die", Stock: 2,
			Buyers: all, Faults: dies})
	}
	if t.info.Shares { // the remaining stock of a batch is not stored before its COMMIT
		batches := newBuyers(1, explore.Buys, explore.Buys, explore.Buys, explore.Comes, explore.Comes)
		for i := range batches {
			batches[i].Quantity = int64(1 + i/3)
		}
		list = append(list, &explore.Scenario{Name: "a batch behind another, whose COMMIT may be lost", Stock: 4,
			Buyers: batches, Faults: []explore.Fault{explore.CommandLost}})
	}
	if t.info.Stock == seckill.InRowAndRedis { // units that are returned to neither are refused to the next buyer
		back := newBuyers(t.processes, explore.Cancels, explore.Forgets)
		list = append(list, &explore.Scenario{Name: "the last units come back while Redis loses its data",
			Stock: 2, Next: true, Buyers: back})
	}
	return list
}

func cancelling() Question {
	return Question{ID: "cancel", Title: "cancelling",
		Asks: "Two cancel one order, or one cancels while another buys; replies are lost, a process dies, and " +
			"the cancellation is sent again: is each order given back once, and only once? Reservations, where " +
			"there are any, are paid, cancelled and swept, too.",
		premise: "it breaks when nothing is cancelled", breaks: wrongStock,
		scenarios: cancellingScenarios}
}

func cancellingScenarios(t *trial) []*explore.Scenario {
	beside := newBuyers(t.processes, explore.Buys, explore.Cancels)
	beside[1].Again = 1
	more := append(t.sharedTransactions(2, explore.Cancels,
		explore.Scenario{Name: "a shared transaction beside one who cancels", Stock: 6}),
		t.reservations()...)
	if t.info.Stock == seckill.InBuckets { // then one bucket has all units
		more = append(more, &explore.Scenario{Name: "the last units come back, and two want them", Stock: 2, Next: true,
			Buyers: newBuyers(t.processes, explore.Cancels, explore.Buys, explore.Buys)})
	}
	return append(more,
		// A cancellation reads the order first, so it reaches the stock when others wait.
		&explore.Scenario{Name: "two buy in one process, one cancels there", Stock: 6, Next: true,
			Buyers: newBuyers(1, explore.Buys, explore.Buys, explore.Cancels)},
		&explore.Scenario{Name: "two cancel the same order", Stock: 4, Next: true,
			Buyers: twoCopies(t.processes, 0, explore.Cancels)},
		&explore.Scenario{Name: "two cancel the same order, and again; a reply or a command is lost, or one dies",
			Stock: 4, Next: true,
			Buyers: twoCopies(t.processes, 1, explore.Cancels), Faults: fails},
		&explore.Scenario{Name: "one buys, one cancels, and again; a reply or a command is lost, or one dies",
			Stock: 4, Next: true,
			Buyers: beside, Faults: fails})
}

func resetAndStart() Question {
	return Question{ID: "reset", Title: "reset and start",
		Asks: "The sale is set anew, or starts, beside buyers, cancellations and another reset, or Redis " +
			"refuses a part of it: is the new sale's stock right, and is nothing sold before the start?",
		premise: "it breaks without a reset", breaks: wrongStock,
		scenarios: resetAndStartScenarios}
}

func resetAndStartScenarios(t *trial) []*explore.Scenario {
	few := func(name string, does ...explore.Action) *explore.Scenario {
		return &explore.Scenario{Name: name, Stock: 4, Next: true, Buyers: newBuyers(t.processes, does...)}
	}
	list := t.sharedTransactions(2, explore.Resets, explore.Scenario{Name: "a shared transaction while the sale is " +
		"set anew", Stock: 6})
	if t.info.Stock == seckill.InRowAndRedis || t.info.Stock == seckill.InStream { // which let buyers through whom the row refuses
		list = append(list, &explore.Scenario{Name: "one user buys with two keys while the sale starts", Stock: 4, Next: true,
			Buyers: oneUser(t.processes, explore.Buys, explore.Starts)})
	}
	if t.info.Accepts { // a reset also forgets requests that were only accepted
		copies := append(twoCopies(t.processes, 0, explore.Accepts), newBuyers(t.processes, explore.Buys, explore.Buys,
			explore.Resets)[2])
		list = append(list, &explore.Scenario{Name: "two accept the same request while the sale is set anew",
			Stock: 4, Next: true,
			Buyers: copies})
	}
	if t.info.Stock != seckill.InRow {
		list = append(list, t.refusedCommands("one cancels while the sale is set anew; Redis refuses a command, "+
			"perhaps of a script",
			newBuyers(t.processes, explore.Cancels, explore.Resets), "DEL", "HSET", "SET", "XGROUP")...)
	}
	if t.info.Stock == seckill.InStream { // a writer may sleep, and another one may refuse what it has read
		taken := few("two buy while the sale starts, the writer's lease ends", explore.Buys, explore.Buys, explore.Starts)
		taken.Faults = ends
		list = append(list, taken)
	}
	return append([]*explore.Scenario{
		few("one buys while the sale is set anew", explore.Buys, explore.Resets),
		few("two buy while the sale is set anew", explore.Buys, explore.Buys, explore.Resets),
		few("one cancels while the sale is set anew", explore.Cancels, explore.Resets),
		// With one order only, the wrong stock would happen to equal that of the new sale.
		few("two cancel their orders while the sale is set anew", explore.Cancels, explore.Cancels, explore.Resets),
		few("two set the sale anew", explore.Resets, explore.Resets),
		few("one buys while two set the sale anew", explore.Buys, explore.Resets, explore.Resets),
		few("one buys while the sale starts", explore.Buys, explore.Starts),
	}, list...)
}

func sameKey() Question {
	return Question{ID: "same-key", Title: "one key, one order",
		Asks: "Two copies of one request go through the whole service, in two processes; replies are lost, " +
			"commands come late, a process dies, and they are sent again: do all copies hear one final answer, " +
			"and is a request that has an order never refused? And has one user who buys with two keys one " +
			"order? Is a key refused that was used for another quantity or call, and not for another SKU? Where " +
			"a buyer is answered before the order is written: does every accepted request come to an order or a " +
			"refusal, also after a death, and is its buyer told which?",
		premise: "it breaks when every request comes once", breaks: explore.LedgerRule,
		scenarios: sameKeyScenarios}
}

func sameKeyScenarios(t *trial) []*explore.Scenario {
	used := newBuyers(t.processes, explore.Asks, explore.Asks, explore.Asks)
	used[1].Same, used[2].Same, used[2].Other = "A", "A", true
	list := append(t.sharedTransactions(t.processes, explore.Buys,
		explore.Scenario{Name: "a shared transaction, an id is taken", Stock: 6,
			Faults: []explore.Fault{explore.IDTaken}}), t.acceptedRequests(t.processes)...)
	list = append(list, &explore.Scenario{Name: "one key for two quantities, and for another SKU", Stock: 4, Buyers: used},
		&explore.Scenario{Name: "two users happen to have one key", Stock: 5, Buyers: oneKey(t.processes)})
	if t.info.Reserves {
		used := newBuyers(t.processes, explore.Asks, explore.Reserves)
		used[1].Same, used[1].Quantity = "A", used[0].Quantity
		list = append(list, &explore.Scenario{Name: "one key for a purchase and a reservation", Stock: 4, Buyers: used})
	}
	return append(list,
		&explore.Scenario{Name: "a request that has its order is sent again beside another buyer", Stock: 5,
			Buyers: newBuyers(t.processes, explore.Repeats, explore.Asks)},
		&explore.Scenario{Name: "two copies of one request, for the last units", Stock: 2,
			Buyers: twoCopies(t.processes, 1, explore.Asks)},
		&explore.Scenario{Name: "two copies of one request, and again; a reply or a command is lost, or one dies", Stock: 4,
			Buyers: twoCopies(t.processes, 1, explore.Asks), Faults: fails},
		&explore.Scenario{Name: "two copies of one request, for the last units; a command comes late", Stock: 2,
			Buyers: twoCopies(t.processes, 1, explore.Asks), Faults: late},
		&explore.Scenario{Name: "one user buys with two keys", Stock: 5, Buyers: oneUser(t.processes, explore.Asks)})
}

// acceptedRequests returns the scenarios of buyers that are answered before their orders are
// written; none for a strategy that never does this.
func (t *trial) acceptedRequests(processes int) []*explore.Scenario {
	if !t.info.Accepts {
		return nil
	}
	// One buyer does not wait, the other one buys. In two processes they repeat a request whose answer was
	// lost. In one process they do not, because the second answer would hide a wrong first answer.
	one, two := newBuyers(1, explore.Accepts, explore.Buys), newBuyers(processes, explore.Accepts, explore.Buys)
	two[0].Again = 1
	faults := append(slices.Clone(dies), lost...)
	return []*explore.Scenario{
		{Name: "one is accepted, one buys, and writes for both", Stock: 6, Next: true, Buyers: two},
		{Name: "one process accepts and writes; a reply or a command is lost, or it dies", Stock: 6, Next: true,
			Buyers: one, Faults: faults},
		{Name: "one accepts, another writes; a reply or a command is lost, or one dies", Stock: 6, Next: true,
			Buyers: two, Faults: faults},
		{Name: "two accept the same request; a reply or a command is lost, or one dies", Stock: 6, Next: true,
			Buyers: twoCopies(processes, 1, explore.Accepts), Faults: faults}}
}

// reservations returns the scenarios in which a payment, a cancellation and sweepers act on one
// reservation; none for a strategy without reservations.
func (t *trial) reservations() (list []*explore.Scenario) {
	if !t.info.Reserves {
		return nil
	}
	at := func(again int, does ...explore.Action) []explore.Buyer {
		all := newBuyers(2, does...)
		for i := range all {
			all[i].Quantity, all[i].Again = 2, again
			if i > 0 {
				all[i].Same = "A"
			}
		}
		return all
	}
	for _, s := range []explore.Scenario{
		{Name: "one pays, a sweeper comes", Buyers: at(0, explore.Pays, explore.Sweeps)},
		{Name: "one pays after the deadline", Buyers: at(0, explore.PaysLate)},
		{Name: "one cancels, a sweeper comes", Buyers: at(0, explore.Releases, explore.Sweeps)},
		{Name: "one pays, one cancels", Buyers: at(0, explore.Pays, explore.Releases)},
		{Name: "two sweepers", Buyers: at(0, explore.Sweeps, explore.Sweeps)},
		{Name: "one pays, one cancels, a sweeper comes", Buyers: at(0, explore.Pays, explore.Releases, explore.Sweeps)},
		// An order is cancelled also when it is paid, and by another statement than a reservation.
		{Name: "a sweeper comes, one cancels the order", Buyers: at(0, explore.Sweeps, explore.Cancels)},
		{Name: "one pays, one cancels the order, a sweeper comes", Buyers: at(0, explore.Pays, explore.Cancels,
			explore.Sweeps)},
		{Name: "one cancels, one cancels the order", Buyers: at(0, explore.Releases, explore.Cancels)},
		{Name: "one pays after the deadline, one cancels", Buyers: at(0, explore.PaysLate, explore.Releases)},
		{Name: "one pays after the deadline, one cancels the order", Buyers: at(0, explore.PaysLate, explore.Cancels)},
		{Name: "one pays after the deadline, a sweeper comes", Buyers: at(0, explore.PaysLate, explore.Sweeps)},
		{Name: "one pays, a sweeper comes; a reply or a command is lost, or one dies",
			Buyers: at(1, explore.Pays, explore.Sweeps), Faults: fails},
	} {
		s.Stock, s.Next = 3, true
		list = append(list, &s)
	}
	return list
}
