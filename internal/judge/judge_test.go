package judge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/seckill"
)

// bought adds an order, and the outcome that its buyer was told.
func (e *Evidence) bought(user, quantity, remaining int64, status string, outcome Outcome) {
	id, key := fmt.Sprintf("o%d", user), fmt.Sprintf("r%d", user)
	e.Snapshot.Orders = append(e.Snapshot.Orders, Order{PublicID: id, RequestID: key, Run: e.Snapshot.Stock.Run,
		UserID: user, SKUID: 1, Quantity: quantity, Remaining: remaining, Status: status, Strategy: "conditional"})
	t := Call{RequestID: key, User: user, Quantity: quantity, Outcome: outcome}
	if t.succeeded() {
		t.OrderID, t.Remaining = id, remaining
	}
	e.Calls = append(e.Calls, t)
}

// sell adds a purchase that succeeded, with its order.
func (e *Evidence) sell(user, quantity int64) {
	e.Snapshot.Stock.Num -= quantity
	e.bought(user, quantity, e.Snapshot.Stock.Num, Active, OutcomeSold)
}

// says adds a call whose buyer gets no order.
func (e *Evidence) says(user, quantity int64, outcome Outcome) *Call {
	e.Calls = append(e.Calls, Call{RequestID: fmt.Sprintf("r%d", user), User: user, Quantity: quantity,
		Outcome: outcome})
	return &e.Calls[len(e.Calls)-1]
}

// later adds a call of another kind about a user's order.
func (e *Evidence) later(user int64, call CallKind, outcome Outcome) *Call {
	t := e.says(user, e.order(user).Quantity, outcome)
	t.Kind, t.OrderID = call, e.order(user).PublicID
	return t
}

func (e *Evidence) order(user int64) *Order {
	return &e.Snapshot.Orders[slices.IndexFunc(e.Snapshot.Orders, func(o Order) bool { return o.UserID == user })]
}

// told returns the first call of the given kind by a user.
func (e *Evidence) told(user int64, call CallKind) *Call {
	return &e.Calls[slices.IndexFunc(e.Calls, func(t Call) bool { return t.User == user && t.Kind == call })]
}

// drop removes a user's order, and gives its units back.
func (e *Evidence) drop(user int64) {
	e.Snapshot.Stock.Num += e.order(user).Quantity
	e.Snapshot.Orders = slices.DeleteFunc(e.Snapshot.Orders, func(o Order) bool { return o.UserID == user })
}

// at gives a call its times, in milliseconds.
func (t *Call) at(sent, answered int) {
	t.Sent, t.Answered = time.Duration(sent)*time.Millisecond, time.Duration(answered)*time.Millisecond
}

// clean is the evidence of a small sale of 10 units that went as it should:
//
//	user 1  buys 3                       user 5  got no answer, and nothing
//	user 2  buys 3                       user 6  got no answer, but 1 unit
//	user 3  buys 3                       user 7  was told busy
//	user 4  comes too late: sold out     user 8  bought 2 early on and cancelled
func clean() *Evidence {
	e := &Evidence{Initial: 10, Run: 4, Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 10, Num: 0, Run: 4}},
		StockStoreOf: map[string]seckill.StockStore{"conditional": seckill.InRow, "version": seckill.InRow,
			"redis-lua": seckill.InRedis, "front": seckill.InRowAndRedis, "pieces": seckill.InBuckets,
			"stream": seckill.InStream, "table": seckill.InLockTable}}
	e.bought(8, 2, 8, Cancelled, OutcomeSold)
	e.bought(1, 3, 7, Active, OutcomeSold)
	e.bought(2, 3, 4, Active, OutcomeSold)
	e.bought(3, 3, 1, Active, OutcomeSold)
	e.bought(6, 1, 0, Active, OutcomeUnknown)
	e.says(4, 1, OutcomeSoldOut)
	e.says(5, 1, OutcomeUnknown)
	e.says(7, 1, OutcomeBusy)
	e.later(8, CallCancel, OutcomeCancelled)
	return e
}

// by returns a change: a strategy sold the sale of clean, and its counter has counted units left.
func by(strategy string, counter seckill.StockStore, counted int64) func(*Evidence) {
	return func(e *Evidence) {
		for i := range e.Snapshot.Orders {
			e.Snapshot.Orders[i].Strategy = strategy
		}
		e.Snapshot.StockStores = map[seckill.StockStore]int64{counter: counted}
	}
}

// inRedis returns a change: the sale of clean was sold from a number in Redis.
func inRedis(counted int64) func(*Evidence) { return by("redis-lua", seckill.InRedis, counted) }

// unread is the same change, but the number could not be read.
var unread = by("redis-lua", seckill.InLockTable, 10)

// cancelledOnly leaves only user 8 in the sale of clean.
func cancelledOnly(e *Evidence) {
	e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Calls = e.Snapshot.Orders[:1], 10, []Call{e.Calls[0], e.Calls[8]}
}

// inPieces returns a change: the sale of clean had a stock in pieces. So the orders' remaining units name no units.
func inPieces(counted int64) func(*Evidence) {
	return func(e *Evidence) {
		by("pieces", seckill.InBuckets, counted)(e)
		for i := range e.Snapshot.Orders {
			e.Snapshot.Orders[i].Remaining = 1
		}
		for i := range e.Calls {
			e.Calls[i].Remaining = 1
		}
		e.Snapshot.Stock.Num = e.Initial
	}
}

// copied returns a change: user 1 buys from 100 to 200 ms and sends a copy, long after user 8 cancelled.
func copied(o Outcome, sent, answered int) func(*Evidence) {
	return func(e *Evidence) {
		e.told(1, CallBuy).at(100, 200)
		e.says(1, 3, o).at(sent, answered)
		e.told(8, CallCancel).at(1, 2)
	}
}

// replayed returns a change: user 1 is first told the given outcome, and of the order at the second call.
func replayed(first Outcome) func(*Evidence) {
	return func(e *Evidence) {
		e.told(1, CallBuy).at(100, 200)
		e.told(1, CallBuy).Replayed = true
		e.says(1, 3, first).at(50, 60)
	}
}

