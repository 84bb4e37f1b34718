package loadtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tables"
)

// prepareSale checks the targets, opens the sale of each SKU and writes the numbers of their runs into the
// plan. If it returns false, Result.Problems says why.
func (r *run) prepareSale(ctx context.Context) (bool, error) {
	for i, s := range r.services {
		backends, err := s.readBackends(ctx)
		if err == nil {
			err = r.readStrategies(ctx, s)
		}
		if errors.Is(err, ErrConfig) {
			return false, err
		}
		if err != nil {
			r.result.Problems = append(r.result.Problems, unusableTarget(s, err))
			continue
		}
		r.result.Targets[i].Backends = backends
	}
	if len(r.result.Problems) > 0 {
		return false, nil
	}
	skus, within := errgroup.WithContext(ctx)
	// Several SKUs are reset at the same time, because each reset waits for the disk.
	skus.SetLimit(8)
	for k := range r.config.SKUs {
		skus.Go(func() error {
			sku := r.config.SKU + int64(k)
			opened, err := r.openSale(within, sku)
			r.plan.runs[k] = opened.Run
			if err != nil {
				return err
			}
			return r.checkAgreement(within, sku, opened)
		})
	}
	err := skus.Wait()
	var p Problem
	if errors.As(err, &p) {
		r.result.Problems = append(r.result.Problems, p)
		return false, nil
	}
	return err == nil, err
}

// unusableTarget returns the problem for a target that gave an error or no usable answer.
func unusableTarget(s service, err error) Problem {
	advice := " (is it running, and is the address right?)"
	// A target that refused is running and says why, so the advice to check this is left out.
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		advice = ""
	}
	return newProblem("target_unusable", params{"target": s.base, "error": err.Error()},
		"%s cannot be used: %v%s", s.base, err, advice)
}

// openSale resets the SKU, or joins its current sale if Config.Joins is set.
func (r *run) openSale(ctx context.Context, sku int64) (judge.Stock, error) {
	first := r.services[0]
	var stock judge.Stock
	var err error
	if r.config.Joins {
		var now judge.Snapshot
		now, err = first.readStock(ctx, sku)
		if stock = now.Stock; err == nil && stock.Initial != r.config.Stock {
			return stock, configError("the sale of SKU %d was reset meanwhile, from %d units to %d: try again",
				sku, r.config.Stock, stock.Initial)
		}
	} else {
		var notReset []string
		stock, notReset, err = first.resetSKU(ctx, sku, r.config.Stock)
		if slices.Contains(notReset, r.config.Strategy) {
			const text = "the reset did not reach the strategy: a lock is still held, or a backend is down"
			return stock, newProblem("target_unusable", params{"target": first.base, "error": text},
				"%s cannot be used: %s", first.base, text)
		}
	}
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusForbidden {
		err = fmt.Errorf("the reset needs the service's token, as SECKILL_TOKEN: "+
			"the service's log names its file (%w)", err)
	}
	if err != nil {
		return stock, unusableTarget(first, err)
	}
	return stock, nil
}

// readStrategies reads from one target which strategies it has, and the limits of its locks.
func (r *run) readStrategies(ctx context.Context, s service) error {
	var answer struct {
		Strategies []struct {
			StrategyInfo
			Available bool     `json:"available"`
			Missing   []string `json:"missing"`
		} `json:"strategies"`
		Locks struct {
			Lease int64 `json:"lease_ms"` // how long a lock lives without renewal
			Wait  int64 `json:"wait_ms"`  // how long a buyer waits for a lock
		} `json:"locks"`
	}
	if err := s.getJSON(ctx, "/api/v1/strategies", &answer); err != nil {
		return err
	}
	name := r.config.Strategy
	r.lockTime = max(r.lockTime, time.Duration(answer.Locks.Lease+answer.Locks.Wait)*time.Millisecond)
	stockStores := map[string]seckill.StockStore{}
	for _, known := range answer.Strategies {
		stockStores[known.Name] = known.StockStore
		if known.Name != name {
			continue
		}
		if !known.Available {
			why := strings.Join(known.Missing, "; ")
			return configError("strategy %q is not available at %s: %s", name, s.base, why)
		}
		r.result.Strategy = known.StrategyInfo
	}
	if _, ok := stockStores[name]; !ok {
		return configError("strategy %q is not known at %s, which has: %s",
			name, s.base, strings.Join(slices.Sorted(maps.Keys(stockStores)), ", "))
	}
	r.stockStores = stockStores
	if r.config.Reserve > 0 && !r.result.Strategy.Reserves {
		return configError("strategy %q has no reservations", name)
	}
	return nil
}

