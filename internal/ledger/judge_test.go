package ledger

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// clean is the evidence of a small sale of 10 units that went as it should:
//
//	user 1  buys 3                       user 5  got no answer, and nothing
//	user 2  buys 3                       user 6  got no answer, but 1 unit
//	user 3  buys 3                       user 7  was told busy
//	user 4  comes too late: sold out     user 8  bought 2 early on and cancelled
func clean() Evidence {
	order := func(user, quantity, remaining int64, status string) Order {
		return Order{PublicID: fmt.Sprintf("o%d", user), RequestID: fmt.Sprintf("r%d", user), Run: 4, UserID: user, SKUID: 1,
			Quantity: quantity, Remaining: remaining, Status: status, Strategy: "conditional"}
	}
	told := func(user, quantity int64, outcome Outcome) Told {
		return Told{RequestID: fmt.Sprintf("r%d", user), User: user, Quantity: quantity, Outcome: outcome}
	}
	sold := func(user, quantity, remaining int64) Told {
		t := told(user, quantity, OutcomeSold)
		t.OrderID, t.Remaining = fmt.Sprintf("o%d", user), remaining
		return t
	}
	regret := sold(8, 2, 8)
	cancelled := Told{Call: CallCancel, RequestID: "r8", User: 8, Quantity: 2, Outcome: OutcomeCancelled, OrderID: "o8"}
	return Evidence{
		Initial: 10, Run: 4,
		Snapshot: Snapshot{
			Stock: Stock{ID: 1, Initial: 10, Num: 0, Run: 4},
			Orders: []Order{
				order(8, 2, 8, Cancelled), order(1, 3, 7, Active), order(2, 3, 4, Active),
				order(3, 3, 1, Active), order(6, 1, 0, Active),
			},
		},
		StockStoreOf: func(strategy string) (StockStore, bool) {
			stockStore, ok := map[string]StockStore{"conditional": InRow, "version": InRow, "redis-lua": InRedis, "front": InRowAndRedis, "pieces": InBuckets}[strategy]
			return stockStore, ok
		},
		Told: []Told{
			regret, sold(1, 3, 7), sold(2, 3, 4), sold(3, 3, 1), told(4, 1, OutcomeSoldOut),
			told(5, 1, OutcomeUnknown), told(6, 1, OutcomeUnknown), told(7, 1, OutcomeBusy), cancelled,
		},
	}
}

// inRedis is the same sale with its stock kept in Redis.
func inRedis(e *Evidence) {
	for i := range e.Snapshot.Orders {
		e.Snapshot.Orders[i].Strategy = "redis-lua"
	}
	e.Snapshot.StockStores = map[StockStore]int64{InRedis: 0}
}

// inPieces is the same sale, not closed yet, from a stock in pieces: what orders
// say remained names no units.
func inPieces(e *Evidence) {
	for i := range e.Snapshot.Orders {
		o := &e.Snapshot.Orders[i]
		o.Strategy, o.Remaining = "pieces", 1
		for k := range e.Told {
			if e.Told[k].OrderID == o.PublicID && e.Told[k].Call != CallCancel {
				e.Told[k].Remaining = 1
			}
		}
	}
	e.Snapshot.Stock.Num = e.Initial
	e.Snapshot.StockStores = map[StockStore]int64{InBuckets: 0}
}

// behindRedis is the same sale from the row, with a number in Redis in front.
func behindRedis(e *Evidence) {
	inRedis(e)
	for i := range e.Snapshot.Orders {
		e.Snapshot.Orders[i].Strategy = "front"
	}
}

