package loadtest

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/linear"
)

// A lookup says whether a request has an order, and what remained by it.
type lookup func(user int64, requestID string) (remaining int64, sold bool)

// requestOps is what the calls of one request say about the stock: at most one
// sale and one cancellation.
type requestOps struct {
	purchase  *ledger.Told // who wants what, by any of its calls
	called    bool
	sent      time.Duration // its first call
	sold      bool
	remaining int64
	answered  time.Duration // by the first call that was told sold
	unknown   bool          // one of its calls had no answer

	asked, back time.Duration // the first call of its cancellation, and its answer
	cancels     cancelState
}

type cancelState uint8

const (
	kept cancelState = iota // never asked, or told that it was not cancelled
	mayHaveBroken
	gaveBack
)

// opsOf is what the calls for one SKU say about its stock. A request without an
// answer did what the ledger says, at some time after it was sent. The calls of
// one request are one operation, which took effect between its first call and
// the first answer that says sold. Each call told sold out is its own operation.
func opsOf(h *history, became lookup) []linear.Op {
	ops := make([]linear.Op, 0, len(h.told))
	calls := make([]uint32, len(h.told)) // places in told, the calls of each request together
	for k := range calls {
		calls[k] = uint32(k)
	}
	slices.SortFunc(calls, func(a, b uint32) int { return cmp.Or(cmp.Compare(h.index[a], h.index[b]), cmp.Compare(a, b)) })
	for first := 0; first < len(calls); {
		i := h.index[calls[first]]
		request := requestOps{purchase: &h.told[calls[first]]}
		for ; first < len(calls) && h.index[calls[first]] == i; first++ {
			t := &h.told[calls[first]]
			if t.Outcome == ledger.OutcomeSoldOut && t.Call == ledger.CallBuy {
				ops = append(ops, linear.Op{Client: int(i), Kind: linear.SoldOut, Quantity: t.Quantity,
					Call: int64(t.Sent), Return: int64(t.Answered), Name: buyerName(t.User)})
			}
			request.add(t)
		}
		ops = request.append(ops, int(i), became)
	}
	return ops
}

// add takes one call.
func (q *requestOps) add(t *ledger.Told) {
	if t.Call == ledger.CallCancel {
		if q.asked == 0 || t.Sent < q.asked {
			q.asked = t.Sent
		}
		switch {
		case t.Outcome == ledger.OutcomeCancelled && (q.cancels != gaveBack || t.Answered < q.back):
			q.cancels, q.back = gaveBack, t.Answered
		case t.Outcome == ledger.OutcomeUnknown && q.cancels == kept:
			q.cancels = mayHaveBroken
		}
		return
	}
	if !q.called || t.Sent < q.sent {
		q.called, q.sent = true, t.Sent
	}
	switch t.Outcome {
	case ledger.OutcomeSold:
		if !q.sold || t.Answered < q.answered {
			q.sold, q.remaining, q.answered = true, t.Remaining, t.Answered
		}
	case ledger.OutcomeUnknown, ledger.OutcomeAccepted:
		q.unknown = true
	}
}

// append adds what the request did.
func (q *requestOps) append(ops []linear.Op, client int, became lookup) []linear.Op {
	o := linear.Op{Client: client, Kind: linear.Sold, Quantity: q.purchase.Quantity, Remaining: q.remaining,
		Call: int64(q.sent), Return: int64(q.answered), Name: buyerName(q.purchase.User)}
	if !q.sold {
		if !q.unknown || became == nil {
			return ops
		}
		left, sold := became(q.purchase.User, q.purchase.RequestID)
		if !sold {
			return ops
		}
		o.Remaining, o.Return = left, linear.Never
	}
	ops = append(ops, o)
	if q.cancels == kept {
		return ops
	}
	back := linear.Op{Client: client, Kind: linear.GaveBack, Quantity: o.Quantity, Call: int64(q.asked), Return: int64(q.back), Name: o.Name}
	if q.cancels == mayHaveBroken {
		back.Return = linear.Never // it may also take effect later
	}
	return append(ops, back)
}

func buyerName(user int64) string { return "user " + strconv.FormatInt(user, 10) }

// ordersOf looks up what became of requests without an answer.
func ordersOf(snap ledger.Snapshot) lookup {
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

// linearResult sums up the histories of several SKUs.
type linearResult struct {
	Linearizability
	undecided int
}

const linearLimit = 3 * time.Second

// add checks the answers about one SKU. Answers that cannot all be true are a
// violation, even where the ledger balances.
func (l *linearResult) add(sale *ledger.Report, stock int64, ops []linear.Op) {
	if sale.StockStore.Split() {
		ops = linear.Saw(ops)
	}
	f := linear.Check(stock, ops, linearLimit)
	if f.Decided && !f.Linearizable {
		*sale = sale.Add(ledger.RuleNotLinearizable, f.Why, f.Params)
	}
	l.Checked += f.Checked
	switch {
	case !f.Decided:
		l.undecided++
	case !f.Linearizable && l.Answer != LinearNo:
		l.Answer, l.Why = LinearNo, f.Why
	case f.Linearizable && l.Answer == "":
		l.Answer = LinearYes
	}
}

func (l *linearResult) verdict() Linearizability {
	if l.Answer != LinearNo && (l.Answer == "" || l.undecided > 0) {
		l.Answer, l.Why = LinearNotChecked, "the search did not end in time"
	}
	return l.Linearizability
}