// doubted returns a change: user 8 buys from 100 to 200 ms, cancels until 400 ms, and is told
// duplicate by another request.
func doubted(sent, answered int) func(*Evidence) {
	return func(e *Evidence) {
		e.told(8, CallBuy).at(100, 200)
		e.told(8, CallCancel).at(300, 400)
		t := e.says(8, 2, OutcomeDuplicate)
		t.RequestID = "another"
		t.at(sent, answered)
	}
}

// doubtedAgain is like doubted, but that request is first told another outcome, and is told
// duplicate when it is sent again from 500 ms on.
func doubtedAgain(sent, answered int, first Outcome) func(*Evidence) {
	return func(e *Evidence) {
		doubted(sent, answered)(e)
		again := e.Calls[len(e.Calls)-1]
		e.Calls[len(e.Calls)-1].Outcome = first
		again.at(500, 510)
		e.Calls = append(e.Calls, again)
	}
}

// sentTwice returns a change: a user sends a request of their own twice, and is told the same outcome twice.
func sentTwice(user int64, o Outcome) func(*Evidence) {
	return func(e *Evidence) {
		for range 2 {
			e.says(user, 1, o).RequestID = "two times"
		}
	}
}

// beside returns a change: user 7 is told busy from 50 to 150 ms, and duplicate by another request.
func beside(sent, answered int) func(*Evidence) {
	return func(e *Evidence) {
		e.told(7, CallBuy).at(50, 150)
		t := e.says(7, 1, OutcomeDuplicate)
		t.RequestID = "another"
		t.at(sent, answered)
	}
}

// accepted returns a change: user 7 is told accepted from 100 to 110 ms, and later another outcome.
func accepted(o Outcome, sent, answered int) func(*Evidence) {
	return func(e *Evidence) {
		e.told(7, CallBuy).Outcome = OutcomeAccepted
		e.told(7, CallBuy).at(100, 110)
		if o != "" {
			e.says(7, 1, o).at(sent, answered)
		}
	}
}

// tells returns a change: a user is told another outcome of a purchase.
func tells(user int64, outcome Outcome) func(*Evidence) {
	return func(e *Evidence) {
		t := e.told(user, CallBuy)
		if t.Outcome = outcome; !t.succeeded() {
			t.OrderID, t.Remaining = "", 0
		}
	}
}

// later returns a change: a user makes a call about the order.
func later(user int64, call CallKind, outcome Outcome) func(*Evidence) {
	return func(e *Evidence) { e.later(user, call, outcome) }
}

// says returns a change: a user makes one more call.
func says(user, quantity int64, outcome Outcome) func(*Evidence) {
	return func(e *Evidence) { e.says(user, quantity, outcome) }
}

func all(changes ...func(*Evidence)) func(*Evidence) {
	return func(e *Evidence) {
		for _, change := range changes {
			change(e)
		}
	}
}

func stock(initial, left int64) func(*Evidence) {
	return func(e *Evidence) { e.Initial, e.Snapshot.Stock.Initial, e.Snapshot.Stock.Num = initial, initial, left }
}

func row(num int64) func(*Evidence) { return func(e *Evidence) { e.Snapshot.Stock.Num = num } }

// oneLeft makes users 6 and 8 buy nothing, so one unit is left to the end.
func oneLeft(e *Evidence) {
	e.drop(6)
	e.drop(8)
	row(1)(e)
	tells(8, OutcomeBusy)(e)
	e.Calls = e.Calls[:8]
}

// wanted returns a change: in the whole sale one buyer came, and got nothing.
func wanted(quantity int64, outcome Outcome) func(*Evidence) {
	return func(e *Evidence) {
		e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Calls = nil, 10, nil
		e.says(1, quantity, outcome)
	}
}

func oneMore(e *Evidence) { e.sell(9, 1) }

func stillActive(e *Evidence) {
	e.order(8).Status = Active
	stock(12, 0)(e)
}

// A planted changes one thing in a sale. It lists the rules that this must break, in the order of the report.
type planted struct {
	name   string
	change func(*Evidence)
	rules  string
}