// checkAgreement checks that all targets and the ledger show the sale that was opened. If services used
// different databases, each would sell a stock of its own.
func (r *run) checkAgreement(ctx context.Context, sku int64, opened judge.Stock) error {
	first, stock := r.services[0].base, r.config.Stock
	check := func(where string, now judge.Stock) error {
		if now.Run == opened.Run && now.Initial == stock && (now.Num == stock || r.config.Joins) {
			return nil
		}
		return newProblem("ledgers_disagree", params{"target": first, "sku": sku, "stock": stock, "run": opened.Run,
			"where": where, "left": now.Num, "found": now.Initial, "found_run": now.Run},
			"%s reset SKU %d to %d units in run %d, but %s says %d of %d units in run %d: do they share a database?",
			first, sku, stock, opened.Run, where, now.Num, now.Initial, now.Run)
	}
	for _, s := range r.services {
		now, err := s.readStock(ctx, sku)
		if err != nil {
			return unusableTarget(s, err)
		}
		if err := check(s.base, now.Stock); err != nil {
			return err
		}
	}
	now, err := r.config.Ledger.Snapshot(ctx, sku)
	// If the ledger does not know the SKU, now.Stock is empty. The function check then reports another database.
	if err != nil && !errors.Is(err, seckill.ErrUnknownSKU) {
		return unreadLedger(err)
	}
	return check("the SQL ledger", now.Stock)
}

func unreadLedger(err error) Problem {
	return newProblem("ledger_unread", params{"error": err.Error()}, "the ledger could not be read: %v", err)
}

// auditSKUs judges each SKU. If the ledger of a SKU could not be read, there is no report on this SKU,
// and the result gets a problem.
func (r *run) auditSKUs(ctx context.Context) []judge.Report {
	// All SKUs share one limit, so a service that hangs costs this time only once.
	until := time.Now().Add(r.config.limits.settle)
	r.result.Settled, r.result.settled = true, map[int64]bool{}
	var reports []judge.Report
	var failed error
	// other strategy → number of this run's orders that this strategy sold
	others := map[string]int{}
	for k := range r.tally.skus {
		sku := r.config.SKU + int64(k)
		snap, settled, err := r.readSettled(ctx, k, until)
		r.result.settled[sku] = settled
		r.result.Settled = r.result.Settled && settled
		if err != nil {
			failed = err
			continue
		}
		isOwn := r.ownOrders(sku)
		for i := range snap.Orders {
			if o := &snap.Orders[i]; o.Strategy != r.config.Strategy && isOwn(o) {
				others[o.Strategy]++
			}
		}
		reports = append(reports, r.judgeSKU(k, snap))
	}
	r.addAuditProblems(others, failed)
	return reports
}

// judgeSKU judges the SKU with index k from the ledger, the initial stock, and the answers that buyers got.
func (r *run) judgeSKU(k int, snap judge.Snapshot) judge.Report {
	sku, calls, initial := r.config.SKU+int64(k), r.tally.skus[k].calls, r.config.Stock
	// Units may have been added before the buyers joined, so the initial stock is the stock without added units.
	if r.config.Joins {
		initial = snap.Stock.Initial - snap.Restocked()
	}
	report := judge.Judge(judge.Evidence{
		Snapshot: snap, Initial: initial, Run: r.plan.runs[k], Calls: calls, Ours: r.ownOrders(sku),
		Patience: r.maxStandstill(), StockStoreOf: r.stockStores,
	})
	if r.result.settled[sku] && !r.config.Joins && r.config.Reserve == 0 {
		ops := linearOps(calls, ordersOf(snap))
		r.result.Linearizable.addFinding(&report, checkLinear(report.StockStore, r.config.Stock, ops))
	}
	return report
}

