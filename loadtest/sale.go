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
	"seckill/internal/measure"
	"seckill/internal/seckill"
)

// prepare checks the targets, resets the sale, and sets the plan's runs. If ready
// is false, the result's problems say why.
func (r *run) prepareSale(ctx context.Context) (ready bool, err error) {
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
	skus.SetLimit(8) // there may be many, and each waits for the disk
	for k := range r.SKUs {
		skus.Go(func() error {
			sku := r.SKU + int64(k)
			set, err := r.openSale(within, sku)
			if r.plan.runs[k] = set.Run; err != nil {
				return err
			}
			return r.checkAgreement(within, sku, set)
		})
	}
	err = skus.Wait()
	var p Problem
	if errors.As(err, &p) {
		r.result.Problems = append(r.result.Problems, p)
		return false, nil
	}
	return err == nil, err
}

// unusable is the problem of a target that does not do what a run needs of it.
func unusableTarget(s service, err error) Problem {
	advice := " (is it running, and is the address right?)"
	if answer := (*refusal)(nil); errors.As(err, &answer) { // which says what is wrong
		advice = ""
	}
	return newProblem(ProblemUnusable, params{"target": s.base, "error": err.Error()}, "%s cannot be used: %v%s", s.base, err, advice)
}

// begin resets the SKU, or joins the sale that is on.
func (r *run) openSale(ctx context.Context, sku int64) (set judge.Stock, err error) {
	first := r.services[0]
	if !r.Joins {
		var notReset []string
		set, notReset, err = first.resetSKU(ctx, sku, r.Stock)
		if slices.Contains(notReset, r.Strategy) {
			const text = "the reset did not reach the strategy: a lock is still held, or a backend is down"
			return set, newProblem(ProblemUnusable, params{"target": first.base, "error": text}, "%s cannot be used: %s", first.base, text)
		}
	} else {
		var now judge.Snapshot
		now, err = first.readStock(ctx, sku)
		if set = now.Stock; err == nil && set.Initial != r.Stock {
			return set, configError("the sale of SKU %d was reset meanwhile, from %d units to %d: try again", sku, r.Stock, set.Initial)
		}
	}
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusForbidden {
		err = fmt.Errorf("the reset needs the service's token, as SECKILL_TOKEN: the service's log names its file (%w)", err)
	}
	if err != nil {
		return set, unusableTarget(first, err)
	}
	return set, nil
}

// learn reads the strategies of one target.
func (r *run) readStrategies(ctx context.Context, s service) error {
	all, locks, err := s.listStrategies(ctx)
	if err != nil {
		return err
	}
	r.locks = append(r.locks, locks)
	stockStores := map[string]seckill.StockStore{}
	for _, known := range all {
		stockStores[known.Name] = known.StockStore
		if known.Name != r.Strategy {
			continue
		}
		if !known.Available {
			return configError("strategy %q is not available at %s: %s", r.Strategy, s.base, strings.Join(known.Missing, "; "))
		}
		r.result.Strategy = known.StrategyInfo
	}
	if _, ok := stockStores[r.Strategy]; !ok {
		return configError("strategy %q is not known at %s, which has: %s",
			r.Strategy, s.base, strings.Join(slices.Sorted(maps.Keys(stockStores)), ", "))
	}
	r.stockStores = stockStores
	if r.Reserve > 0 && !r.result.Strategy.Reserves {
		return configError("strategy %q has no reservations", r.Strategy)
	}
	return nil
}

// agree checks that the reset is seen wherever this run sells or reads: services
// on different databases would each sell a stock of their own.
func (r *run) checkAgreement(ctx context.Context, sku int64, set judge.Stock) error {
	first := r.services[0].base
	isSet := func(where string, now judge.Stock) error {
		if now.Run == set.Run && now.Initial == r.Stock && (now.Num == r.Stock || r.Joins) {
			return nil
		}
		return newProblem(ProblemDisagree, params{"target": first, "sku": sku, "stock": r.Stock, "run": set.Run,
			"where": where, "left": now.Num, "found": now.Initial, "found_run": now.Run},
			"%s reset SKU %d to %d units in run %d, but %s says %d of %d units in run %d: do they share a database?",
			first, sku, r.Stock, set.Run, where, now.Num, now.Initial, now.Run)
	}
	for _, s := range r.services {
		now, err := s.readStock(ctx, sku)
		if err != nil {
			return unusableTarget(s, err)
		}
		if err := isSet(s.base, now.Stock); err != nil {
			return err
		}
	}
	now, err := r.Ledger.Snapshot(ctx, sku)
	if err != nil && !errors.Is(err, seckill.ErrUnknownSKU) { // which another database does not have
		return unreadLedger(err)
	}
	return isSet("the SQL ledger", now.Stock)
}

// unread is the problem of a ledger that could not be read.
func unreadLedger(err error) Problem {
	return newProblem(ProblemLedgerUnread, params{"error": err.Error()}, "the ledger could not be read: %v", err)
}