// Each change of a clean sale breaks these rules and no others.
func TestJudge(t *testing.T) {
	judged(t, clean, []planted{
		{"as it should be", all(), ""},
		{"whichever run is current", func(e *Evidence) { e.Run = 0 }, ""},
		{"the ledger alone", func(e *Evidence) { e.Calls = nil }, ""},
		{"no one came", func(e *Evidence) { e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Calls = nil, 10, []Call{} }, ""},
		{"demand for all there is, and nothing sold", wanted(10, OutcomeUnknown), "nothing_sold"},
		{"demand for more than there is, and nothing sold", wanted(11, OutcomeSoldOut), ""},

		// The balance.
		{"one order too many, deduction overwritten", all(oneMore, row(0)), "oversold lost_update"},
		{"one order too many, below zero", oneMore, "oversold negative_stock"},
		{"below zero without a sale", row(-1), "negative_stock lost_units"},
		{"a deduction was overwritten", all(row(1), tells(4, OutcomeBusy)), "lost_update"},
		{"units vanished", stock(11, 0), "lost_units"},
		{"one user, two orders", func(e *Evidence) { e.order(2).UserID, e.told(2, CallBuy).User = 1, 1 },
			"bought_twice"},
		{"bought again after cancelling", func(e *Evidence) { e.order(6).UserID, e.told(6, CallBuy).User = 8, 8 }, ""},
		{"an order of nothing", func(e *Evidence) { e.sell(9, 0) }, "bad_order"},
		{"an order in no state", func(e *Evidence) { e.order(6).Status = "paid?" }, "bad_order lost_units"},
		{"an order without a state", func(e *Evidence) { e.order(6).Status = "" }, "bad_order lost_units"},
		{"reset to another stock", func(e *Evidence) { e.Initial = 12 }, "initial_changed lost_units"},
		{"reset to the same stock", func(e *Evidence) { e.Run = 3 }, "initial_changed"},
		{"an order of an earlier run", func(e *Evidence) { e.order(6).Run = 3 }, "straggler"},
		{"an order of an earlier run, and the ledger alone", func(e *Evidence) { e.order(6).Run, e.Calls = 3, nil },
			"straggler"},
		{"oversold in a run that proves nothing", all(oneMore, func(e *Evidence) { e.order(8).Run = 5 }),
			"straggler oversold negative_stock"},

		// Where the stock is kept.
		{"two stores, and a third counter", func(e *Evidence) { by("redis-lua", seckill.InLockTable, 9)(e); e.order(6).Strategy = "version" }, "mixed_stocks"},
		{"two stores, and the counter of one", func(e *Evidence) { inRedis(3)(e); e.order(6).Strategy = "version" },
			"mixed_stocks"},
		{"a strategy that is not known", by("magic", seckill.InRedis, 10), "unknown_stock"},
		{"the counter could not be read, and the row has more", all(unread, row(3)), "unknown_stock"},
		{"the counter could not be read, and the row has less", all(unread, row(-1)), "unknown_stock"},
		{"oversold, and the counter could not be read", all(oneMore, unread), "oversold unknown_stock"},
		{"stock in Redis", inRedis(0), ""},
		{"Redis went back to an older number", inRedis(4), "counter_and_row_differ lost_update undersold"},
		{"stock in the row, Redis in front", by("front", seckill.InRedis, 0), ""},
		{"stock in Redis, and the row as it was set", all(inRedis(0), row(10)), ""},
		{"stock in Redis, and the row half sold", all(inRedis(0), row(9)), "counter_and_row_differ"},
		{"units vanished from Redis in front of a row as it was set",
			all(cancelledOnly, by("front", seckill.InRedis, 8)), "counter_and_row_differ"},
		{"units vanished in front of a stream, and the row as it was set",
			all(cancelledOnly, by("stream", seckill.InStream, 8)), "counter_and_row_differ"},
		{"units vanished from a lock table, and the row as it was set",
			all(cancelledOnly, by("table", seckill.InLockTable, 8)), "counter_and_row_differ lost_units"},
		{"the row behind Redis lost an update", all(by("front", seckill.InRedis, 0), row(1), tells(4, OutcomeBusy)),
			"counter_and_row_differ lost_update"},
		{"the row behind a stream lost an update", all(by("stream", seckill.InStream, 0), row(1),
			tells(4, OutcomeBusy)), "counter_and_row_differ lost_update"},
		{"in pieces, given back twice", inPieces(2), "lost_update"},
		{"in pieces, and a purchase touched the row", all(inPieces(0), row(9)), "counter_and_row_differ"},
		{"counters that were not used", func(e *Evidence) {
			e.Snapshot.StockStores = map[seckill.StockStore]int64{seckill.InRedis: 10, seckill.InLockTable: 10}
		}, ""},
		{"units vanished from a counter that was not used",
			func(e *Evidence) { e.Snapshot.StockStores = map[seckill.StockStore]int64{seckill.InRedis: 8} }, "unused_counter_changed"},

		// Sales and their answers.
		{"a sale to a retry without its order", all(tells(4, OutcomeBusy), func(e *Evidence) {
			e.drop(3)
			e.told(3, CallBuy).at(5, 6)
			e.says(3, 3, OutcomeBusy).at(1, 2)
		}), "missing_order"},
		{"a sale without its order, and a copy told duplicate", all(tells(4, OutcomeBusy), func(e *Evidence) {
			e.drop(3)
			e.says(3, 3, OutcomeDuplicate)
		}), "missing_order key_refused"},
		{"the receipt names another order", func(e *Evidence) { e.told(1, CallBuy).OrderID = "o2" }, "wrong_receipt"},
		{"the receipt has another remaining", func(e *Evidence) { e.told(1, CallBuy).Remaining++ }, "wrong_receipt"},
		{"the receipt has another quantity", func(e *Evidence) { e.told(1, CallBuy).Quantity++ }, "wrong_receipt"},
		{"two users with one key", func(e *Evidence) { e.told(4, CallBuy).RequestID = "r3" }, ""},
		{"one request, two orders", func(e *Evidence) {
			e.Calls = append(e.Calls, e.Calls[1])
			e.Calls[1].OrderID = "another"
		}, "wrong_receipt"},
		{"an order of one who was told busy", tells(6, OutcomeBusy), "unacknowledged_order"},
		{"an order of one who was told of an error of this call", all(tells(6, OutcomeError),
			func(e *Evidence) { e.told(6, CallBuy).ThisCall = true }), "unacknowledged_order"},
		{"an order of one who was told conflict", tells(6, OutcomeConflict), "unacknowledged_order"},
		{"an order of one who was told of an error", tells(6, OutcomeError), "unacknowledged_order"},
		{"told of an error, and then of an order that was there", replayed(OutcomeError), "unacknowledged_order"},
		{"told busy, and then of an order that was there", replayed(OutcomeBusy), "unacknowledged_order"},
		{"told conflict, and then of an order that was there", replayed(OutcomeConflict), "unacknowledged_order"},
		{"no answer, and then told of an order that was there", replayed(OutcomeUnknown), ""},
		{"in progress, and then told of an order that was there", replayed(OutcomeInProgress), ""},
		{"told of an error, and then sold", all(replayed(OutcomeError),
			func(e *Evidence) { e.told(1, CallBuy).Replayed = false }), ""},
		{"in progress, and nothing else was heard", tells(6, OutcomeInProgress), ""},
		{"in progress beside a refusal, and there is an order",
			all(tells(6, OutcomeInProgress), says(6, 1, OutcomeBusy)), "unacknowledged_order"},
		{"an order of another user", func(e *Evidence) { e.order(6).UserID = 99 }, "invented_order"},
		{"an order of others who buy there", func(e *Evidence) {
			e.order(6).UserID = 99
			e.Ours = func(o *Order) bool { return o.UserID != 99 }
		}, ""},
		{"sold out with just enough left", oneLeft, "undersold"},
		{"sold out with just enough left, and a payment of an order that is not there",
			all(oneLeft, func(e *Evidence) { t := e.says(9, 1, OutcomeError); t.Kind, t.OrderID = CallPay, "o9" }), "undersold"},
		{"sold out with less left than was wanted",
			all(oneLeft, func(e *Evidence) { e.told(4, CallBuy).Quantity = 2 }), ""},
		{"sold out beside a cancellation without an answer", all(oneLeft, later(1, CallCancel, OutcomeUnknown)), ""},
		{"sold out before a cancellation that no buyer asked for",
			func(e *Evidence) { e.order(3).Status, e.Snapshot.Stock.Num = Cancelled, 3 }, "cancelled_unasked"},
		{"sold out while a copy held the last unit in Redis",
			all(oneLeft, inRedis(1), sentTwice(7, OutcomeSoldOut)), ""},
		{"sold out while another request of a user held the last unit in Redis",
			all(oneLeft, inRedis(1), sentTwice(5, OutcomeDuplicate)), ""},
		{"sold out while a copy held the last unit of a row", all(oneLeft, sentTwice(7, OutcomeSoldOut)), "undersold"},
		{"sold out, and a copy of what was sold is refused", all(oneLeft, inRedis(1), says(1, 3, OutcomeSoldOut)),
			"key_refused undersold"},
		{"sold out beside one who asked once", all(oneLeft, inRedis(1), tells(7, OutcomeSoldOut)), "undersold"},
		{"sold out beside copies that were told busy", all(oneLeft, inRedis(1), sentTwice(7, OutcomeBusy)),
			"undersold"},
		{"copies that undid each other, and nothing sold",
			all(wanted(10, OutcomeSoldOut), says(1, 10, OutcomeSoldOut)), ""},
		{"copies of a row, and nothing sold", all(wanted(10, OutcomeSoldOut), func(e *Evidence) {
			e.says(1, 10, OutcomeSoldOut)
			e.StockStoreOf = nil
		}), "undersold nothing_sold"},
		{"sold out before a cancellation gave units back", func(e *Evidence) {
			e.order(3).Status, e.Snapshot.Stock.Num = Cancelled, 3
			e.later(3, CallCancel, OutcomeCancelled)
		}, ""},

		// Cancellations.
		{"told cancelled, and active", stillActive, "not_cancelled"},
		{"told cancelled, and missing, and the units came back",
			all(row(2), func(e *Evidence) { e.Snapshot.Orders = e.Snapshot.Orders[1:] }), "lost_update missing_order not_cancelled"},
		{"a cancellation without an answer, and active", all(stillActive, told(8, CallCancel, OutcomeUnknown)), ""},
		{"a cancellation that was refused, and cancelled", told(8, CallCancel, OutcomeBusy), "cancelled_unasked"},
		{"a cancellation in progress, and cancelled", told(8, CallCancel, OutcomeInProgress), ""},

		// Duplicates.
		{"duplicate without an order", tells(7, OutcomeDuplicate), "false_duplicate"},
		{"duplicate by another request", func(e *Evidence) { e.says(1, 3, OutcomeDuplicate).RequestID = "another" }, ""},
		{"duplicate before the order was asked for", doubted(50, 99), "false_duplicate"},
		{"duplicate when the order was asked for", doubted(50, 100), ""},
		{"duplicate while the cancellation was under way", doubted(400, 410), ""},
		{"duplicate after the cancellation was acknowledged", doubted(401, 410), "false_duplicate"},
		{"duplicate after a cancellation that did not take place", all(doubted(401, 410), stillActive),
			"not_cancelled"},
		{"duplicate, and its retry got the order and no answer",
			func(e *Evidence) { e.told(6, CallBuy).at(300, 0); e.says(6, 1, OutcomeDuplicate).at(100, 110) },
			"key_refused false_duplicate"},
		{"duplicate again after the cancellation", doubtedAgain(390, 400, OutcomeDuplicate), ""},
		{"duplicate after the cancellation, where a call without an answer may have decided so before",
			doubtedAgain(390, 0, OutcomeUnknown), ""},
		{"duplicate after the cancellation, where a call told busy came before", doubtedAgain(390, 395, OutcomeBusy),
			"false_duplicate"},
		{"duplicate beside a request that was told busy", beside(140, 160), ""},
		{"duplicate as soon as another request was told busy", beside(150, 160), ""},
		{"duplicate right before another request was sent, which was told busy", beside(40, 50), ""},
		{"duplicate after another request was told busy", beside(151, 160), "false_duplicate"},
		{"duplicate before another request was sent, which was told busy", beside(40, 49), "false_duplicate"},
		{"duplicate twice, without an order", func(e *Evidence) { e.says(9, 1, OutcomeDuplicate).at(1, 3); e.says(9, 1, OutcomeDuplicate).at(2, 4) }, "false_duplicate"},
		{"duplicate beside another request that may have held the place", func(e *Evidence) {
			e.told(5, CallBuy).at(100, 110)
			t := e.says(5, 1, OutcomeDuplicate)
			t.RequestID = "another"
			t.at(900, 910)
		}, ""},

		// Refusals of a request that has the order.
		{"a copy sold out beside the call that got the order", copied(OutcomeSoldOut, 110, 120), "key_refused"},
		{"a copy sold out before the call that got the order", copied(OutcomeSoldOut, 90, 100), "key_refused"},
		{"a copy sold out after the order", copied(OutcomeSoldOut, 210, 220), "key_refused"},
		{"a copy sold out, at an unknown time", copied(OutcomeSoldOut, 0, 0), "key_refused"},
		{"a copy told duplicate before the call that got the order", copied(OutcomeDuplicate, 90, 100), "key_refused"},
		{"a copy told duplicate after the order", copied(OutcomeDuplicate, 300, 310), "key_refused"},
		{"a copy sold out after the buyer cancelled",
			all(copied(OutcomeSoldOut, 310, 320), func(e *Evidence) { e.later(1, CallCancel, OutcomeUnknown).at(300, 0) }), "key_refused"},
		{"a copy busy after the order", copied(OutcomeBusy, 200, 210), "key_refused"},
		{"a copy told conflict after the order", copied(OutcomeConflict, 200, 210), "key_refused"},
		{"a copy busy as soon as a quick order is got",
			all(copied(OutcomeBusy, 120, 130), func(e *Evidence) { e.told(1, CallBuy).at(100, 120) }), "key_refused"},
		{"a copy busy that was sent while the order was got", copied(OutcomeBusy, 199, 2500), ""},
		{"a copy busy, at an unknown time", copied(OutcomeBusy, 0, 0), ""},
		{"a copy that a backend failed after the order", copied(OutcomeError, 200, 210), "key_refused"},
		{"a copy that a backend failed beside the order", copied(OutcomeError, 199, 2500), ""},
		{"a copy that a backend failed after the order, and that says where to ask",
			all(copied(OutcomeError, 300, 310), func(e *Evidence) {
				e.Calls[len(e.Calls)-1].ThisCall = true
			}), ""},
		{"a retry sold out, and the first call got the order and no answer", func(e *Evidence) {
			e.told(6, CallBuy).at(100, 0)
			e.says(6, 1, OutcomeSoldOut).at(300, 310)
			e.told(8, CallCancel).at(1, 2)
		}, "key_refused"},
		{"a retry busy, while the first call may be in a process that is paused", func(e *Evidence) {
			e.told(6, CallBuy).at(100, 0)
			e.says(6, 1, OutcomeBusy).at(300, 310)
		}, ""},

		// Accepted requests.
		{"accepted, and has its order", tells(1, OutcomeAccepted), ""},
		{"accepted, and lost", accepted("", 0, 0), "lost_request"},
		{"accepted, and refused as the buyer was told", accepted(OutcomeSoldOut, 100, 300), ""},
		{"accepted, and the buyer has another order", accepted(OutcomeDuplicate, 100, 300), ""},
		{"accepted, and refused the moment that it was sent", accepted(OutcomeSoldOut, 50, 100), ""},
		{"accepted after it was refused", accepted(OutcomeSoldOut, 10, 20), "lost_request"},
		{"accepted, and a copy told busy", accepted(OutcomeBusy, 200, 210), "lost_request"},
		{"accepted, and refused as the ledger says", all(accepted("", 0, 0), func(e *Evidence) {
			e.Snapshot.Refused = []Request{{UserID: 7, RequestID: "r7"}}
		}), ""},
		{"accepted, and another request was refused", all(accepted("", 0, 0), func(e *Evidence) {
			e.Snapshot.Refused = []Request{{UserID: 7, RequestID: "r7x"}}
		}), "lost_request"},
	})
}