// addAuditProblems adds the reasons why the audit proves nothing. The parameter others has the number of
// orders of each other strategy. The parameter failed is the last error from reading the ledger.
func (r *run) addAuditProblems(others map[string]int, failed error) {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		r.addProblem("other_strategy", params{"count": others[name], "found": name, "strategy": r.config.Strategy},
			"orders of strategy %q instead of %q: %s", name, r.config.Strategy, tables.Thousands(others[name]))
	}
	if failed != nil {
		r.result.Problems = append(r.result.Problems, unreadLedger(failed))
	} else if !r.result.Settled {
		limit := r.config.limits.settle
		r.addProblem("still_running", params{"seconds": limit.Seconds()},
			"purchases without an answer were still running %s after the load ended, "+
				"so the ledger was read too early", limit)
	}
	switch {
	case r.config.Joins:
		r.result.Linearizable.Why = "others bought in the same sale, and what they were told is not known"
	case r.config.Reserve > 0:
		r.result.Linearizable.Why = "reservations come back by the clock, which no sequence of purchases has"
	}
}

// ownOrders returns a function that reports whether an order belongs to this run. If Config.Joins is not set,
// all orders of the sale belong to this run.
func (r *run) ownOrders(sku int64) func(*judge.Order) bool {
	prefix := r.plan.keyPrefix(sku)
	return func(o *judge.Order) bool { return !r.config.Joins || strings.HasPrefix(o.RequestID, prefix) }
}

// readSettled reads the ledger of the SKU with index k until nothing changes it any more:
//
//   - If every call was answered, one reading is enough, unless the ledger has a reservation that
//     is still open.
//   - A call without an answer may still be running, and so may the calls of other buyers in a joined sale. Then two
//     readings must agree, and the services must have no purchase in flight.
//   - An accepted request is written later, and no service counts it as in flight. Then all readings
//     during limits.quiet must agree.
//
// readSettled returns the last reading. It returns false if the ledger still changes at the deadline. If the deadline
// has already passed, readSettled reads once.
func (r *run) readSettled(ctx context.Context, k int, deadline time.Time) (judge.Snapshot, bool, error) {
	told, sku, limits := r.tally.skus[k], r.config.SKU+int64(k), r.config.limits
	hasSilentCall := told.hasSilentCall || r.config.Joins
	ctx, cancel := context.WithTimeout(ctx, max(time.Until(deadline), min(limits.settle, askTimeout)))
	defer cancel()
	tick := time.NewTicker(limits.poll)
	defer tick.Stop()
	var last judge.Snapshot
	var lastErr error
	hasRead, changed := false, time.Now() // changed is when the ledger last changed, or when a read last failed
	for {
		busy := hasSilentCall && anyInFlight(ctx, r.services)
		now, err := r.Snapshot(ctx, sku)
		before, agrees := last, hasRead && sameSnapshot(last, now)
		if err == nil {
			last, hasRead = now, true
		} else if lastErr == nil || ctx.Err() == nil {
			lastErr = err // After the deadline, a new error is only a time-out, so an earlier error says more.
		}
		switch {
		case err != nil, slices.ContainsFunc(now.Orders, func(o judge.Order) bool { return o.MayChange() }):
			changed = time.Now()
		case !hasSilentCall:
			return now, true, nil
		case !agrees || busy:
			changed = time.Now()
		case !told.hasOpenRequest || time.Since(changed) >= limits.quiet:
			// The ledger has not changed since the previous snapshot. So it was the same before and after that
			// snapshot's counters were read, and these counters fit the ledger.
			return before, true, nil
		}
		select {
		case <-tick.C:
			if time.Now().Before(deadline) {
				continue
			}
		case <-ctx.Done():
		}
		if hasRead {
			lastErr = nil
		}
		return last, false, lastErr
	}
}

// anyInFlight asks the services whether a purchase is running. If a process refuses the connection, it is
// dead and runs nothing. If a process does not answer, a purchase may be running.
func anyInFlight(ctx context.Context, services []service) bool {
	return slices.ContainsFunc(services, func(s service) bool {
		var now stats
		err := s.getJSON(ctx, "/stats", &now)
		if err == nil {
			return now.InFlight > 0
		}
		var op *net.OpError
		return !errors.As(err, &op) || op.Op != "dial"
	})
}

func sameSnapshot(a, b judge.Snapshot) bool {
	return a.Stock.Run == b.Stock.Run && a.Stock.Num == b.Stock.Num && a.Stock.Version == b.Stock.Version &&
		slices.EqualFunc(a.Orders, b.Orders, func(a, b judge.Order) bool {
			return a.PublicID == b.PublicID && a.Status == b.Status && a.MayChange() == b.MayChange()
		})
}
