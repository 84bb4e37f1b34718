package loadtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/ledger"
)

// An ourShop is a sale of by this project's service.
type ourShop struct {
	*run
	source string                 // of the ledger
	homes  map[string]ledger.Home // by strategy
	set    []ledger.Stock         // what the resets answered
}

func (r *ourShop) prepare(ctx context.Context) (ready bool, err error) {
	r.source = SourceSQL
	if r.Ledger == nil {
		r.source, r.Ledger = SourceService, serviceLedger(r.services)
	}
	r.result.LedgerSource = r.source
	for i, s := range r.services {
		backends, err := s.ready(ctx)
		if err != nil {
			r.problemOf(CauseUnusable, params{"target": s.base, "error": err.Error()}, "%s cannot be used: %v (is it running, and is the address right?)", s.base, err)
			continue
		}
		r.result.Targets[i].Backends = backends
		if err := r.learn(ctx, s); err != nil {
			return false, err
		}
	}
	if len(r.result.Problems) > 0 {
		return false, nil
	}
	for k := range r.SKUs {
		sku := r.SKU + int64(k)
		set, err := r.services[0].reset(ctx, sku, r.Stock)
		if err != nil {
			err = r.needsToken(err)
			r.problemOf(CauseNotReset, params{"sku": sku, "error": err.Error()}, "SKU %d could not be reset: %v", sku, err)
			return false, nil
		}
		r.set = append(r.set, set)
		r.plan.runs[k] = set.Run
	}
	for k, set := range r.set {
		if r.agree(ctx, r.SKU+int64(k), set); len(r.result.Problems) > 0 {
			break
		}
	}
	return len(r.result.Problems) == 0, nil
}

// needsToken says what to do about a reset that the service refused.
func (r *ourShop) needsToken(err error) error {
	var refused *refusal
	switch {
	case !errors.As(err, &refused) || refused.status != http.StatusForbidden:
		return err
	case r.AdminToken == "":
		return fmt.Errorf("the reset needs the service's token: give it as SECKILL_TOKEN or by --token-file; the service's log names its file (%w)", err)
	default:
		return fmt.Errorf("the token that was given is not the service's: the service's log names the file of the right one (%w)", err)
	}
}

// learn asks one target about the strategies.
func (r *ourShop) learn(ctx context.Context, s service) error {
	all, locks, err := s.strategies(ctx)
	if err != nil {
		r.problemOf(CauseNoStrategies, params{"target": s.base, "error": err.Error()}, "%s does not tell its strategies: %v", s.base, err)
		return nil
	}
	r.locks = append(r.locks, locks)
	homes := map[string]ledger.Home{}
	for _, known := range all {
		homes[known.Name] = known.Home
		if known.Name != r.Strategy {
			continue
		}
		if !known.Available {
			return configError("strategy %q is not available at %s: %s", r.Strategy, s.base, strings.Join(known.Missing, "; "))
		}
		r.result.Strategy = known.StrategyInfo
	}
	if _, ok := homes[r.Strategy]; !ok {
		return configError("strategy %q is not known at %s, which has: %s",
			r.Strategy, s.base, strings.Join(slices.Sorted(maps.Keys(homes)), ", "))
	}
	r.homes = homes
	return nil
}

// agree makes sure that the reset arrived wherever this run will sell or look:
// services on different databases would each sell a stock of their own.
func (r *ourShop) agree(ctx context.Context, sku int64, set ledger.Stock) {
	isSet := func(where string, now ledger.Stock, err error) {
		switch {
		case err != nil:
			r.problemOf(CauseStockUnread, params{"sku": sku, "where": where, "error": err.Error()}, "SKU %d cannot be read from %s: %v", sku, where, err)
		case now.Run != set.Run || now.Initial != r.Stock || now.Num != r.Stock:
			r.problemOf(CauseDisagree, params{"target": r.services[0].base, "sku": sku, "stock": r.Stock, "run": set.Run,
				"where": where, "left": now.Num, "found": now.Initial, "found_run": now.Run},
				"%s reset SKU %d to %d units in run %d, but %s says %d of %d units in run %d: do they share a database?",
				r.services[0].base, sku, r.Stock, set.Run, where, now.Num, now.Initial, now.Run)
		}
	}
	for _, s := range r.services {
		now, err := s.stock(ctx, sku)
		isSet(s.base, now.Stock, err)
	}
	if r.source == SourceSQL {
		now, err := r.Ledger.Snapshot(ctx, sku)
		isSet("the SQL ledger", now.Stock, err)
	}
}