// reservations is a sale of 10 units in which every end of a reservation occurs:
//
//	user 1  paid 2                        user 4  cancelled 2
//	user 2  forgot, and 2 expired         user 5  has 2, and may pay yet
//	user 3  paid 2 late: told expired     user 6  bought 2 in one call
func reservations() *Evidence {
	e := &Evidence{Initial: 10, Run: 1, Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 10, Num: 10, Run: 1}}}
	for user := range int64(5) {
		e.bought(user+1, 2, 8, Active, OutcomeReserved)
	}
	e.bought(6, 2, 8, Active, OutcomeSold)
	e.later(1, CallPay, OutcomeSold)
	e.later(3, CallPay, OutcomeExpired)
	e.later(4, CallCancel, OutcomeCancelled)
	for user, state := range []seckill.ReservationState{seckill.Paid, seckill.ReservationExpired,
		seckill.ReservationExpired, seckill.ReservationReleased, seckill.Reserved, seckill.Paid} {
		e.Snapshot.Orders[user].Reservation = &Reservation{Left: 1_000_000}
		e.Snapshot.Stock.Num -= 2
		ends(int64(user+1), state)(e)
	}
	return e
}

// ends returns a change: a reservation ends in another way, and the stock fits.
func ends(user int64, state seckill.ReservationState) func(*Evidence) {
	return func(e *Evidence) {
		o := e.order(user)
		if o.Status != Active {
			e.Snapshot.Stock.Num -= o.Quantity
		}
		o.Status, o.Reservation.State, o.Reservation.Released = Active, state, 0
		switch state {
		case seckill.ReservationExpired:
			o.Status, o.Reservation.Released = Expired, o.Quantity
		case seckill.ReservationReleased:
			o.Status, o.Reservation.Released = Cancelled, o.Quantity
		}
		if o.Status != Active {
			e.Snapshot.Stock.Num += o.Quantity
		}
	}
}

