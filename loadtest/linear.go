package loadtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// An orderLookup reports whether a request has an order, and how many units remained after the order.
type orderLookup func(user int64, requestID string) (remaining int64, sold bool)

// linearOps translates the calls of buyers into operations on the stock of one SKU:
//
//   - All calls of one request are one operation. The operation took effect between the first call and the
//     first answer that says sold or sold out.
//   - If a request got no answer, the ledger says what the request did. The request took effect at some time
//     after it was sent.
//   - A refused call may have held units for a while. Each call of a request that was sent several times
//     may also have held units. Such a call is one more operation.
//   - All calls of one restock are one operation, which adds units as a cancellation does.
func linearOps(told []judge.Call, findOrder orderLookup) []judge.Op {
	ops := make([]judge.Op, 0, len(told))
	calls := make([]*judge.Call, len(told)) // sorted by request
	for i := range told {
		calls[i] = &told[i]
	}
	slices.SortFunc(calls, func(a, b *judge.Call) int {
		return cmp.Or(cmp.Compare(a.User, b.User), strings.Compare(a.RequestID, b.RequestID))
	})
	for first, next := 0, 0; first < len(calls); first = next {
		copies := 0
		for ; next < len(calls); next++ {
			if calls[next].User != calls[first].User || calls[next].RequestID != calls[first].RequestID {
				break
			}
			if calls[next].Kind == judge.CallBuy {
				copies++
			}
		}
		if calls[first].Kind == judge.CallRestock {
			ops = appendRestock(ops, first, calls[first:next], findOrder)
			continue
		}
		for _, t := range calls[first:next] {
			decided := t.Outcome == judge.OutcomeSold || t.Outcome == judge.OutcomeSoldOut
			if t.Kind == judge.CallBuy && t.Outcome != judge.OutcomeInProgress && (copies > 1 || !decided) {
				ops = append(ops, judge.Op{Client: first, Kind: judge.OpRefused, Quantity: t.Quantity,
					Call: int64(t.Sent), Return: cmp.Or(int64(t.Answered), judge.Never)})
			}
		}
		ops = appendRequest(ops, first, calls[first:next], findOrder)
	}
	return ops
}

// appendRequest adds the effects of one request: at most one sale with at most one cancellation, or one
// refusal. A call without an answer may also take effect later.
func appendRequest(ops []judge.Op, client int, calls []*judge.Call, findOrder orderLookup) []judge.Op {
	sale := judge.Op{Client: client, Kind: judge.OpSold, Quantity: calls[0].Quantity,
		Call: judge.Never, Return: judge.Never, Name: fmt.Sprint("user ", calls[0].User)}
	back, soldOut := sale, sale
	back.Kind, soldOut.Kind = judge.OpGaveBack, judge.OpSoldOut
	maybeSold, maybeCancelled := false, false
	for _, t := range calls {
		sent, answered := int64(t.Sent), int64(t.Answered)
		switch {
		case t.Kind == judge.CallCancel:
			back.Call = min(back.Call, sent)
			if t.Outcome == judge.OutcomeCancelled {
				back.Return = min(back.Return, answered)
			}
			maybeCancelled = maybeCancelled || t.Outcome == judge.OutcomeCancelled || t.Outcome == judge.OutcomeUnknown
			continue
		case t.Outcome == judge.OutcomeSoldOut:
			soldOut.Return = min(soldOut.Return, answered)
		case t.Outcome == judge.OutcomeSold && answered < sale.Return:
			sale.Remaining, sale.Return = t.Remaining, answered
		case t.Outcome == judge.OutcomeUnknown, t.Outcome == judge.OutcomeAccepted:
			maybeSold = true
		}
		sale.Call = min(sale.Call, sent)
	}
	if soldOut.Return != judge.Never {
		soldOut.Call = sale.Call
		ops = append(ops, soldOut)
	}
	if sale.Return == judge.Never {
		left, sold := int64(0), false
		if maybeSold {
			left, sold = findOrder(calls[0].User, calls[0].RequestID)
		}
		if !sold {
			return ops
		}
		sale.Remaining = left
	}
	ops = append(ops, sale)
	if maybeCancelled {
		ops = append(ops, back)
	}
	return ops
}

// appendRestock adds the effect of one restock, unless the restock certainly had no effect.
func appendRestock(ops []judge.Op, client int, calls []*judge.Call, findOrder orderLookup) []judge.Op {
	back := judge.Op{Client: client, Kind: judge.OpGaveBack, Quantity: calls[0].Quantity,
		Call: judge.Never, Return: judge.Never, Name: "a restock"}
	for _, t := range calls {
		back.Call = min(back.Call, int64(t.Sent))
		if t.Outcome == judge.OutcomeRestocked {
			back.Return = min(back.Return, int64(t.Answered))
		}
	}
	if _, written := findOrder(calls[0].User, calls[0].RequestID); back.Return == judge.Never && !written {
		return ops
	}
	return append(ops, back)
}

func ordersOf(snap judge.Snapshot) orderLookup {
	// The map is built when the first order is looked up, because most runs look up none.
	var orders map[judge.Request]int64
	return func(user int64, id string) (int64, bool) {
		if orders == nil {
			orders = make(map[judge.Request]int64, len(snap.Orders))
			for _, o := range snap.Orders {
				orders[judge.Request{UserID: o.UserID, RequestID: o.RequestID}] = o.Remaining
			}
		}
		remaining, sold := orders[judge.Request{UserID: user, RequestID: id}]
		return remaining, sold
	}
}

// checkLinear checks whether the answers about one SKU can all be true. If the stock is in Redis, a strategy
// takes units there before it writes to the ledger, so a refused purchase may have held units before. With
// any other stock store, a refused purchase never holds units.
func checkLinear(in seckill.StockStore, stock int64, ops []judge.Op) judge.Linearity {
	if in != seckill.InRedis {
		ops = slices.DeleteFunc(ops, func(o judge.Op) bool { return o.Kind == judge.OpRefused })
	}
	for i := range ops {
		ops[i].SawBefore = in.Split()
	}
	return judge.CheckLinearizable(stock, ops, 3*time.Second)
}

// addFinding adds the result f for one SKU. If the answers about the SKU cannot all be true, this is a
// violation, even if the ledger balances.
func (l *Linearizability) addFinding(sale *judge.Report, f judge.Linearity) {
	l.Checked += f.Checked
	switch {
	case f.Decided && !f.Linearizable:
		*sale = sale.WithViolation(judge.RuleNotLinearizable, f.Why, f.Params)
		l.Answer, l.Why = LinearNo, f.Why
	case l.Answer == LinearNo:
	case !f.Decided:
		l.Answer, l.Why = LinearNotChecked, "the search did not end in time"
	case l.Answer == "":
		l.Answer = LinearYes
	}
}
