package judge

import (
	"slices"
	"testing"

	"seckill/internal/seckill"
)

// restocked is the sale of clean, to which the operator adds 4 units from 300 to 400 ms.
func restocked() *Evidence {
	e := clean()
	e.addUnits(4)
	e.restockCall().at(300, 400)
	return e
}

// addUnits is a restock that went as it should.
func (e *Evidence) addUnits(units int64) {
	e.Snapshot.Stock.Initial += units
	e.Snapshot.Stock.Num += units
	e.bought(OperatorOf("more"), units, e.Snapshot.Stock.Initial, Cancelled, OutcomeRestocked)
	e.told(OperatorOf("more"), CallBuy).Kind = CallRestock
}

func (e *Evidence) restock() *Order { return e.order(OperatorOf("more")) }

func (e *Evidence) restockCall() *Call { return e.told(OperatorOf("more"), CallRestock) }

// arriving has the units of the restock not in the stock yet.
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
		{"a counter that no order used", by("conditional", seckill.InRedis, 10), ""},
		{"from a stock in pieces", inPieces(4), ""},
		{"by a strategy with another stock", func(e *Evidence) { e.restock().Strategy = "redis-lua" }, RuleMixedStores},
	})
}

// The sale does not stand still before its new units are there.
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