func left(microseconds int64) func(*Evidence) {
	return func(e *Evidence) { e.order(5).Reservation.Left = microseconds }
}

// told returns a change: a user is told another outcome of a payment or a cancellation.
func told(user int64, kind CallKind, outcome Outcome) func(*Evidence) {
	return func(e *Evidence) { e.told(user, kind).Outcome = outcome }
}

func TestJudgeReservations(t *testing.T) {
	if r := Judge(*reservations()); r.Sold != 4 || r.Reserved != 2 || r.Expired != 2 || r.Cancelled != 1 ||
		r.Orders != 3 {
		t.Fatalf("the sale as it should be: %+v", r)
	}
	for microseconds, want := range map[int64]bool{1: true, -overdueGrace: true, -overdueGrace - 1: false} {
		e := reservations()
		if left(microseconds)(e); e.order(5).MayChange() != want || e.order(1).MayChange() {
			t.Errorf("%d µs before its deadline a reservation is undecided: %t", microseconds, !want)
		}
	}
	judged(t, reservations, []planted{
		{"as it should be", all(), ""},
		{"sold out beside a unit that was never reserved", all(stock(13, 7), says(9, 1, OutcomeSoldOut)), "undersold"},
		{"cancelled, and not by its buyer", ends(5, seckill.ReservationReleased), "cancelled_unasked"},
		{"a payment that a backend failed, and paid", told(1, CallPay, OutcomeError), "paid_unasked"},
		{"told reserved, and missing", func(e *Evidence) { e.drop(5) }, "missing_order"},
		{"sold out before reservations expired", says(9, 1, OutcomeSoldOut), ""},
		{"told paid, and expired", ends(1, seckill.ReservationExpired), "paid_released"},
		{"paid in the ledger, and given back", func(e *Evidence) { e.Calls, e.order(1).Reservation.Released = nil, 1 },
			"paid_released"},
		{"paid in the ledger, and expired", func(e *Evidence) {
			ends(2, seckill.Paid)(e)
			e.Calls, e.order(2).Status, e.Snapshot.Stock.Num = nil, Expired, e.Snapshot.Stock.Num+2
		}, "paid_released"},
		{"told paid, and not paid", ends(1, seckill.Reserved), "not_paid"},
		{"told paid in one call, and not paid", ends(6, seckill.Reserved), "not_paid"},
		{"told paid, and never there", func(e *Evidence) { t := e.says(9, 1, OutcomeSold); t.Kind, t.OrderID = CallPay, "o9" }, "not_paid"},
		{"told paid, and cancelled by the buyer later",
			all(ends(1, seckill.ReservationReleased), later(1, CallCancel, OutcomeCancelled)), ""},
		{"paid when the deadline had passed", func(e *Evidence) { e.told(1, CallPay).Late = true }, "paid_late"},
		{"told expired before the deadline", func(e *Evidence) { e.told(3, CallPay).Early = true }, "expired_early"},
		{"forgotten, and paid", ends(2, seckill.Paid), "paid_unasked"},
		{"paid, and of no buyer", func(e *Evidence) { e.order(6).UserID = 99 }, "missing_order invented_order"},
		{"forgotten, a copy told busy, and paid", all(ends(2, seckill.Paid), says(2, 2, OutcomeBusy)), "paid_unasked"},
		{"a late payment that was refused", func(e *Evidence) { e.told(3, CallPay).Late = true }, ""},
		{"an early payment that was paid", func(e *Evidence) { e.told(1, CallPay).Early = true }, ""},
		{"a payment of an order that is not there, refused",
			func(e *Evidence) { t := e.says(9, 1, OutcomeError); t.Kind, t.OrderID = CallPay, "o9" }, ""},
		{"a payment that was refused, and paid", told(1, CallPay, OutcomeBusy), "paid_unasked"},
		{"a payment in progress, and paid", told(1, CallPay, OutcomeInProgress), ""},
		{"a payment without an answer, and expired",
			all(told(1, CallPay, OutcomeUnknown), ends(1, seckill.ReservationExpired)), ""},
		{"told expired, and paid", ends(3, seckill.Paid), "expired_held"},
		{"past its deadline for a moment", left(-overdueGrace), ""},
		{"past its deadline for long", left(-overdueGrace - 1), "expired_held"},
		{"given back twice", func(e *Evidence) { e.order(2).Reservation.Released, e.Snapshot.Stock.Num = 4, 6 },
			"released_twice lost_update"},
		{"more reserved than there is", all(ends(2, seckill.Reserved), ends(3, seckill.Reserved),
			ends(4, seckill.Reserved),
			told(3, CallPay, OutcomeUnknown), told(4, CallCancel, OutcomeUnknown)), "oversold negative_stock"},
		{"a copy told sold out", func(e *Evidence) { e.says(6, 2, OutcomeSoldOut).at(110, 120) }, "key_refused"},
		{"told cancelled, and expired", later(2, CallCancel, OutcomeCancelled), ""},
	})
}