func TestJudgeCleanSales(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Evidence)
	}{
		{"as it should be", func(*Evidence) {}},
		{"without the buyers", func(e *Evidence) { e.Told = nil }},
		{"whichever run is current", func(e *Evidence) { e.Run = 0 }},
		{"two strategies with one home", func(e *Evidence) { e.Snapshot.Orders[1].Strategy = "version" }},
		{"all strategies have one home", func(e *Evidence) { e.StockStoreOf = nil }},
		{"stock in Redis", inRedis},
		{"stock in the row, Redis in front", behindRedis},
		{"a stock in pieces", inPieces},
		{"a stock in pieces, closed", func(e *Evidence) { inPieces(e); e.Snapshot.Stock.Num, e.Closed = 0, true }},
		{"a counter that nobody used", func(e *Evidence) { e.Snapshot.StockStores = map[StockStore]int64{InRedis: 10, InLockTable: 10} }},
		{"stock in Redis, another counter unused", func(e *Evidence) {
			inRedis(e)
			e.Snapshot.StockStores[InLockTable] = 10
		}},
		{"nobody came, nor to the counters", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Told = nil, 10, []Told{}
			e.Snapshot.StockStores = map[StockStore]int64{InRedis: 10}
		}},
		{"an acknowledged sale asked for again", func(e *Evidence) { e.Told = append(e.Told, e.Told[1]) }},
		{"unknown, then acknowledged", func(e *Evidence) {
			e.Told[6], e.Told = Told{RequestID: "r6", User: 6, Quantity: 1, Outcome: OutcomeSold, OrderID: "o6"}, append(e.Told, e.Told[6])
		}},
		{"a cancellation whose outcome is unknown", func(e *Evidence) { e.cancel(1, OutcomeUnknown) }},
		{"bought again after cancelling", func(e *Evidence) {
			e.Snapshot.Orders[4] = Order{PublicID: "again", RequestID: "again", Run: 4, UserID: 8, SKUID: 1, Quantity: 1, Status: Active, Strategy: "conditional"}
			e.Told[6] = Told{RequestID: "again", User: 8, Quantity: 1, Outcome: OutcomeSold, OrderID: "again"}
		}},
		{"units left because buyers were told busy", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[:4], 1
			e.Told[4].Outcome = OutcomeConflict
		}},
		{"sold out for one who wants more than there is", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[:4], 1
			e.Told[4].Quantity = 2
		}},
		{"sold out before a cancellation gave units back", func(e *Evidence) {
			e.Snapshot.Orders[3].Status, e.Snapshot.Stock.Num = Cancelled, 3
			e.cancel(3, OutcomeCancelled)
		}},
		{"nobody came", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Told = nil, 10, []Told{}
		}},
		{"nobody could be served", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = nil, 10
			e.Told = []Told{{RequestID: "r", User: 1, Quantity: 11, Outcome: OutcomeSoldOut}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := clean()
			test.change(&e)
			if r := Judge(e); r.Verdict != Held || len(r.Violations) != 0 {
				t.Errorf("verdict %s, want %s without violations: %+v", r.Verdict, Held, r.Violations)
			}
		})
	}
}

