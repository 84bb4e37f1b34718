package loadtest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/linear"
)

// A lookup says whether a request has an order, and what remained by it.
type orderLookup func(user int64, requestID string) (remaining int64, sold bool)

// opsOf is what the calls for one SKU say about its stock. A request without an
// answer did what the ledger says, at some time after it was sent. The calls of
// one request are one operation, which took effect between its first call and
// the first answer that says sold, or sold out. Each call that may have held units for a
// while, and gave them back, is an operation besides: one that was refused, and one of
// several copies.
func linearOps(told []ledger.Told, became orderLookup) []linear.Op {
	ops := make([]linear.Op, 0, len(told))
	calls := make([]*ledger.Told, len(told)) // those of each request together
	for i := range told {
		calls[i] = &told[i]
	}
	slices.SortFunc(calls, func(a, b *ledger.Told) int {
		return cmp.Or(cmp.Compare(a.User, b.User), strings.Compare(a.RequestID, b.RequestID))
	})
	for first, next := 0, 0; first < len(calls); first = next {
		copies := 0
		for next < len(calls) && calls[next].User == calls[first].User && calls[next].RequestID == calls[first].RequestID {
			if calls[next].Call == ledger.CallBuy {
				copies++
			}
			next++
		}
		for _, t := range calls[first:next] {
			decided := t.Outcome == ledger.OutcomeSold || t.Outcome == ledger.OutcomeSoldOut
			if t.Call == ledger.CallBuy && t.Outcome != ledger.OutcomeInProgress && (copies > 1 || !decided) {
				ops = append(ops, linear.Op{Client: first, Kind: linear.Refused, Quantity: t.Quantity,
					Call: int64(t.Sent), Return: cmp.Or(int64(t.Answered), linear.Never)})
			}
		}
		ops = appendRequest(ops, first, calls[first:next], became)
	}
	return ops
}

// appendRequest adds what the calls of one request did: at most one sale, and one
// cancellation, or one refusal. What had no answer may take effect later, too.
func appendRequest(ops []linear.Op, client int, calls []*ledger.Told, became orderLookup) []linear.Op {
	sale := linear.Op{Client: client, Kind: linear.Sold, Quantity: calls[0].Quantity, Call: linear.Never, Return: linear.Never, Name: buyerName(calls[0].User)}
	back, soldOut := sale, sale
	back.Kind, soldOut.Kind = linear.GaveBack, linear.SoldOut
	open, cancels := false, false // it may have been sold, and given back
	for _, t := range calls {
		sent, answered := int64(t.Sent), int64(t.Answered)
		switch {
		case t.Call == ledger.CallCancel:
			back.Call = min(back.Call, sent)
			if t.Outcome == ledger.OutcomeCancelled {
				back.Return = min(back.Return, answered)
			}
			cancels = cancels || t.Outcome == ledger.OutcomeCancelled || t.Outcome == ledger.OutcomeUnknown
			continue
		case t.Outcome == ledger.OutcomeSoldOut:
			soldOut.Return = min(soldOut.Return, answered)
		case t.Outcome == ledger.OutcomeSold && answered < sale.Return:
			sale.Remaining, sale.Return = t.Remaining, answered
		case t.Outcome == ledger.OutcomeUnknown, t.Outcome == ledger.OutcomeAccepted:
			open = true
		}
		sale.Call = min(sale.Call, sent)
	}
	if soldOut.Return != linear.Never {
		soldOut.Call = sale.Call
		ops = append(ops, soldOut)
	}
	if sale.Return == linear.Never {
		left, sold := int64(0), false
		if open {
			left, sold = became(calls[0].User, calls[0].RequestID)
		}
		if !sold {
			return ops
		}
		sale.Remaining = left
	}
	if ops = append(ops, sale); cancels {
		ops = append(ops, back)
	}
	return ops
}

func buyerName(user int64) string { return "user " + strconv.FormatInt(user, 10) }

// ordersOf looks up what became of requests without an answer.
func ordersOf(snap ledger.Snapshot) orderLookup {
	type request struct {
		user int64
		id   string
	}
	var orders map[request]int64 // most runs look nothing up
	return func(user int64, id string) (int64, bool) {
		if orders == nil {
			orders = make(map[request]int64, len(snap.Orders))
			for _, o := range snap.Orders {
				orders[request{o.UserID, o.RequestID}] = o.Remaining
			}
		}
		remaining, sold := orders[request{user, id}]
		return remaining, sold
	}
}

const maxLinearTime = 3 * time.Second

// check asks whether the answers about one SKU can all be true. Only a number in Redis is lowered before the ledger
// is asked: there a purchase that is refused has held units, and others were told of fewer.
func checkLinear(in ledger.StockStore, stock int64, ops []linear.Op) linear.Finding {
	if in != ledger.InRedis {
		ops = slices.DeleteFunc(ops, func(o linear.Op) bool { return o.Kind == linear.Refused })
	}
	if in.Split() {
		ops = linear.Saw(ops)
	}
	return linear.Check(stock, ops, maxLinearTime)
}

// add takes in what was found of one SKU. Answers that cannot all be true are a
// violation, even where the ledger balances.
func (l *Linearizability) addFinding(sale *ledger.Report, f linear.Finding) {
	l.Checked += f.Checked
	switch {
	case f.Decided && !f.Linearizable:
		*sale = sale.Add(ledger.RuleNotLinearizable, f.Why, f.Params)
		l.Answer, l.Why = LinearNo, f.Why
	case l.Answer == LinearNo:
	case !f.Decided:
		l.Answer, l.Why = LinearNotChecked, "the search did not end in time"
	case l.Answer == "":
		l.Answer = LinearYes
	}
}