// verdicts lists the verdicts from the best to the worst. A run that proves nothing outranks what it seems to prove.
var verdicts = []Verdict{Held, Lost, Oversold, NotValid}

func judged(t *testing.T, sale func() *Evidence, plants []planted) {
	for _, p := range plants {
		e := sale()
		p.change(e)
		want := strings.Fields(p.rules)
		r := Judge(*e)
		if got := broken(r); !slices.Equal(got, want) {
			t.Errorf("%s: broken are %v, want %v: %+v", p.name, got, want, r.Violations)
		}
		worst := 0
		for _, v := range r.Violations {
			worst = max(worst, slices.Index(verdicts, v.Verdict))
			if v.Message == "" || strings.Contains(v.Message, "%!") || v.Count < 1 || len(v.Cases) != len(v.Examples) {
				t.Errorf("%s: %s is told badly: %+v", p.name, v.Rule, v)
			}
			kinds := map[string]Verdict{RuleOversold: Oversold, RuleSoldEarly: Oversold, RuleMixedStores: NotValid,
				RuleStraggler: NotValid, RuleUnknownStore: NotValid, RuleInitialChanged: NotValid}
			if kind, other := kinds[v.Rule]; other && v.Verdict != kind || !other && v.Verdict != Lost {
				t.Errorf("%s: %s makes the run %s", p.name, v.Rule, v.Verdict)
			}
		}
		if r.Verdict != verdicts[worst] {
			t.Errorf("%s: the verdict is %s, want %s", p.name, r.Verdict, verdicts[worst])
		}
		e.Calls, e.Initial = nil, r.Initial // without the buyers' calls the judge sees less, but nothing new
		for _, rule := range broken(Judge(*e)) {
			if !slices.Contains(want, rule) {
				t.Errorf("%s: without the buyers %s is broken too", p.name, rule)
			}
		}
	}
}

func broken(r Report) (rules []string) {
	for _, v := range r.Violations {
		rules = append(rules, v.Rule)
	}
	return rules
}

// Every rule is needed: some random history gets another verdict without it. The exception is
// negative_stock: if the stock is below zero, another rule is broken, too.
func TestEveryRuleIsNeeded(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	needed := map[string]bool{RuleNegative: true}
	for n := 0; n < 50_000 && len(needed) < len(rules); n++ {
		e := drawn(rng)
		with := Judge(*e)
		for i, left := range rules {
			if needed[left.ID] {
				continue
			}
			h := collectEvidence(*e)
			h.check(slices.Delete(slices.Clone(rules), i, i+1))
			if h.report.Verdict != with.Verdict {
				needed[left.ID] = true
			}
			if slices.Contains(broken(h.report), left.ID) {
				t.Fatalf("%s is told by another rule", left.ID)
			}
		}
	}
	for _, r := range rules {
		if !needed[r.ID] {
			t.Errorf("seed %d: without %s every verdict is the same", seed, r.ID)
		}
	}
}

