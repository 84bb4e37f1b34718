package loadtest

import (
	"context"
	"time"

	"seckill/internal/ledger"
)

// A foreignSale is a sale by a service that is not ours: all that is known of its
// orders are the totals of the scenario's audit query.
type foreignSale struct {
	*run
	before []ledger.Totals
}

func (r *foreignSale) prepare(ctx context.Context) (ready bool, err error) {
	r.result.LedgerSource = SourceQuery
	for k := range r.SKUs {
		sku := r.SKU + int64(k)
		if r.Service.Reset != nil {
			reset, cancel := context.WithTimeout(ctx, resetTimeout)
			err := r.Service.ResetSale(reset, r.services[0].http, r.services[0].base, sku, r.Stock)
			cancel()
			if err != nil {
				r.problem("SKU %d could not be reset: %v", sku, err)
				return false, nil
			}
		}
		now, err := r.totals(ctx, sku)
		switch {
		case err != nil:
			r.problem("the audit's query for SKU %d: %v", sku, err)
			return false, nil
		case now.Initial != r.Stock:
			r.problem("SKU %d begins with %d units by the audit's query, and with %d by the scenario", sku, now.Initial, r.Stock)
			return false, nil
		case now.Remaining+now.Sold != now.Initial:
			r.problem("SKU %d has %d left + %d sold of %d before the run: reset it first", sku, now.Remaining, now.Sold, now.Initial)
			return false, nil
		}
		r.before = append(r.before, now)
		r.plan.runs[k] = time.Now().UnixNano() // request ids of another run must differ
	}
	return true, nil
}

func (r *foreignSale) totals(ctx context.Context, sku int64) (ledger.Totals, error) {
	query, err := r.Service.AuditQuery(sku)
	if err != nil {
		return ledger.Totals{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return r.Totals(ctx, query)
}

// audit reads the totals; where a buyer got no answer, until they have not
// changed for a while.
func (r *foreignSale) audit(ctx context.Context, _ [][]ledger.Told) (reports []ledger.Report) {
	r.result.Settled = true
	unknown := false
	for k, sums := range r.tally.sums {
		unknown = unknown || sums.Unknown > 0 || sums.MaybeCancelled > 0
		sku := r.SKU + int64(k)
		now, settled, err := r.settle(ctx, sku, r.tally.heard(k))
		if err != nil {
			r.problem("the audit's query for SKU %d: %v", sku, err)
			return nil
		}
		if !settled {
			r.result.Settled = false
			r.problem("SKU %d still changed %s after the load ended, so its ledger was read too early", sku, r.settling.limit)
		}
		reports = append(reports, ledger.JudgeTotals(sku, r.Stock, r.before[k], now, sums))
	}
	if r.result.History {
		r.result.Linearizable = r.linear(reports, unknown)
	}
	return reports
}

func (r *foreignSale) linear(reports []ledger.Report, unknown bool) Linearizability {
	switch {
	case r.Service.Remaining == "":
		return Linearizability{Answer: LinearNotChecked, Why: "sales do not say what remains"}
	case unknown:
		return Linearizability{Answer: LinearNotChecked, Why: "what became of requests without an answer is not known one by one"}
	}
	var all linearResult
	for k := range r.SKUs {
		all.add(&reports[k], r.before[k].Remaining, r.history.ops(r.plan, r.SKU+int64(k), nil))
	}
	return all.verdict()
}

func (r *foreignSale) settle(ctx context.Context, sku int64, answered bool) (now ledger.Totals, settled bool, err error) {
	end := time.Now().Add(r.settling.limit)
	still := time.Now()
	for seen := false; ; {
		next, err := r.totals(ctx, sku)
		switch {
		case err == nil && answered:
			return next, true, nil
		case err != nil || !seen || next != now:
			still = time.Now()
		case time.Since(still) >= r.settling.quiet:
			return next, true, nil
		}
		if err == nil {
			now, seen = next, true
		}
		if time.Now().After(end) {
			if seen {
				err = nil
			}
			return now, false, err
		}
		time.Sleep(r.settling.poll)
	}
}
