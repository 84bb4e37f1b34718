package judge

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"seckill/internal/seckill"
)

// restocked returns the sale of clean, with 4 units that the operator adds from 300 to 400 ms.
func restocked() *Evidence {
	e := clean()
	e.addUnits(4)
	e.restockCall().at(300, 400)
	return e
}

// addUnits adds a restock that went as it should.
func (e *Evidence) addUnits(units int64) {
	e.Snapshot.Stock.Initial += units
	e.Snapshot.Stock.Num += units
	e.bought(OperatorOf("more"), units, e.Snapshot.Stock.Initial, Cancelled, OutcomeRestocked)
	e.told(OperatorOf("more"), CallBuy).Kind = CallRestock
}

func (e *Evidence) restock() *Order { return e.order(OperatorOf("more")) }

func (e *Evidence) restockCall() *Call { return e.told(OperatorOf("more"), CallRestock) }

// arriving makes the restock's units not yet arrived in the stock.
func arriving(e *Evidence) {
	e.restock().Status = Active
	e.Snapshot.Stock.Num -= 4
}

func TestRestocks(t *testing.T) {
	judged(t, restocked, []planted{
		{"as it should be", all(), ""},
		{"the new units are bought", oneMore, ""},
		{"a refusal before", func(e *Evidence) { e.told(4, CallBuy).at(100, 200) }, ""},
		{"a refusal while they are added", func(e *Evidence) { e.told(4, CallBuy).at(350, 500) }, ""},
		{"a refusal afterwards", func(e *Evidence) { e.told(4, CallBuy).at(500, 600) }, "undersold"},
		{"a refusal after a call without an answer", func(e *Evidence) {
			e.told(4, CallBuy).at(500, 600)
			e.restockCall().Outcome = OutcomeUnknown
		}, ""},
		{"on their way, and not told", func(e *Evidence) { arriving(e); e.restockCall().Outcome = OutcomeUnknown }, ""},
		{"on their way, and told to be there", arriving, RuleRestock},
		{"lost", row(0), RuleLostUnits},
		{"added twice", row(8), "lost_update undersold"},
		{"told, and nowhere", func(e *Evidence) {
			e.Snapshot.Orders = slices.DeleteFunc(e.Snapshot.Orders, func(o Order) bool { return o.IsRestock() })
			e.Snapshot.Stock.Num, e.Snapshot.Stock.Initial = 0, 10
		}, RuleRestock},
		{"other units than asked for", func(e *Evidence) { e.restockCall().Quantity = 3 }, RuleRestock},
		{"asked for by nobody", func(e *Evidence) {
			e.Calls = slices.DeleteFunc(e.Calls, func(t Call) bool { return t.Kind == CallRestock })
		}, RuleRestock},
		{"by another operator", func(e *Evidence) {
			e.Calls = slices.DeleteFunc(e.Calls, func(t Call) bool { return t.Kind == CallRestock })
			e.Ours = func(o *Order) bool { return !o.IsRestock() }
		}, ""},
		{"told to have failed", func(e *Evidence) { e.restockCall().Outcome = OutcomeError }, RuleRestock},
		{"not in what was set", func(e *Evidence) { e.Snapshot.Stock.Initial = 10 }, RuleInitialChanged},
		{"sold before they were there", func(e *Evidence) {
			e.Snapshot.Stock.Num -= 4
			e.sell(9, 1)
			e.Snapshot.Stock.Num += 4
		}, RuleSoldEarly},
		{"sold beyond them", func(e *Evidence) {
			for user := range int64(5) {
				e.sell(20+user, 1)
			}
		}, "oversold sold_before_restock negative_stock"},
		{"sold while they are on their way", all(arriving, oneMore, func(e *Evidence) {
			e.restockCall().Outcome = OutcomeUnknown
		}), "oversold sold_before_restock negative_stock"},
		{"of an earlier run", func(e *Evidence) { e.restock().Run = 3 },
			"initial_changed straggler lost_update cancelled_unasked invented_order restock_differs"},
		{"in Redis, and the row as it was set", all(inRedis(4), row(10)), ""},
		{"in Redis, and in the row, too", all(inRedis(4), row(14)), "counter_and_row_differ"},
		{"a counter that no order used", by("conditional", seckill.InRedis, 10), ""},
		{"from a stock in pieces", inPieces(4), ""},
		{"by a strategy with another stock", func(e *Evidence) { e.restock().Strategy = "redis-lua" }, RuleMixedStores},
	})
}