// drawn returns a random sale of four units to at most three users, whose calls get any outcome.
// Often the ledger has an order, a state or a number that it should not have.
func drawn(rng *rand.Rand) *Evidence {
	e := &Evidence{Initial: 4, Run: 1, Calls: []Call{}, StockStoreOf: clean().StockStoreOf,
		Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 4, Num: 4, Run: 1},
			StockStores: map[seckill.StockStore]int64{}}}
	once := func(in int) bool { return rng.IntN(in) == 0 }
	strategy := pick(rng, "conditional", "conditional", "conditional", "redis-lua", "front", "magic")
	for user := range 1 + rng.Int64N(3) {
		user, quantity := user+1, rng.Int64N(4)
		if once(3) {
			e.says(user, quantity, pick(rng, outcomes...)).at(rng.IntN(9), rng.IntN(9))
			continue
		}
		e.sell(user, quantity)
		o, told := e.order(user), e.told(user, CallBuy)
		o.Strategy = strategy
		told.at(rng.IntN(9), rng.IntN(9))
		if once(3) {
			o.Reservation, told.Outcome = &Reservation{State: seckill.Reserved, Left: 1}, OutcomeReserved
			ends(user, pick(rng, seckill.Reserved, seckill.Paid, seckill.ReservationExpired,
				seckill.ReservationReleased))(e)
		} else if once(3) {
			o.Status, e.Snapshot.Stock.Num = Cancelled, e.Snapshot.Stock.Num+quantity
		}
		if once(3) {
			tells(user, pick(rng, outcomes...))(e)
		}
		for range rng.IntN(3) {
			t := e.later(user, pick(rng, CallBuy, CallCancel, CallPay),
				pick(rng, append(outcomes, OutcomeSold, OutcomeExpired, OutcomeCancelled)...))
			t.Late, t.Early = once(2), once(2)
			t.at(rng.IntN(9), rng.IntN(9))
		}
	}
	if strategy != "conditional" {
		e.Snapshot.StockStores[seckill.InRedis] = e.Snapshot.Stock.Num
	}
	if once(4) {
		e.addUnits(1 + rng.Int64N(9))
		e.restock().Status = pick(rng, Cancelled, Active)
		e.restockCall().Outcome = pick(rng, OutcomeRestocked, OutcomeUnknown, OutcomeError)
		e.restockCall().at(rng.IntN(9), rng.IntN(9))
	}
	pick(rng, func() {}, func() { e.Snapshot.Stock.Num += rng.Int64N(7) - 3 }, func() { e.Initial++ },
		func() { e.Snapshot.Stock.Run++ },
		func() { e.Snapshot.StockStores[seckill.InRedis] = 3 }, func() { // one user has them all
			for i := range e.Snapshot.Orders {
				e.Snapshot.Orders[i].UserID = 1
			}
			for i := range e.Calls {
				e.Calls[i].User = 1
			}
		}, func() { // an order
			for i := range e.Snapshot.Orders {
				o := &e.Snapshot.Orders[i]
				pick(rng, func() {}, func() { o.Remaining = 7 }, func() { o.Run++ }, func() { o.Strategy = "pieces" },
					func() { o.RequestID = "another" },
					func() { o.Reservation = &Reservation{State: seckill.ReservationExpired, Released: 3} })()
			}
		})()
	return e
}

var outcomes = []Outcome{OutcomeSold, OutcomeReserved, OutcomeSoldOut, OutcomeBusy, OutcomeConflict, OutcomeDuplicate,
	OutcomeInProgress, OutcomeAccepted, OutcomeExpired, OutcomeCancelled, OutcomeUnknown, OutcomeError}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// The report counts all that break a rule, and shows a few examples.
func TestJudgeReport(t *testing.T) {
	got := Judge(*clean())
	got.Served = nil
	if want := (Report{Verdict: Held, SKU: 1, Run: 4, Initial: 10, Totals: Totals{Sold: 10, Orders: 4, Cancelled: 1},
		StockStore: seckill.InRow, Violations: []Violation{}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	e := clean()
	e.order(2).Strategy = "version"
	if got := Judge(*e); got.Verdict != Held || !strings.HasPrefix(got.Warning,
		"Orders of conditional, version met in this run.") {
		t.Errorf("orders of two strategies are judged %+v", got)
	}
	e = clean()
	for _, test := range []struct {
		name, rule string
		plant      func(*Evidence)
		want       string
	}{
		{"past the initial stock", RuleOversold, func(e *Evidence) { e.sell(9, 1); e.sell(10, 2) },
			"order o9 of user 9 sold units 11 to 11 of 10, order o10 of user 10 sold units 12 to 13 of 10"},
		{"below zero", RuleNegative, func(e *Evidence) { e.sell(9, 1) },
			"order o9 of user 9: quantity 1, told -1 left, active, sold by conditional in run 4"},
		{"one unit sold twice", RuleLostUpdate, func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[1:], 3
			e.order(6).Remaining = 6
		}, "orders o2 and o6 both sold unit 7: they were told 4 and 6 left"},
		{"after a cancellation units may be sold again", RuleLostUpdate,
			all(row(3), func(e *Evidence) { e.order(2).Remaining = 7 }), ""},
	} {
		e := clean()
		test.plant(e)
		e.Calls = nil
		r := Judge(*e)
		i := slices.IndexFunc(r.Violations, func(v Violation) bool { return v.Rule == test.rule })
		if i < 0 || strings.Join(r.Violations[i].Examples, ", ") != test.want {
			t.Errorf("%s: %+v", test.name, r.Violations)
		}
	}
	for want, change := range map[string]func(*Evidence){
		"12 units sold out of 10: 2 too many":                                                                          func(e *Evidence) { e.sell(9, 2) },
		"0 left + 10 sold = 10, 1 fewer than the 11 there were: units vanished without an order":                       stock(11, 0),
		"2 left + 10 sold = 12, 2 more than the 10 there were: deductions were overwritten, or units given back twice": row(2),
	} {
		e := clean()
		change(e)
		if got := Judge(*e).Violations[0].Message; got != want {
			t.Errorf("the message is %q, want %q", got, want)
		}
	}
	for user := range int64(30) {
		e.bought(100+user, 1, 0, Active, OutcomeSold)
	}
	e.Calls = e.Calls[:9]
	i := slices.Index(broken(Judge(*e)), RuleInvented)
	if v := Judge(*e).Violations[i]; v.Count != 30 || len(v.Examples) != maxExamples {
		t.Errorf("%d counted, %d shown; want 30 and %d", v.Count, len(v.Examples), maxExamples)
	}
}

// stall is a sale of ten units. Five are sold, one each second. After that, 25 buyers are told
// busy, one each second until the 30th second.
func stall() *Evidence {
	e := &Evidence{Initial: 10, Run: 1, Patience: 6 * time.Second,
		Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 10, Num: 10, Run: 1}}}
	for i := range int64(30) {
		if i < 5 {
			e.sell(i+1, 1)
		} else {
			e.says(i+1, 1, OutcomeBusy)
		}
		e.Calls[i].at(int(i)*1000, int(i)*1000+900)
	}
	return e
}

// waiting returns a change of each call after the last sale.
func waiting(change func(i int, t *Call)) func(*Evidence) {
	return func(e *Evidence) {
		for i := range e.Calls[5:] {
			change(i, &e.Calls[5+i])
		}
	}
}

// comesBack returns a change: the first of five units is given back at a time in seconds.
func comesBack(at int) func(*Evidence) {
	return func(e *Evidence) {
		stock(5, 1)(e)
		e.order(1).Status = Cancelled
		e.later(1, CallCancel, OutcomeCancelled).at(at*1000-1000, at*1000)
	}
}

