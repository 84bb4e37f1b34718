package loadtest

import (
	"maps"
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
	sent      int64 // its first call
	sold      bool
	remaining int64
	answered  int64 // by the first call that was told sold
	unknown   bool  // one of its calls had no answer

	asked, back int64 // the first call of its cancellation, and its answer
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
func opsOf(p *plan, calls []loggedCall, became lookup) []linear.Op {
	many := map[uint32]*requestOps{} // by index: those with more than one call
	ops := make([]linear.Op, 0, len(calls))
	for _, r := range calls {
		asked := p.purchase(int(r.index))
		if outcome := recorded[r.outcome]; outcome == ledger.OutcomeSoldOut && !r.is(flagCancel) {
			ops = append(ops, linear.Op{Client: asked.index, Kind: linear.SoldOut, Quantity: asked.quantity,
				Call: r.sent, Return: r.answered, Name: buyerName(asked.user)})
			if !r.is(flagSeveral) {
				continue
			}
		}
		if p.Cancellations == 0 && !r.is(flagSeveral) {
			one := requestOps{sent: r.sent}
			one.add(r.record)
			ops = one.append(ops, p, asked, became)
			continue
		}
		q := many[r.index]
		if q == nil {
			q = &requestOps{sent: r.sent}
			many[r.index] = q
		}
		q.add(r.record)
	}
	for _, i := range slices.Sorted(maps.Keys(many)) {
		ops = many[i].append(ops, p, p.purchase(int(i)), became)
	}
	return ops
}

// add takes one call.
func (q *requestOps) add(r *record) {
	outcome := recorded[r.outcome]
	if r.is(flagCancel) {
		if q.asked == 0 || r.sent < q.asked {
			q.asked = r.sent
		}
		switch {
		case outcome == ledger.OutcomeCancelled && (q.cancels != gaveBack || r.answered < q.back):
			q.cancels, q.back = gaveBack, r.answered
		case outcome == ledger.OutcomeUnknown && q.cancels == kept:
			q.cancels = mayHaveBroken
		}
		return
	}
	q.sent = min(q.sent, r.sent)
	switch outcome {
	case ledger.OutcomeSold:
		if !q.sold || r.answered < q.answered {
			q.sold, q.remaining, q.answered = true, int64(r.remaining), r.answered
		}
	case ledger.OutcomeUnknown, ledger.OutcomeAccepted:
		q.unknown = true
	}
}

// append adds what the request did.
func (q *requestOps) append(ops []linear.Op, p *plan, asked purchase, became lookup) []linear.Op {
	o := linear.Op{Client: asked.index, Kind: linear.Sold, Quantity: asked.quantity, Remaining: q.remaining,
		Call: q.sent, Return: q.answered, Name: buyerName(asked.user)}
	if !q.sold {
		if !q.unknown || became == nil {
			return ops
		}
		left, sold := became(asked.user, string(p.key(nil, asked.index, asked.sku)))
		if !sold {
			return ops
		}
		o.Remaining, o.Return = left, linear.Never
	}
	ops = append(ops, o)
	if q.cancels == kept {
		return ops
	}
	back := linear.Op{Client: asked.index, Kind: linear.GaveBack, Quantity: asked.quantity, Call: q.asked, Return: q.back, Name: o.Name}
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