// Before new units have arrived, a sold-out sale does not count as standing still.
func TestAStandstillEndsWithARestock(t *testing.T) {
	e := restocked()
	e.Patience = 50e6
	for i := range e.Calls {
		if c := &e.Calls[i]; c.Kind == CallBuy {
			c.at(1, 2)
		}
	}
	e.says(30, 1, OutcomeBusy).at(10, 290)
	if r := Judge(*e); r.Served.Blocked() {
		t.Errorf("blocked before there were units: %+v", r.Served)
	}
	e.says(31, 1, OutcomeBusy).at(410, 590)
	if r := Judge(*e); !r.Served.Blocked() {
		t.Errorf("not blocked with units left: %+v", r.Served)
	}
}

// correct is the evidence of a service that keeps every promise, with buyers who send copies and retries, buy again,
// cancel, and lose answers. Each call takes effect at one moment: it was sent up to 20 ms before, or 200, and is
// answered as long after. One whose answer is lost may have been sent long before, since a process was paused. The
// service refuses as busy only while it sells to others, and repeats its final refusals.
func correct(t *rapid.T) Evidence {
	// below draws a number from 0 to n-1, all as likely: rapid prefers small ones, so
	// what it draws is spread by a hash. 0 stays 0, to which it shrinks a history.
	below := func(n int) int { return int(rapid.Uint64().Draw(t, "n") * 0x9E3779B97F4A7C15 >> 33 % uint64(n)) }
	one := func(n int) bool { return below(n) == n-1 }
	upTo := func(most time.Duration) time.Duration {
		return time.Duration(1+below(int(most/time.Microsecond))) * time.Microsecond
	}
	e := Evidence{Initial: int64(1 + below(60)), Run: 1, Patience: 800 * time.Millisecond, Calls: []Call{}}
	e.Snapshot.Stock = Stock{ID: 1, Initial: e.Initial, Num: e.Initial, Run: 1}
	left, now, sold := &e.Snapshot.Stock.Num, time.Second, time.Duration(0)
	delays := []time.Duration{20 * time.Millisecond, 200 * time.Millisecond}
	users, cancels, paused := 1+below(20), !one(3), false
	final := map[string]Outcome{} // of requests that were refused for good
	sell := func(told *Call) {
		has := func(o Order) bool { return o.UserID == told.User && o.Status == Active }
		i := slices.IndexFunc(e.Snapshot.Orders, func(o Order) bool { return o.RequestID == told.RequestID })
		switch {
		case i >= 0 && one(5):
			told.Outcome = OutcomeInProgress // the first copy has not been answered yet
			return
		case i >= 0:
		case final[told.RequestID] != "":
			told.Outcome = final[told.RequestID]
			return
		case now-sold < 60*time.Millisecond && one(6):
			told.Outcome = []Outcome{OutcomeBusy, OutcomeConflict, OutcomeError}[below(3)]
			return
		case slices.ContainsFunc(e.Snapshot.Orders, has):
			told.Outcome = OutcomeDuplicate
			final[told.RequestID] = OutcomeDuplicate
			return
		case told.Quantity > *left:
			told.Outcome = OutcomeSoldOut
			final[told.RequestID] = OutcomeSoldOut
			return
		default:
			*left -= told.Quantity
			sold, i = now, len(e.Snapshot.Orders)
			e.Snapshot.Orders = append(e.Snapshot.Orders,
				Order{PublicID: "o" + told.RequestID, RequestID: told.RequestID, Run: 1, UserID: told.User,
					SKUID: 1, Quantity: told.Quantity, Remaining: *left, Status: Active, Strategy: "conditional"})
		}
		told.Outcome, told.OrderID, told.Remaining = OutcomeSold, e.Snapshot.Orders[i].PublicID, e.Snapshot.Orders[i].Remaining
	}
	cancel := func(told *Call, o *Order) {
		told.Kind, told.OrderID = CallCancel, o.PublicID
		if one(8) {
			told.Outcome = OutcomeBusy
			return
		}
		if told.Outcome = OutcomeCancelled; o.Status == Active {
			o.Status = Cancelled
			*left += o.Quantity
		}
	}
	for range 5 + below(100) {
		now += upTo(30 * time.Millisecond)
		user := 1 + below(users)
		told := Call{User: int64(user), RequestID: fmt.Sprintf("k%d-%d", user, below(2)), Quantity: int64(1 + user%3),
			CallTimes: CallTimes{Sent: now - upTo(delays[below(2)]), Answered: now + upTo(delays[below(2)])}}
		i := slices.IndexFunc(e.Snapshot.Orders, func(o Order) bool { return o.RequestID == told.RequestID })
		if i >= 0 && cancels && one(2) {
			cancel(&told, &e.Snapshot.Orders[i])
		} else {
			sell(&told)
		}
		if one(8) {
			if told.Outcome, told.Remaining, told.Answered = OutcomeUnknown, 0, 0; told.Kind == CallBuy {
				told.OrderID = ""
			}
			if !paused && one(3) {
				paused, told.Sent = true, max(1, told.Sent-upTo(3*time.Second))
			}
			if one(2) { // its buyer gave up
				told.Answered = told.Sent + 100*time.Millisecond
			}
		}
		e.Calls = append(e.Calls, told)
	}
	clocks := below(10) // 9: there were none, 8: they only say when a call was sent
	for i := range e.Calls {
		if clocks >= 8 {
			e.Calls[i].Answered = 0
		}
		if clocks == 9 {
			e.Calls[i].Sent = 0
		}
	}
	return e
}

