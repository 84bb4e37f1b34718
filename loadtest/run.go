package loadtest

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
)

// Run resets the sale, lets the buyers storm, waits until the service has
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
	if c.Service != nil && c.Totals == nil {
		return nil, configError("no database for the audit of this service: give its address")
	}
	if c.patience == (patience{}) {
		c.patience = defaultPatience
	}
	c.Scenario = c.normal()
	r := newRun(c)
	defer r.transport.CloseIdleConnections()

	var shop shop = &ourShop{run: r, homes: map[string]ledger.Home{}}
	if c.Service != nil {
		shop = &foreignShop{run: r}
	}
	ready, err := shop.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if ready {
		finish := r.storm(ctx)
		r.judge(context.WithoutCancel(ctx), shop)
		r.result.Course = finish()
	}
	if r.result.Interrupted = ctx.Err() != nil && r.result.Requests < r.plan.requests; r.result.Interrupted {
		r.problemOf(CauseInterrupted, params{"sent": r.result.Requests, "of": r.plan.requests}, "interrupted after %s of %s buyers", thousands(r.result.Requests), thousands(r.plan.requests))
	}
	if err := r.result.conclude(c.Require); err != nil {
		return nil, err
	}
	if r.result.Verdict == ledger.Held && c.Service == nil {
		r.result.Known = c.Counterexamples.Breaking(r.result.Strategy.Name, len(c.Targets))
	}
	return r.result, nil
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// A shop is what the buyers storm: ours, or somebody else's.
type shop interface {
	// prepare looks at the targets and resets the sale, and sets the runs. ready
	// is false, with the reasons among the result's problems, when there is
	// nothing to storm.
	prepare(ctx context.Context) (ready bool, err error)
	// audit judges each SKU once nothing changes any more. nil: it could not.
	audit(ctx context.Context, told [][]ledger.Told) []ledger.Report
}

type run struct {
	Config
	plan      *plan
	transport *http.Transport
	services  []service
	locks     []lockTimes // of the services that say
	tally     *tally
	history   history
	result    *Result
}

func newRun(c Config) *run {
	r := &run{Config: c, plan: newPlan(c.Scenario, make([]int64, c.SKUs)), tally: newTally(c.Scenario), result: newResult(c),
		transport: &http.Transport{Proxy: nil, DisableCompression: true,
			TLSClientConfig: &tls.Config{RootCAs: c.Authorities, MinVersion: tls.VersionTLS12}}}
	for _, t := range c.Targets {
		r.services = append(r.services, service{
			base: strings.TrimRight(t, "/"), adminToken: c.AdminToken, http: &http.Client{Transport: r.transport},
		})
	}
	return r
}

// storm lets the buyers in. The run goes on being reported until finish, which
// returns its course.
func (r *run) storm(ctx context.Context) (finish func() []Point) {
	meter := r.startMeter(ctx)
	client := newClient(r.Config)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(interruptGrace, client.interrupt) })()
	s := &storm{plan: r.plan, tally: r.tally, open: func() caller { return client.newBuyer() }}
	call(r.Begin)
	finish = r.report()
	r.result.Start = time.Now()
	cpu := startCPU()
	s.blow(ctx)
	took := time.Since(s.begun)
	r.result.GeneratorCPU = cpu.cores()
	s.finish()
	r.tally.summarize(r.result, took)
	r.history = s.diaries
	call(r.End)
	meter.stop(context.WithoutCancel(ctx), r.result)
	if why, cause := r.result.bottleneck(); why != "" {
		r.problemOf(cause.Code, cause.Params, "the generator was the bottleneck: %s", why)
	}
	if r.result.Dropped > 0 && ctx.Err() == nil {
		r.problemOf(CauseNeverSent, params{"count": r.result.Dropped, "seconds": r.Drain.Seconds()}, "%s never sent, %s after the last was due: the service cannot keep up, and the latencies lack the worst",
			wasOrWere(r.result.Dropped, "request"), r.Drain)
	}
	return finish
}

// judge has the sale audited, with whatever was recorded of the buyers.
func (r *run) judge(ctx context.Context, shop shop) {
	var told [][]ledger.Told
	if r.result.History = !r.NoHistory; r.result.History {
		told = r.history.told(r.plan)
	} else {
		told = make([][]ledger.Told, r.SKUs)
		r.result.Linearizable = Linearizability{Answer: LinearNotChecked, Why: "no history was kept"}
	}
	r.result.Told = r.tally.sums
	if r.result.Audits = shop.audit(ctx, told); r.result.Audits != nil {
		all := ledger.Sum(r.result.Audits)
		r.result.Audit = &all
	}
	if r.result.definite() == 0 {
		r.problemOf(CauseNoAnswer, nil, "no buyer got a definite answer")
	}
	for _, a := range r.result.Answers {
		if a.Code == codeNonsense || a.Code == "cancel_"+codeNonsense {
			r.problemOf(CauseNonsense, params{"count": a.Count, "sample": a.Sample}, "%s not what the service's contract allows: %s", wasOrWere(a.Count, "answer"), a.Sample)
		}
	}
}

func newResult(c Config) *Result {
	r := &Result{
		Settings: Settings{
			Strategy: c.Strategy, SKU: c.SKU, Stock: c.Stock, Buyers: c.Requests(), Concurrency: c.Concurrency,
			Quantity: c.Quantity, TimeoutSeconds: c.Timeout.Seconds(), Seed: c.Seed,
			Profile: c.Profile, SKUs: c.SKUs, Zipf: c.Zipf, Quantities: c.Quantities, Duplicates: c.Duplicates,
			Cancellations: c.Cancellations, Copies: float64(c.Copies), Retry: c.Retry, Rate: c.Rate, ToRate: c.ToRate, DurationSeconds: c.Duration.Seconds(),
			Steps: c.Steps, Require: c.Require,
		},
		Strategy: StrategyInfo{Name: c.Strategy},
		Counts:   named(make([]int, len(outcomes))),
		Calls:    named(make([]int, len(outcomes))),
		Answers:  []Answer{}, Commands: []Commands{}, Problems: []string{},
		LatencyCurve: []Percentile{}, ServiceCurve: []Percentile{}, Course: []Point{}, Told: []ledger.Sums{},
		Linearizable: Linearizability{Answer: LinearNotChecked},
		Start:        time.Now(),
	}
	if c.Open() {
		r.Settings.Connections = c.Connections
	}
	for _, t := range c.Targets {
		r.Targets = append(r.Targets, Target{URL: t, Backends: []backend.Status{}})
	}
	return r
}