// A judge is worth what it catches: each violation, planted alone.
func TestJudgeViolations(t *testing.T) {
	for _, test := range []struct {
		name    string
		plant   func(*Evidence)
		verdict Verdict
		rules   []string // all that this breaks, in the order of the report
	}{
		{"one order too many, deduction overwritten", func(e *Evidence) {
			e.sell(9, 1)
			e.Snapshot.Stock.Num++
		}, Oversold, []string{RuleOversold, RuleLostUpdate}},
		{"one order too many, below zero", func(e *Evidence) { e.sell(9, 1) },
			Oversold, []string{RuleOversold, RuleNegative}},
		{"below zero without a sale", func(e *Evidence) { e.Snapshot.Stock.Num = -1 },
			Lost, []string{RuleNegative, RuleLostUnits}},
		{"a deduction was overwritten, not yet oversold", func(e *Evidence) {
			e.Snapshot.Stock.Num = 1
			e.Told[4].Outcome = OutcomeBusy
		}, Lost, []string{RuleLostUpdate}},
		{"units given back twice", func(e *Evidence) {
			e.Snapshot.Stock.Num = 2 // to the row, twice
		}, Lost, []string{RuleLostUpdate}},
		{"units vanished", func(e *Evidence) {
			e.Initial, e.Snapshot.Stock.Initial = 11, 11
		}, Lost, []string{RuleLostUnits}},
		{"one user, two orders", func(e *Evidence) {
			e.Snapshot.Orders[2].UserID, e.Told[2].User = 1, 1
		}, Lost, []string{RuleTwice}},
		{"an order of nothing", func(e *Evidence) { e.sell(9, 0) }, Lost, []string{RuleBadOrder}},
		{"an order of less than nothing", func(e *Evidence) {
			e.sell(9, -1)
			e.Snapshot.Stock.Num--
		}, Lost, []string{RuleBadOrder}},
		{"an order in no state", func(e *Evidence) {
			e.Snapshot.Orders[4].Status = "paid?"
		}, Lost, []string{RuleBadOrder, RuleLostUnits}},
		{"an acknowledged sale without its order", func(e *Evidence) {
			e.Snapshot.Orders = slices.Delete(e.Snapshot.Orders, 3, 4)
			e.Snapshot.Stock.Num = 3
			e.Told[4].Outcome = OutcomeBusy
		}, Lost, []string{RuleMissingOrder}},
		{"somebody else cancelled an acknowledged order", func(e *Evidence) {
			e.Snapshot.Orders[3].Status, e.Snapshot.Stock.Num = Cancelled, 3
		}, Lost, []string{RuleCancelledUnasked}},
		{"the receipt names another order", func(e *Evidence) { e.Told[1].OrderID = "o2" }, Lost, []string{RuleWrongReceipt}},
		{"the receipt has another quantity", func(e *Evidence) { e.Told[1].Quantity = 2 }, Lost, []string{RuleWrongReceipt}},
		{"the receipt has another remaining", func(e *Evidence) { e.Told[1].Remaining++ }, Lost, []string{RuleWrongReceipt}},
		{"an order of one who was told busy", func(e *Evidence) { e.Told[6].Outcome = OutcomeBusy }, Lost, []string{RuleUnacknowledged}},
		{"an order of one who was told conflict", func(e *Evidence) { e.Told[6].Outcome = OutcomeConflict }, Lost, []string{RuleUnacknowledged}},
		{"an order of one who was told sold out", func(e *Evidence) { e.Told[6].Outcome = OutcomeSoldOut }, Lost, []string{RuleUnacknowledged}},
		{"an order of one who got an error", func(e *Evidence) { e.Told[6].Outcome = OutcomeError }, Lost, []string{RuleUnacknowledged}},
		{"an order that nobody asked for", func(e *Evidence) { e.Snapshot.Orders[4].UserID = 99 }, Lost, []string{RuleInvented}},
		{"an order under another request", func(e *Evidence) { e.Snapshot.Orders[4].RequestID = "r99" }, Lost, []string{RuleInvented}},
		{"sold out with units left", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[1:4], 1
			e.Told[0].Outcome, e.Told = OutcomeBusy, e.Told[:8]
		}, Lost, []string{RuleUndersold}},
		{"demand, and nothing sold", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Told = nil, 10, e.Told[5:6]
		}, Lost, []string{RuleNothingSold}},
		{"reset by somebody else to another stock", func(e *Evidence) {
			e.Initial = 12
		}, NotValid, []string{RuleInitialChanged, RuleLostUnits}},
		{"reset by somebody else to the same stock", func(e *Evidence) {
			e.Run = 3
		}, NotValid, []string{RuleInitialChanged}},
		{"an order of an earlier run", func(e *Evidence) { e.Snapshot.Orders[4].Run = 3 }, NotValid, []string{RuleStraggler}},
		{"two homes in one run", func(e *Evidence) { e.Snapshot.Orders[4].Strategy = "redis-lua" }, NotValid, []string{RuleMixedStores}},
		{"a strategy that nobody knows beside one that is known", func(e *Evidence) {
			e.Snapshot.Orders[4].Strategy = "magic"
		}, NotValid, []string{RuleMixedStores}},
		{"a strategy that nobody knows", func(e *Evidence) {
			for i := range e.Snapshot.Orders {
				e.Snapshot.Orders[i].Strategy = "magic"
			}
		}, NotValid, []string{RuleUnknownStore}},
		{"a home that could not be read", func(e *Evidence) {
			inRedis(e)
			e.Snapshot.StockStores = nil
		}, NotValid, []string{RuleUnknownStore}},
		{"Redis and the row differ", func(e *Evidence) {
			inRedis(e)
			e.Snapshot.Stock.Num = 1
		}, Lost, []string{RuleCounterDisagrees}},
		{"pieces that a cancellation gave back twice", func(e *Evidence) {
			inPieces(e)
			e.Snapshot.StockStores[InBuckets] = 2
		}, Lost, []string{RuleLostUpdate}},
		{"pieces that vanished", func(e *Evidence) {
			inPieces(e)
			e.Snapshot.StockStores[InBuckets] = -1
		}, Lost, []string{RuleNegative, RuleLostUnits}},
		{"pieces, and a purchase that touched the row", func(e *Evidence) {
			inPieces(e)
			e.Snapshot.Stock.Num--
		}, Lost, []string{RuleCounterDisagrees}},
		{"pieces and the row in one run", func(e *Evidence) {
			inPieces(e)
			e.Snapshot.Orders[2].Strategy = "conditional"
		}, NotValid, []string{RuleMixedStores}},
		{"Redis lost units", func(e *Evidence) {
			inRedis(e)
			e.Snapshot.StockStores[InRedis] = -2
		}, Lost, []string{RuleCounterDisagrees, RuleNegative, RuleLostUnits}},
		{"Redis went back to an older number", func(e *Evidence) {
			inRedis(e)
			e.Snapshot.StockStores[InRedis] = 4
		}, Lost, []string{RuleCounterDisagrees, RuleLostUpdate, RuleUndersold}},
		{"Redis went back, and it was sold again; the row follows", func(e *Evidence) {
			inRedis(e)
			e.sell(9, 4)
			e.Snapshot.Orders[5].Strategy = "redis-lua"
		}, Oversold, []string{RuleOversold, RuleCounterDisagrees, RuleLostUpdate}},
		{"oversold, and Redis cannot be read", func(e *Evidence) {
			inRedis(e)
			e.sell(9, 1)
			e.Snapshot.Orders[5].Strategy, e.Snapshot.StockStores = "redis-lua", nil
		}, NotValid, []string{RuleOversold, RuleUnknownStore}},
		{"taken from Redis in front, not from the row", func(e *Evidence) {
			behindRedis(e)
			e.Snapshot.StockStores[InRedis] = -1
		}, Lost, []string{RuleCounterDisagrees}},
		{"given back to Redis in front, not to the row", func(e *Evidence) {
			behindRedis(e)
			e.Snapshot.StockStores[InRedis] = 1
		}, Lost, []string{RuleCounterDisagrees}},
		{"the row behind Redis lost an update", func(e *Evidence) {
			behindRedis(e)
			e.Snapshot.Stock.Num = 1
			e.Told[4].Outcome = OutcomeBusy
		}, Lost, []string{RuleCounterDisagrees, RuleLostUpdate}},
		{"both sold too much", func(e *Evidence) {
			behindRedis(e)
			e.sell(9, 1)
			e.Snapshot.Orders[5].Strategy, e.Snapshot.StockStores[InRedis] = "front", -1
		}, Oversold, []string{RuleOversold, RuleNegative}},
		{"front and no front in one run", func(e *Evidence) {
			behindRedis(e)
			e.Snapshot.Orders[4].Strategy = "conditional"
		}, NotValid, []string{RuleMixedStores}},
		{"the number in front could not be read", func(e *Evidence) {
			behindRedis(e)
			e.Snapshot.StockStores = nil
		}, NotValid, []string{RuleUnknownStore}},
		{"units vanished from a counter that no order used", func(e *Evidence) {
			e.Snapshot.StockStores = map[StockStore]int64{InRedis: 8}
		}, Lost, []string{RuleUnusedCounter}},
		{"units vanished from a counter, and no order at all", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = nil, 10
			e.Snapshot.StockStores, e.Told = map[StockStore]int64{InRedis: 8}, e.Told[5:6]
		}, Lost, []string{RuleUnusedCounter, RuleNothingSold}},
		{"oversold and lost", func(e *Evidence) {
			e.sell(9, 1)
			e.Told[1].OrderID = "another"
		}, Oversold, []string{RuleOversold, RuleNegative, RuleWrongReceipt}},
		{"oversold in a run that proves nothing", func(e *Evidence) {
			e.sell(9, 1)
			e.Snapshot.Orders[0].Run = 1
		}, NotValid, []string{RuleStraggler, RuleOversold, RuleNegative}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := clean()
			test.plant(&e)
			r := Judge(e)
			if r.Verdict != test.verdict {
				t.Errorf("verdict %s, want %s", r.Verdict, test.verdict)
			}
			if got := broken(r); !slices.Equal(got, test.rules) {
				t.Errorf("broken rules %v, want %v: %+v", got, test.rules, r.Violations)
			}
			for _, v := range r.Violations {
				if v.Message == "" || v.Count < 1 {
					t.Errorf("%s says too little: %+v", v.Rule, v)
				}
			}
			// Without the buyers the judge sees less, but nothing else.
			e.Told = nil
			for _, rule := range broken(Judge(e)) {
				if !slices.Contains(test.rules, rule) {
					t.Errorf("without the buyers %s is broken too", rule)
				}
			}
		})
	}
}