// The judge finds nothing in the history of a service that keeps its promises. (The planted
// violations show what it finds otherwise.)
func TestACorrectServiceIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if r := Judge(correct(t)); r.Verdict != Held || len(r.Violations) > 0 || r.Served.Blocked() {
			t.Fatalf("a correct service is judged %s, %+v: %+v", r.Verdict, r.Served, r.Violations)
		}
	})
}

// HoldersOf counts the holders of a unit as a person would count them by hand.
func TestHoldersAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		orders := make([]Order, rapid.IntRange(0, 30).Draw(t, "orders"))
		units, twice := map[int64]int{}, int64(0)
		for i := range orders {
			o := &orders[i]
			o.Remaining, o.Quantity, o.Status = rapid.Int64Range(-5, 15).Draw(t, "remaining"), rapid.Int64Range(1,
				4).Draw(t, "quantity"), Active
			for k := range o.Quantity {
				if units[o.Remaining+1+k]++; units[o.Remaining+1+k] == 2 {
					twice++
				}
			}
		}
		h := HoldersOf(orders, seckill.InRow)
		if pairs := h.findShared(); h.UnitsSoldTwice() != twice || (pairs.count > 0) != (twice > 0) || !h.Known() {
			t.Errorf("%d units twice, want %d; %+v", h.UnitsSoldTwice(), twice, pairs)
		}
		for _, o := range orders {
			want := 0
			for _, p := range orders {
				if o.Remaining < p.Remaining+p.Quantity && p.Remaining < o.Remaining+o.Quantity {
					want++
				}
			}
			if h.CountSharing(o) != want {
				t.Errorf("%d holders of %+v, want %d", h.CountSharing(o), o, want)
			}
		}
		given := HoldersOf(append(orders, Order{Quantity: 1, Status: Cancelled}), seckill.InRow)
		if split := HoldersOf(orders, seckill.InBuckets); given.Known() || split.Known() ||
			given.UnitsSoldTwice()+split.UnitsSoldTwice() > 0 {
			t.Error("units that come back, and a stock in pieces, have known holders")
		}
	})
}
