package loadtest

import (
	"context"
	"maps"
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/linear"
)

// audit judges each SKU from the ledger, the reset, and what buyers were told.
func (r *ourShop) audit(ctx context.Context, told [][]ledger.Told) (reports []ledger.Report) {
	from := r.Ledger
	counter := r.homes[r.Strategy].Counter()
	if counter != "" {
		from = countedLedger{r.Ledger, r.services, counter}
	}
	r.result.Settled = true
	var linear lines
	for k := range r.SKUs {
		sums := r.tally.sums[k]
		everybodyAnswered := sums.Unknown == 0 && sums.MaybeCancelled == 0
		sku := r.SKU + int64(k)
		snap, settled, err := r.patience.settle(ctx, r.services, from, sku, everybodyAnswered)
		if r.result.Settled = r.result.Settled && settled; err != nil {
			r.problemOf(CauseLedgerUnread, params{"source": r.source, "error": err.Error()}, "the ledger could not be read from %s: %v", r.source, err)
			return nil
		}
		reports = append(reports, ledger.Judge(ledger.Evidence{
			Snapshot: snap, Initial: r.Stock, Run: r.plan.runs[k], Told: told[k], Sums: &sums, Closed: counter != "",
			Patience: r.longestStand(),
			HomeOf: func(strategy string) (ledger.Home, bool) {
				home, ok := r.homes[strategy]
				return home, ok
			},
		}))
		r.strangers(snap)
		if !settled {
			r.problemOf(CauseStillRunning, params{"seconds": r.patience.limit.Seconds()}, "purchases without an answer were still running %s after the storm, so the ledger was read too early", r.patience.limit)
		} else if r.result.History {
			linear.add(&reports[k], r.Stock, r.history.ops(r.plan, sku, ordersOf(snap)))
		}
	}
	if r.result.History {
		r.result.Linearizable = linear.verdict()
	}
	return reports
}

// strangers are orders that a strategy wrote which this run did not ask for.
func (r *ourShop) strangers(snap ledger.Snapshot) {
	others := map[string]int{}
	for _, o := range snap.Orders {
		if o.Strategy != r.Strategy {
			others[o.Strategy]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		r.problemOf(CauseOtherStrategy, params{"count": others[name], "found": name, "strategy": r.Strategy}, "%s written by strategy %q instead of %q", wasOrWere(others[name], "order"), name, r.Strategy)
	}
}

// ordersOf finds what became of requests without an answer.
func ordersOf(snap ledger.Snapshot) func(user int64, requestID string) (remaining int64, sold bool) {
	type request struct {
		user int64
		id   string
	}
	orders := make(map[request]int64, len(snap.Orders))
	for _, o := range snap.Orders {
		orders[request{o.UserID, o.RequestID}] = o.Remaining
	}
	return func(user int64, id string) (int64, bool) {
		remaining, sold := orders[request{user, id}]
		return remaining, sold
	}
}

// lines gathers what the histories of several SKUs come to.
type lines struct {
	Linearizability
	undecided int
}

const linearLimit = 3 * time.Second

// add looks at the answers about one SKU. What they cannot all be is a violation
// like any other, even where the ledger balances in the end.
func (l *lines) add(sale *ledger.Report, stock int64, ops []linear.Op) {
	f := linear.Check(stock, ops, linearLimit)
	if f.Decided && !f.Linearizable {
		*sale = sale.Add(ledger.RuleNotLinearizable, f.Why)
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

func (l *lines) verdict() Linearizability {
	if l.Answer != LinearNo && (l.Answer == "" || l.undecided > 0) {
		l.Answer, l.Why = LinearNotChecked, "the search did not end in time"
	}
	return l.Linearizability
}
