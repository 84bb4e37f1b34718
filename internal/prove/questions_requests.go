package prove

import (
	"context"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/seckill"
)

// requestQuestions returns the questions about requests other than purchases, two faults at once, and several SKUs.
func requestQuestions() []Question {
	return []Question{
		{ID: "cancel", Title: "cancelling",
			Asks: "Two cancel one order, or one cancels while another buys; replies are lost, a process dies, and " +
				"the cancellation is sent again: is each order given back once, and only once? Reservations, where " +
				"there are any, are paid, cancelled and swept, too.",
			premise: "it breaks when nothing is cancelled", breaks: wrongStock,
			scenarios: cancellingScenarios},
		{ID: "restock", Title: "restocking",
			Asks: "Units are added to the sale while others buy and cancel, by several calls with one key or two; " +
				"replies are lost, commands come late, a process dies, and the call is repeated: does the stock get " +
				"the units once, is none of them sold too early, and is nobody told sold out once they are there?",
			premise: "it breaks when nothing is added", breaks: wrongStock,
			scenarios: restockingScenarios},
		{ID: "reset", Title: "reset and start",
			Asks: "The sale is set anew, or starts, beside buyers, cancellations and another reset, or Redis " +
				"refuses a part of it: is the new sale's stock right, and is nothing sold before the start?",
			premise: "it breaks without a reset", breaks: wrongStock,
			scenarios: resetAndStartScenarios},
		{ID: "same-key", Title: "one key, one order",
			Asks: "Two copies of one request go through the whole service, in two processes; replies are lost, " +
				"commands come late, a process dies, and they are sent again: do all copies hear one final answer, " +
				"and is a request that has an order never refused? And has one user who buys with two keys one " +
				"order? Is a key refused that was used for another quantity or call, and not for another SKU? Where " +
				"a buyer is answered before the order is written: does every accepted request come to an order or a " +
				"refusal, also after a death, and is its buyer told which?",
			premise: "it breaks when every request comes once", breaks: explore.LedgerRule,
			scenarios: sameKeyScenarios},
		{ID: "two-faults", Title: "two faults",
			Asks:    "Two of the faults that it survives one at a time, in schedules drawn at random: is the stock right?",
			premise: "it breaks without a fault", ask: drawTwoFaults},
		{ID: "other-skus", Title: "other SKUs unhindered",
			Asks:   "Two buyers of different SKUs: does one ever wait for the other?",
			breaks: func(rule string) bool { return rule == explore.RuleHindered },
			scenarios: func(_ *trial) []*explore.Scenario {
				two := newBuyers(1, explore.Buys, explore.Buys)
				two[1].Other = true
				return []*explore.Scenario{{Name: "two buyers of different SKUs", Stock: 5, Buyers: two}}
			}},
	}
}

func cancellingScenarios(t *trial) []*explore.Scenario {
	beside := t.buyers(explore.Buys, explore.Cancels)
	beside[1].Again = 1
	more := append(t.reservations(),
		t.sharedTransaction("a shared transaction beside one who cancels", 6, nil, 2, explore.Cancels))
	// After the cancellation, one bucket has all units that are left, and two buyers want them.
	if t.info.Stock == seckill.InBuckets {
		more = append(more, t.sale("the last units come back, and two want them", 2, nil,
			explore.Cancels, explore.Buys, explore.Buys))
	}
	// Redis also stores the requests of each user, so one scenario sends the request of a cancelled order again.
	if t.info.Stock == seckill.InRowAndRedis || t.info.Stock == seckill.InStream {
		again := t.sale("one cancels, and their request comes again", 4, nil, explore.Cancels, explore.Buys)
		again.Buyers[1].Same, again.Buyers[1].Quantity = "A", again.Buyers[0].Quantity
		more = append(more, again)
	}
	return append(more,
		// A cancellation first reads its order. So other buyers may already wait when the cancellation reaches the
		// stock.
		newSale("two buy in one process, one cancels there", 6, nil,
			newBuyers(1, explore.Buys, explore.Buys, explore.Cancels)),
		newSale("two cancel the same order", 4, nil, t.twoCopies(0, explore.Cancels)),
		newSale("two cancel the same order, and again; a reply or a command is lost, or one dies", 4, fails,
			t.twoCopies(1, explore.Cancels)),
		newSale("one buys, one cancels, and again; a reply or a command is lost, or one dies", 4, fails, beside))
}