// audit judges each SKU from the ledger, the reset, and what buyers were told,
// once nothing changes any more. A SKU that could not be read is left out, and the
// result's problems say so; nil: none could.
func (r *run) auditSKUs(ctx context.Context) (reports []judge.Report) {
	from := r.Ledger
	counter := r.stockStores[r.Strategy].Counter()
	if counter != "" {
		from = countedLedger{r.Ledger, r.services, counter}
	}
	if r.Keyless {
		from = keylessLedger{from, r.plan}
	}
	r.result.Settled, r.result.settled = true, map[int64]bool{}
	if r.Reserve > 0 {
		r.settling.limit += r.Reserve // the last reservation expires, and is given back
	}
	var failed error
	linear := &r.result.Linearizable
	patience, others := r.maxStandstill(), map[string]int{}
	until := time.Now().Add(r.settling.limit) // for all SKUs: what hangs is waited for once
	for k := range r.SKUs {
		answered := !r.tally.uncertain[k] && !r.Joins // then nothing runs any more; others may be buying still
		sku := r.SKU + int64(k)
		snap, settled, err := r.settling.wait(ctx, until, r.services, from, sku, answered, r.tally.undecided[k])
		r.result.settled[sku] = settled
		if r.result.Settled = r.result.Settled && settled; err != nil {
			failed = err
			continue
		}
		reports = append(reports, judge.Judge(judge.Evidence{
			Snapshot: snap, Initial: r.Stock, Run: r.plan.runs[k], Told: r.tally.history[k], Ours: r.ownOrders(sku),
			Patience: patience, StockStoreOf: r.stockStores,
		}))
		r.countOtherStrategies(snap, others)
		if settled && !r.Joins && r.Reserve == 0 {
			of := &reports[len(reports)-1]
			linear.addFinding(of, checkLinear(of.StockStore, r.Stock, linearOps(r.tally.history[k], ordersOf(snap))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		r.addProblem(ProblemOtherStrategy, params{"count": others[name], "found": name, "strategy": r.Strategy}, "orders of strategy %q instead of %q: %s", name, r.Strategy, measure.Thousands(others[name]))
	}
	if failed != nil {
		r.result.Problems = append(r.result.Problems, unreadLedger(failed))
	} else if !r.result.Settled {
		r.addProblem(ProblemStillRunning, params{"seconds": r.settling.limit.Seconds()}, "purchases without an answer were still running %s after the load ended, so the ledger was read too early", r.settling.limit)
	}
	switch {
	case r.Joins:
		linear.Why = "others bought in the same sale, and what they were told is not known"
	case r.Reserve > 0:
		linear.Why = "reservations come back by the clock, which no sequence of purchases has"
	}
	return reports
}

// ours tells this run's orders from those of others; nil: all are ours.
func (r *run) ownOrders(sku int64) func(*judge.Order) bool {
	if !r.Joins {
		return nil
	}
	prefix := r.plan.keyPrefix(sku)
	return func(o *judge.Order) bool { return strings.HasPrefix(o.RequestID, prefix) }
}

// strangers counts orders written by strategies that this run did not ask for.
func (r *run) countOtherStrategies(snap judge.Snapshot, others map[string]int) {
	ours := r.ownOrders(snap.Stock.ID)
	for i := range snap.Orders {
		if o := &snap.Orders[i]; o.Strategy != r.Strategy && (ours == nil || ours(o)) {
			others[o.Strategy]++
		}
	}
}

// A settling says how long to wait for purchases whose buyers have given up.
type settling struct {
	limit time.Duration // in all; the run is not valid after that
	poll  time.Duration // between two looks
	quiet time.Duration // without a change in the ledger, where purchases were accepted and not decided
}

var defaultSettling = settling{limit: 30 * time.Second, poll: 200 * time.Millisecond, quiet: 5 * time.Second}

// wait reads the ledger once nothing changes it any more. A purchase without an
// answer may still be running; if all were answered, one reading is enough.
// What was accepted is written later, and no service counts it as in flight: then
// (promised) the ledger must be quiet. settled is false when the last reading may
// have been too early. After until it reads once.
func (s settling) wait(ctx context.Context, until time.Time, services []service, from Ledger, sku int64, answered, promised bool) (snap judge.Snapshot, settled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(time.Until(until), min(s.limit, askTimeout)))
	defer cancel()
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	seen, still := false, time.Now()
	for {
		busy := !answered && anyInFlight(ctx, services)
		now, readErr := from.Snapshot(ctx, sku)
		switch {
		case readErr != nil: // its database may come back
			still = time.Now()
		case slices.ContainsFunc(now.Orders, func(o judge.Order) bool { return o.Undecided() }):
			still = time.Now()
		case answered:
			return now, true, nil
		case busy || !seen || !sameSnapshot(snap, now):
			still = time.Now()
		case !promised || time.Since(still) >= s.quiet:
			return snap, true, nil // its counters were read between two readings that agree
		}
		if readErr == nil {
			snap, seen = now, true
		} else if ctx.Err() == nil {
			err = readErr
		}
		select {
		case <-tick.C:
			if time.Now().Before(until) {
				continue
			}
		case <-ctx.Done():
		}
		switch {
		case seen:
			err = nil
		case err == nil: // the first reading did not end in time
			err = readErr
		}
		return snap, false, err
	}
}

// working asks the services whether any purchase is running. A process that
// refuses the connection is dead and runs nothing; one that does not answer may
// be running.
func anyInFlight(ctx context.Context, services []service) bool {
	return slices.ContainsFunc(services, func(s service) bool {
		now, err := s.readStats(ctx)
		if err == nil {
			return now.InFlight > 0
		}
		var op *net.OpError
		return !errors.As(err, &op) || op.Op != "dial"
	})
}

// same reports whether nothing was sold, cancelled or decided between two readings.
func sameSnapshot(a, b judge.Snapshot) bool {
	return a.Stock.Run == b.Stock.Run && a.Stock.Num == b.Stock.Num && a.Stock.Version == b.Stock.Version &&
		slices.EqualFunc(a.Orders, b.Orders, func(a, b judge.Order) bool {
			return a.PublicID == b.PublicID && a.Status == b.Status && a.Undecided() == b.Undecided()
		})
}