func TestServed(t *testing.T) {
	moment := Moment(1)
	for _, test := range []struct {
		name    string
		change  func(*Evidence)
		want    ServedState
		longest float64 // in seconds
	}{
		{"nothing is sold any more", all(), ServedBlocked, 24.9},
		{"allowed to wait so long", func(e *Evidence) { e.Patience = 24900 * time.Millisecond }, ServedYes, 24.9},
		{"there was nothing left", stock(5, 0), ServedYes, 0.9},
		{"what is left is not known", func(e *Evidence) { e.StockStoreOf = map[string]seckill.StockStore{"conditional": seckill.InRedis} }, ServedNotKnown, 0},
		{"the row has units that were sold", stock(5, 3), ServedYes, 0.9},
		{"they want more than is left", waiting(func(_ int, t *Call) { t.Quantity = 6 }), ServedYes, 0.9},
		{"they hold orders already", waiting(func(_ int, t *Call) { t.Outcome = OutcomeDuplicate }), ServedYes, 0.9},
		{"one who holds an order asks with another key",
			waiting(func(_ int, t *Call) { t.User, t.RequestID, t.Outcome = 1, "another", OutcomeUnknown }), ServedYes, 0.9},
		{"told unknown, error, in progress", waiting(func(i int, t *Call) { t.Outcome = []Outcome{OutcomeUnknown, OutcomeError, OutcomeInProgress}[i%3] }), ServedBlocked, 24.9},
		{"no one asked any more", func(e *Evidence) { e.Calls = e.Calls[:6] }, ServedYes, 0.9},
		{"they ask with pauses", func(e *Evidence) { e.Calls = append(e.Calls[:6], e.Calls[8], e.Calls[11], e.Calls[14], e.Calls[17]) }, ServedYes, 0.9},
		{"they ask with short pauses", func(e *Evidence) { e.Calls = append(e.Calls[:6], e.Calls[7], e.Calls[9], e.Calls[11], e.Calls[13]) }, ServedBlocked, 8.9},
		{"one buyer waits all the time, and is served in the end", func(e *Evidence) {
			e.Calls = e.Calls[:5]
			e.sell(6, 1)
			e.Calls[5].at(5000, 29_000)
		}, ServedBlocked, 24},
		{"a sale without an answer in between", func(e *Evidence) {
			e.sell(13, 1)
			e.told(13, CallBuy).Outcome = OutcomeUnknown
			e.Calls = e.Calls[:21] // the last answer is at 20.9 s; sold until 12.9+6
		}, ServedBlocked, 6.9},
		{"sold to a call without an answer, and told by its retry at the end", func(e *Evidence) {
			e.told(6, CallBuy).Outcome = OutcomeUnknown
			e.sell(6, 1)
			e.Calls[len(e.Calls)-1].at(28_900, 29_000)
		}, ServedYes, 0.9},
		{"a start of its own, and nothing sold", func(e *Evidence) {
			e.Snapshot.Stock.StartsAt, e.Snapshot.Orders, e.Snapshot.Stock.Num, e.Calls = &moment, nil, 10, e.Calls[5:]
		}, ServedNotKnown, 0},
		{"a start of its own, after they had asked for long", func(e *Evidence) {
			e.Snapshot.Stock.StartsAt = &moment
			for i := range e.Calls[:5] {
				e.Calls[i].at(i*1000+30_000, i*1000+30_900)
			}
		}, ServedYes, 0.9},
		{"a unit comes back at the end only", comesBack(27), ServedYes, 2.9},
		{"a unit comes back, and no buyer gets it", comesBack(10), ServedBlocked, 19.9},
	} {
		e := stall()
		test.change(e)
		r := Judge(*e)
		if s := r.Served; s.State != test.want || s.LongestMs != test.longest*1000 {
			t.Errorf("%s: %+v, want %s with %v s (%v)", test.name, s, test.want, test.longest, broken(r))
		}
	}
	s := Judge(*stall()).Served
	if s.FromMs != 5000 {
		t.Errorf("%+v", s)
	}
	both := SumReports([]Report{Judge(*stall()), {Verdict: Held, Served: &Served{State: ServedYes, LongestMs: 1}}})
	if !both.Served.Blocked() || both.Served.LongestMs != s.LongestMs {
		t.Errorf("the sum of two: %+v", both.Served)
	}
}

// The report on several SKUs has the worst verdict, and names the SKU of each violation.
func TestSum(t *testing.T) {
	a := Report{Verdict: Held, SKU: 1, Run: 4, Initial: 10, Remaining: 1,
		Totals:     Totals{Sold: 9, Orders: 8, Cancelled: 2},
		Violations: []Violation{}}
	b := Report{Verdict: Lost, SKU: 2, Initial: 10,
		Totals:     Totals{Sold: 9, Orders: 9, Reserved: 3, Expired: 4},
		Violations: []Violation{{Rule: RuleLostUnits, Message: "gone", Params: Params{}}}}
	got := SumReports([]Report{a, b})
	if got.Verdict != Lost || got.SKU != 1 || got.Initial != 20 || got.Remaining != 1 || got.Sold != 18 ||
		got.Orders != 17 || got.Reserved != 3 || got.Expired != 4 ||
		got.Cancelled != 2 || len(got.Violations) != 1 || got.Violations[0].Message != "SKU 2: gone" {
		t.Errorf("%+v", got)
	}
	b.Verdict = NotValid
	for _, others := range []Verdict{Held, Lost, Oversold} {
		want := others
		if others == Held {
			want = NotValid
		}
		if got := SumReports([]Report{{Verdict: others}, b, {Verdict: others}}); got.Verdict != want {
			t.Errorf("%s beside %s: %s, want %s", NotValid, others, got.Verdict, want)
		}
	}
}

// BenchmarkJudge judges a sale of 50,000 units with the answers to 100,000 calls.
func BenchmarkJudge(b *testing.B) {
	const units, calls = 50_000, 100_000
	e := &Evidence{Initial: units, Run: 4, Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: units, Num: units, Run: 4}},
		StockStoreOf: clean().StockStoreOf}
	for user := range int64(calls) {
		if user < units {
			e.sell(user, 1)
		} else {
			e.says(user, 1, OutcomeSoldOut)
		}
	}
	for b.Loop() {
		if r := Judge(*e); r.Verdict != Held {
			b.Fatalf("%+v", r)
		}
	}
}