// sell adds a sale to the evidence, on both sides.
func (e *Evidence) sell(user, quantity int64) {
	e.Snapshot.Stock.Num -= quantity
	id := fmt.Sprintf("o%d", user)
	left := e.Snapshot.Stock.Num
	e.Snapshot.Orders = append(e.Snapshot.Orders, Order{PublicID: id, RequestID: "r" + id, Run: e.Snapshot.Stock.Run, UserID: user, SKUID: 1,
		Quantity: quantity, Remaining: left, Status: Active, Strategy: "conditional"})
	e.Told = append(e.Told, Told{RequestID: "r" + id, User: user, Quantity: quantity, Outcome: OutcomeSold, OrderID: id, Remaining: left})
}

// cancel adds a cancellation of what the i-th call bought.
func (e *Evidence) cancel(i int, o Outcome) {
	t := e.Told[i]
	e.Told = append(e.Told, Told{Call: CallCancel, RequestID: t.RequestID, User: t.User, Quantity: t.Quantity, OrderID: t.OrderID, Outcome: o})
}

func broken(r Report) (rules []string) {
	for _, v := range r.Violations {
		rules = append(rules, v.Rule)
	}
	return rules
}

func TestJudgeCountsAllAndShowsFew(t *testing.T) {
	e := clean()
	for user := range int64(30) {
		e.sell(100+user, 1)
	}
	e.Told = e.Told[:len(e.Told)-30]
	i := slices.IndexFunc(Judge(e).Violations, func(v Violation) bool { return v.Rule == RuleInvented })
	if v := Judge(e).Violations[i]; v.Count != 30 || len(v.Examples) != maxExamples {
		t.Errorf("%d counted, %d shown; want 30 and %d", v.Count, len(v.Examples), maxExamples)
	}
}