func restockingScenarios(t *trial) []*explore.Scenario {
	sameKey := append(t.twoCopies(1, explore.Restocks), t.buyers(explore.Buys, explore.Buys, explore.Buys)[2])
	other := sameKey[1]
	other.Name, other.Quantity, other.Again = "D", 1, 0
	repeated := []*explore.Scenario{
		t.sale("one buys while units are added, and again; a reply or a command is lost, or one dies", 2, fails,
			explore.Restocks, explore.Buys)}
	// This scenario is about restocks that arrive late. A strategy that breaks with any late command does not get this
	// scenario, because it would break here for the same reason.
	if t.info.Guarantees[catalog.LateCommand] != catalog.Breaks {
		repeated = append(repeated, t.sale("one buys while units are added, and again; a command is late", 2, late,
			explore.Restocks, explore.Buys))
	}
	for _, s := range repeated {
		s.Buyers[0].Again = 2
	}
	return append([]*explore.Scenario{
		t.sharedTransaction("a shared transaction while units are added", 3, nil, 2, explore.Restocks),
		t.sale("two want the last units while some are added", 2, nil, explore.Buys, explore.Buys, explore.Restocks),
		t.sale("one cancels while units are added with two keys", 2, nil,
			explore.Cancels, explore.Restocks, explore.Restocks),
		t.sale("one buys while units are added and the sale is reset", 2, nil,
			explore.Restocks, explore.Resets, explore.Buys),
		newSale("one buys while units are added by two calls with one key, which a third call uses for another number",
			2, nil, append(sameKey, other)),
	}, repeated...)
}

func resetAndStartScenarios(t *trial) []*explore.Scenario {
	list := []*explore.Scenario{
		t.sale("one buys while the sale is set anew", 4, nil, explore.Buys, explore.Resets),
		t.sale("two buy while the sale is set anew", 4, nil, explore.Buys, explore.Buys, explore.Resets),
		t.sale("one cancels while the sale is set anew", 4, nil, explore.Cancels, explore.Resets),
		// A single cancellation that adds its units to the old stock would write 4, which happens to be right.
		t.sale("two cancel their orders while the sale is set anew", 4, nil,
			explore.Cancels, explore.Cancels, explore.Resets),
		t.sale("two set the sale anew", 4, nil, explore.Resets, explore.Resets),
		t.sale("one buys while two set the sale anew", 4, nil, explore.Buys, explore.Resets, explore.Resets),
		t.sale("one buys while the sale starts", 4, nil, explore.Buys, explore.Starts),
		t.sharedTransaction("a shared transaction while the sale is set anew", 6, nil, 2, explore.Resets),
	}
	// This scenario is for strategies in which Redis may admit a buyer whom the stock row then refuses.
	if t.info.Stock == seckill.InRowAndRedis || t.info.Stock == seckill.InStream {
		list = append(list, newSale("one user buys with two keys while the sale starts", 4, nil,
			t.oneUser(explore.Buys, explore.Starts)))
	}
	if t.info.Accepts { // a reset must also forget requests that were accepted and have no order yet
		copies := append(t.twoCopies(0, explore.Accepts), t.buyers(explore.Buys, explore.Buys, explore.Resets)[2])
		list = append(list, newSale("two accept the same request while the sale is set anew", 4, nil, copies))
	}
	if t.info.Stock.Counter() != "" {
		list = append(list, t.refusedCommands("one cancels while the sale is set anew; Redis refuses a command, "+
			"perhaps of a script", t.buyers(explore.Cancels, explore.Resets), "DEL", "HSET", "SET", "XGROUP")...)
	}
	// A process that writes orders may be paused after it has read an entry of the stream in Redis. Meanwhile another
	// process may refuse that entry.
	if t.info.Stock == seckill.InStream {
		list = append(list, t.sale("two buy while the sale starts, the writer's lease ends", 4, ends,
			explore.Buys, explore.Buys, explore.Starts))
	}
	return list
}

