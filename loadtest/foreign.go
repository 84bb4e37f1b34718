package loadtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"seckill/internal/ledger"
)

// A foreignShop is somebody else's service: all that is known of its orders
// are the sums that its own query answers.
type foreignShop struct {
	*run
	before []ledger.Totals
}

func (r *foreignShop) prepare(ctx context.Context) (ready bool, err error) {
	r.result.LedgerSource = SourceQuery
	for k := range r.SKUs {
		sku := r.SKU + int64(k)
		if r.Service.Reset != nil {
			if err := r.reset(ctx, sku); err != nil {
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

func (r *foreignShop) reset(ctx context.Context, sku int64) error {
	ctx, cancel := context.WithTimeout(ctx, resetTimeout)
	defer cancel()
	m, err := r.Service.Reset.compile("service.reset", ofReset...)
	if err != nil {
		return err
	}
	p := purchase{sku: sku, stock: r.Stock}
	url := r.services[0].base + string(m.path.fill(nil, p, nil, ""))
	req, err := http.NewRequestWithContext(ctx, m.method, url, strings.NewReader(string(m.body.fill(nil, p, nil, ""))))
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(m.header.fill(nil, p, nil, "")), "\r\n"), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	resp, err := r.services[0].http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s %s was answered %d: %s", m.method, url, resp.StatusCode, excerpt(body))
	}
	return nil
}

func (r *foreignShop) totals(ctx context.Context, sku int64) (ledger.Totals, error) {
	query, err := r.Service.AuditQuery(sku)
	if err != nil {
		return ledger.Totals{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return r.Totals(ctx, query)
}

// audit reads the totals; where a buyer got no answer, until they have stood
// still for a while.
func (r *foreignShop) audit(ctx context.Context, _ [][]ledger.Told) (reports []ledger.Report) {
	r.result.Settled = true
	unknown := false
	for k, sums := range r.tally.sums {
		unknown = unknown || sums.Unknown > 0 || sums.MaybeCancelled > 0
		sku := r.SKU + int64(k)
		now, settled, err := r.settle(ctx, sku, sums.Unknown == 0 && sums.MaybeCancelled == 0)
		if err != nil {
			r.problem("the audit's query for SKU %d: %v", sku, err)
			return nil
		}
		if !settled {
			r.result.Settled = false
			r.problem("SKU %d still changed %s after the storm, so its ledger was read too early", sku, r.patience.limit)
		}
		reports = append(reports, ledger.JudgeTotals(sku, r.Stock, r.before[k], now, sums))
	}
	if r.result.History {
		r.result.Linearizable = r.linear(reports, unknown)
	}
	return reports
}

func (r *foreignShop) linear(reports []ledger.Report, unknown bool) Linearizability {
	switch {
	case r.Service.Remaining == "":
		return Linearizability{Answer: LinearNotChecked, Why: "sales do not say what remains"}
	case unknown:
		return Linearizability{Answer: LinearNotChecked, Why: "what became of requests without an answer is not known one by one"}
	}
	var all lines
	for k := range r.SKUs {
		all.add(&reports[k], r.before[k].Remaining, r.history.ops(r.plan, r.SKU+int64(k), nil))
	}
	return all.verdict()
}

func (r *foreignShop) settle(ctx context.Context, sku int64, everybodyAnswered bool) (now ledger.Totals, settled bool, err error) {
	end := time.Now().Add(r.patience.limit)
	still := time.Now()
	for seen := false; ; {
		next, err := r.totals(ctx, sku)
		switch {
		case err == nil && everybodyAnswered:
			return next, true, nil
		case err != nil || !seen || next != now:
			still = time.Now()
		case time.Since(still) >= r.patience.quiet:
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
		time.Sleep(r.patience.poll)
	}
}