// The orders that a violation is about are named.
func TestJudgeNamesOrders(t *testing.T) {
	for _, test := range []struct {
		name, rule string
		plant      func(*Evidence)
		want       []string
		witness    *Witness
	}{
		{"past the initial stock", RuleOversold, func(e *Evidence) {
			e.sell(9, 1)
			e.sell(10, 2)
		}, []string{"order o9 of user 9 sold units 11 to 11 of 10", "order o10 of user 10 sold units 12 to 13 of 10"},
			below("o9", 9, 1, -1)},
		{"half of it past the initial stock", RuleOversold, func(e *Evidence) {
			e.Initial, e.Snapshot.Stock.Initial = 8, 8
		}, []string{"order o3 of user 3 sold units 7 to 9 of 8", "order o6 of user 6 sold units 10 to 10 of 8"}, nil},
		{"the same number left told twice", RuleLostUpdate, func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[1:], 3
			e.Snapshot.Orders[1].Remaining = 7 // as o1: both read 10
		}, []string{"orders o1 and o2 both sold unit 10: they were told 7 and 7 left"},
			&Witness{"twice", []WitnessOrder{{"o1", 1, 3, 7}, {"o2", 2, 3, 7}}, 10}},
		{"quantities that differ", RuleLostUpdate, func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[1:], 3
			e.Snapshot.Orders[3].Remaining = 6 // one of 7, beside o2, which went from 7 to 4
		}, []string{"orders o2 and o6 both sold unit 7: they were told 4 and 6 left"},
			&Witness{"twice", []WitnessOrder{{"o2", 2, 3, 4}, {"o6", 6, 1, 6}}, 7}},
		{"below zero", RuleNegative, func(e *Evidence) { e.sell(9, 1) }, nil, below("o9", 9, 1, -1)},
		{"after a cancellation units may be sold again", RuleLostUpdate, func(e *Evidence) {
			e.Snapshot.Stock.Num = 3
			e.Snapshot.Orders[2].Remaining = 7
		}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := clean()
			test.plant(&e)
			e.Told = nil
			r := Judge(e)
			i := slices.IndexFunc(r.Violations, func(v Violation) bool { return v.Rule == test.rule })
			if i < 0 {
				t.Fatalf("%s was not noticed: %+v", test.rule, r.Violations)
			}
			if !reflect.DeepEqual(r.Witness, test.witness) {
				t.Errorf("the witness is %+v, want %+v", r.Witness, test.witness)
			}
			if v := r.Violations[i]; !slices.Equal(v.Examples, test.want) || v.Count != max(1, len(test.want)) {
				t.Errorf("%d counted, examples %q, want %q", v.Count, v.Examples, test.want)
			}
		})
	}
}