func sameKeyScenarios(t *trial) []*explore.Scenario {
	used := t.buyers(explore.Asks, explore.Asks, explore.Asks)
	used[1].Same, used[2].Same, used[2].Other = "A", "A", true
	oneKey := t.twoCopies(1, explore.Asks)
	oneKey[1].User = oneKey[1].Name // so two users send different requests with one key
	list := append(t.acceptedRequests(), t.sharedTransaction("a shared transaction, an id is taken", 6,
		[]explore.Fault{explore.IDTaken}, t.processes, explore.Buys))
	list = append(list, &explore.Scenario{Name: "one key for two quantities, and for another SKU", Stock: 4, Buyers: used},
		&explore.Scenario{Name: "two users happen to have one key", Stock: 5, Buyers: oneKey})
	if t.info.Locker == nil { // the service writes refusals the same way for every strategy, so locks need not be asked
		refused := newBuyers(1, explore.Asks, explore.Repeats, explore.Asks)
		refused[2].Same, refused[2].User, refused[2].Quantity = "B", "C", 1 // the third buyer is another user with B's key
		list = append(list, &explore.Scenario{Name: "two in one process come too late, beside a request that has its order",
			Stock: 1, Buyers: refused})
	}
	if t.info.Reserves {
		used := t.buyers(explore.Asks, explore.Reserves)
		used[1].Same, used[1].Quantity = "A", used[0].Quantity
		list = append(list, &explore.Scenario{Name: "one key for a purchase and a reservation", Stock: 4, Buyers: used})
	}
	return append(list,
		&explore.Scenario{Name: "a request that has its order is sent again beside another buyer", Stock: 5,
			Buyers: t.buyers(explore.Repeats, explore.Asks)},
		&explore.Scenario{Name: "two copies of one request, for the last units", Stock: 2,
			Buyers: t.twoCopies(1, explore.Asks)},
		&explore.Scenario{Name: "two copies of one request, and again; a reply or a command is lost, or one dies", Stock: 4,
			Buyers: t.twoCopies(1, explore.Asks), Faults: fails},
		&explore.Scenario{Name: "two copies of one request, for the last units; a command comes late", Stock: 2,
			Buyers: t.twoCopies(1, explore.Asks), Faults: late},
		&explore.Scenario{Name: "one user buys with two keys", Stock: 5, Buyers: t.oneUser(explore.Asks)})
}

// acceptedRequests returns the scenarios of buyers that are answered before their orders are
// written. It returns none if the strategy always writes the order first.
func (t *trial) acceptedRequests() []*explore.Scenario {
	if !t.info.Accepts {
		return nil
	}
	// The first buyer is answered before its order is written, and the second one waits for its order. In two
	// processes the first buyer repeats a request whose answer was lost. In one process it does not, because the
	// second answer would hide a wrong first answer.
	one, two := newBuyers(1, explore.Accepts, explore.Buys), t.buyers(explore.Accepts, explore.Buys)
	two[0].Again = 1
	faults := append(slices.Clone(dies), lost...)
	return []*explore.Scenario{
		newSale("one is accepted, one buys, and writes for both", 6, nil, two),
		newSale("one process accepts and writes; a reply or a command is lost, or it dies", 6, faults, one),
		newSale("one accepts, another writes; a reply or a command is lost, or one dies", 6, faults, two),
		newSale("two accept the same request; a reply or a command is lost, or one dies", 6, faults,
			t.twoCopies(1, explore.Accepts))}
}

// reservations returns the scenarios in which a payment, a cancellation and sweepers act on one reservation. It
// returns none if the strategy has no reservations.
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
		// In this scenario and some below, the order is cancelled, not the reservation. An order can be cancelled
		// even after it was paid, and the strategy does this with another statement.
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

var singleFaults = []struct {
	question string
	faults   []explore.Fault
}{{"dead-holder", dies}, {"lease-end", ends}, {"lost-reply", lost}, {"late-command", late}}

func drawTwoFaults(ctx context.Context, t *trial) (Cell, error) {
	var faults []explore.Fault
	for _, s := range singleFaults {
		c, asked := t.cells[s.question]
		if !asked {
			var err error
			if c, err = t.answerQuestion(ctx, chooseQuestions([]string{s.question})[0]); err != nil {
				return c, err
			}
		}
		if c.Answer == Holds {
			faults = append(faults, s.faults...)
		}
	}
	if len(faults) == 0 {
		return notAsked("it survives no single fault")
	}
	c, broken := Cell{Answer: Holds}, &brokenRules{inScope: wrongStock}
	for _, second := range []explore.Action{explore.Buys, explore.Cancels} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true,
			Buyers: t.buyers(explore.Buys, second), Faults: faults, MaxFaults: 2}
		l := t.searchLimits(broken)
		l.Schedules, l.Random = 1, max(t.options.Schedules/2, 1)
		res, err := t.world.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.Add(res.Bounds)
	}
	return t.keepCounterexamples(ctx, "two-faults", c, broken)
}
