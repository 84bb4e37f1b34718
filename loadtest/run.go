package loadtest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
)

// Run resets the SKU, lets the buyers storm, waits until the service has
// settled, and judges. When ctx ends no more buyers are sent, and what
// happened until then is audited. Whatever becomes of a run, it has a Result;
// the error is an ErrConfig, and then nothing was touched.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Targets) == 0 {
		return nil, configError("no target: give the address of at least one service")
	}
	if c.patience == (patience{}) {
		c.patience = defaultPatience
	}
	r := &run{Config: c, source: SourceSQL, result: newResult(c)}
	transport := &http.Transport{Proxy: nil, DisableCompression: true}
	defer transport.CloseIdleConnections()
	for _, t := range c.Targets {
		r.services = append(r.services, service{
			base: strings.TrimRight(t, "/"), adminToken: c.AdminToken, http: &http.Client{Transport: transport},
		})
	}
	if c.Ledger == nil {
		r.source, r.Ledger = SourceService, serviceLedger(r.services)
	}
	r.result.LedgerSource = r.source

	ready, err := r.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if ready {
		tally := newTally(r.Config)
		finish := report(tally, r.Buyers, r.OnProgress)
		r.storm(ctx, tally)
		r.audit(context.WithoutCancel(ctx))
		finish()
	}
	if r.result.Interrupted = ctx.Err() != nil && r.result.Requests < r.Buyers; r.result.Interrupted {
		r.problem("interrupted after %s of %s buyers", thousands(r.result.Requests), thousands(r.Buyers))
	}
	r.result.conclude()
	return r.result, nil
}

type run struct {
	Config
	services []service
	source   string
	homes    map[string]ledger.Home // by strategy
	set      ledger.Stock           // what the reset answered
	told     []ledger.Told
	result   *Result
}

// prepare looks at the targets and resets the sale. ready is false, with the
// reasons among the result's problems, when there is nothing to storm.
func (r *run) prepare(ctx context.Context) (ready bool, err error) {
	for i, s := range r.services {
		backends, err := s.ready(ctx)
		if err != nil {
			r.problem("%s cannot be used: %v (is it running, and is the address right?)", s.base, err)
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
	if r.set, err = r.services[0].reset(ctx, r.SKU, r.Stock); err != nil {
		r.problem("SKU %d could not be reset: %v", r.SKU, err)
		return false, nil
	}
	r.agree(ctx)
	return len(r.result.Problems) == 0, nil
}

// learn asks one target about the strategies.
func (r *run) learn(ctx context.Context, s service) error {
	all, err := s.strategies(ctx)
	if err != nil {
		r.problem("%s does not tell its strategies: %v", s.base, err)
		return nil
	}
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
func (r *run) agree(ctx context.Context) {
	isSet := func(where string, now ledger.Stock, err error) {
		switch {
		case err != nil:
			r.problem("SKU %d cannot be read from %s: %v", r.SKU, where, err)
		case now.Run != r.set.Run || now.Initial != r.Stock || now.Num != r.Stock:
			r.problem("%s reset SKU %d to %d units in run %d, but %s says %d of %d units in run %d: do they share a database?",
				r.services[0].base, r.SKU, r.Stock, r.set.Run, where, now.Num, now.Initial, now.Run)
		}
	}
	for _, s := range r.services {
		now, err := s.stock(ctx, r.SKU)
		isSet(s.base, now.Stock, err)
	}
	if r.source == SourceSQL {
		now, err := r.Ledger.Snapshot(ctx, r.SKU)
		isSet("the SQL ledger", now.Stock, err)
	}
}

func (r *run) storm(ctx context.Context, tally *tally) {
	meter := startMeter(ctx, r.services, r.Strategy)
	r.result.Start = time.Now()
	r.told = storm(ctx, r.Config, crowd{seed: r.Seed, run: r.set.Run}, tally)
	tally.summarize(r.result, time.Since(r.result.Start))
	meter.stop(context.WithoutCancel(ctx), r.result)
}

// audit judges the run from the ledger, the reset, and what buyers were told.
func (r *run) audit(ctx context.Context) {
	everybodyAnswered := r.result.Counts[ledger.OutcomeUnknown] == 0
	from := r.Ledger
	if counter := r.homes[r.Strategy].Counter(); counter != "" {
		from = countedLedger{r.Ledger, r.services, counter}
	}
	snap, settled, err := r.patience.settle(ctx, r.services, from, r.SKU, everybodyAnswered)
	r.result.Settled = settled
	if err != nil {
		r.problem("the ledger could not be read from %s: %v", r.source, err)
	} else {
		report := ledger.Judge(ledger.Evidence{
			Snapshot: snap, Initial: r.Stock, Run: r.set.Run, Told: r.told,
			HomeOf: func(strategy string) (ledger.Home, bool) {
				home, ok := r.homes[strategy]
				return home, ok
			},
		})
		r.result.Audit = &report
		r.strangers(snap)
		if !settled {
			r.problem("purchases without an answer were still running %s after the storm, so the ledger was read too early", r.patience.limit)
		}
	}
	if r.result.definite() == 0 {
		r.problem("no buyer got a definite answer")
	}
	if n := r.result.answered(codeNonsense); n > 0 {
		r.problem("%s not what the service's contract allows", wasOrWere(n, "answer"))
	}
}

// strangers are orders that a strategy wrote which this run did not ask for.
func (r *run) strangers(snap ledger.Snapshot) {
	others := map[string]int{}
	for _, o := range snap.Orders {
		if o.Strategy != r.Strategy {
			others[o.Strategy]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		r.problem("%s written by strategy %q instead of %q", wasOrWere(others[name], "order"), name, r.Strategy)
	}
}

func (r *run) problem(format string, args ...any) {
	r.result.Problems = append(r.result.Problems, fmt.Sprintf(format, args...))
}

func newResult(c Config) *Result {
	r := &Result{
		Settings: Settings{
			Strategy: c.Strategy, SKU: c.SKU, Stock: c.Stock, Buyers: c.Buyers, Concurrency: c.Concurrency,
			Quantity: c.Quantity, TimeoutSeconds: c.Timeout.Seconds(), Seed: c.Seed,
		},
		Strategy: StrategyInfo{Name: c.Strategy},
		Counts:   map[ledger.Outcome]int{},
		Answers:  []Answer{}, Commands: []Commands{}, Problems: []string{},
		Start: time.Now(),
	}
	for _, o := range outcomes {
		r.Counts[o] = 0
	}
	for _, t := range c.Targets {
		r.Targets = append(r.Targets, Target{URL: t, Backends: []backend.Status{}})
	}
	return r
}