func TestJudgeReport(t *testing.T) {
	got := Judge(clean())
	got.Served = nil // see TestServed
	want := Report{Verdict: Held, SKU: 1, Run: 4, Initial: 10, Remaining: 0, Sold: 10, Orders: 4, Cancelled: 1, StockStore: InRow, Violations: []Violation{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// below is the witness of one order that went below zero.
func below(id string, user, quantity, remaining int64) *Witness {
	return &Witness{Kind: "below", Orders: []WitnessOrder{{id, user, quantity, remaining}}}
}

// The report on several SKUs has the worst verdict, and says which SKU it is.
func TestSum(t *testing.T) {
	a := Report{Verdict: Held, SKU: 1, Run: 4, Initial: 10, Remaining: 1, Sold: 9, Orders: 8, Cancelled: 2, Violations: []Violation{}}
	b := Report{Verdict: Lost, SKU: 2, Initial: 10, Sold: 9, Orders: 9, Violations: []Violation{{Rule: RuleLostUnits, Message: "gone"}}}
	got := Sum([]Report{a, b})
	if got.Verdict != Lost || got.SKU != 1 || got.Initial != 20 || got.Remaining != 1 || got.Sold != 18 || got.Orders != 17 ||
		got.Cancelled != 2 || len(got.Violations) != 1 || got.Violations[0].Message != "SKU 2: gone" {
		t.Errorf("%+v", got)
	}
	b.Verdict = NotValid
	if got := Sum([]Report{{Verdict: Oversold}, b, {Verdict: Oversold}}); got.Verdict != NotValid {
		t.Errorf("%s, want the worst", got.Verdict)
	}
}
