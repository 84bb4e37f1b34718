// Package loadtest sends the purchases of many buyers to a sale over HTTP and
// judges the run from the ledger and from what every buyer was told. The seckill
// program and its page call it as a library.
//
// A Scenario says what load; Run sends it to the targets of a Config, reports
// Progress meanwhile, and returns a Result, whose JSON form is stable.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/measure"
	"seckill/internal/seckill"
)

// A Config is one load run: a Scenario, and against what.
type Config struct {
	Scenario
	Targets    []string // base URLs of service processes; requests go round-robin
	AdminToken string

	// Joins has the buyers join the sale that is on: nothing is reset, Stock is what
	// it was set to, and the orders of others are judged as theirs. Whether the
	// answers are linearizable is not checked, because others' are not known.
	Joins bool
	// Keyless has buyers send no Idempotency-Key. Each buys once and makes one call: the
	// judge tells their requests apart by the user. Without a key nothing is accepted: every
	// answer is final.
	Keyless bool

	// Ledger reads the services' database. Send needs none.
	Ledger Ledger
	// Outage, if not nil, is called once after the load, if a target says how long a
	// buyer waits for a lock and a lease lasts. The sale may stand still for so much
	// longer, because planned faults held it up.
	Outage func() time.Duration
	// Faulty, if not nil, says after the load whether faults were planned for the run, or
	// added. That few buyers got an answer is then what was tried, and no problem.
	Faulty func() bool
	// ServersTime, if not nil, is the processor time that the servers behind the
	// targets have used so far, and whether that is known.
	ServersTime func() (time.Duration, bool)

	// OnProgress, if not nil, is called about ten times a second and once at
	// the end, from one goroutine.
	OnProgress func(Progress)
	// Begin and End, if not nil, synchronize concurrent runs. The load waits for
	// Begin, which is called when everything is ready; the audit waits for End,
	// because metrics do not say which run a purchase in flight belongs to.
	// Neither is called if no load is sent.
	Begin, End func()

	settling    settling      // zero: the default
	finalWithin time.Duration // how long buyers ask for the final answer; 0: the default
}

// A Ledger is where the verdict comes from; *ledger.Store is one.
type Ledger interface {
	Snapshot(ctx context.Context, sku int64) (judge.Snapshot, error)
}

// ErrConfig marks a run that was not started because of what was asked for.
var ErrConfig = errors.New("the run cannot be started")

// Check finds what makes a run impossible or pointless, without calling any
// service; the error is an ErrConfig. Run checks too; call Check before targets
// are started.
func (c Config) Check() error {
	if err := c.Scenario.checkPossible(); err != nil {
		return err
	}
	if !c.Joins {
		if err := c.checkReset(); err != nil {
			return err
		}
		if err := c.withDefaults().checkDemand(); err != nil {
			return err
		}
	}
	for _, t := range c.Targets {
		if err := checkTarget(t); err != nil {
			return err
		}
	}
	return nil
}

func configError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
}

// Run resets the sale, sends the load, waits until the service has settled, and
// judges. When ctx ends, no more requests are sent and what happened until then
// is audited. Every run has a Result; the error is an ErrConfig, and then no
// service was changed.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := c.newCheckedRun()
	if err != nil {
		return nil, err
	}
	if c.Ledger == nil {
		return nil, configError("no ledger: the verdict is read from the services' database")
	}
	defer r.transport.CloseIdleConnections()

	ready, err := r.prepareSale(ctx)
	if err != nil {
		return nil, err
	}
	if ready {
		finish := r.sendLoad(ctx)
		r.judgeSale(context.WithoutCancel(ctx))
		finish()
	}
	if r.result.Interrupted = ctx.Err() != nil && r.result.Requests < r.plan.requests; r.result.Interrupted {
		r.addProblem(ProblemInterrupted, params{"sent": r.result.Requests, "of": r.plan.requests}, "interrupted after %s of %s buyers", measure.Thousands(r.result.Requests), measure.Thousands(r.plan.requests))
	}
	r.result.writeVerdict(c.Require)
	if !(c.Faulty != nil && c.Faulty()) && !c.Joins && r.result.isUntried() { // faults keep answers away
		answered := r.result.Requests - r.result.Uncertain()
		r.addProblem(ProblemFewAnswers, params{"answered": answered, "of": r.result.Requests, "stock": r.Stock},
			"only %s of %s got a definite answer, and units were left: nothing could be oversold", measure.Thousands(answered), measure.Count(r.result.Requests, "buyer"))
		r.result.writeVerdict(c.Require)
	}
	return r.result, nil
}

// Send sends the scenario's purchases to targets that have nothing but the
// purchase: no reset, no ledger, no metrics. It measures a bare handler with
// the client that measures services. There is no verdict; the error is an
// ErrConfig.
func Send(ctx context.Context, c Config) (*Result, error) {
	r, err := c.newCheckedRun()
	if err != nil {
		return nil, err
	}
	r.services = nil // a bare handler has no metrics
	r.sendLoad(ctx)()
	r.result.Interrupted = ctx.Err() != nil && r.result.Requests < r.plan.requests
	return r.result, nil
}

func runHook(f func()) {
	if f != nil {
		f()
	}
}

type run struct {
	Config
	plan      *plan
	transport *http.Transport
	services  []service
	locks     []lockTimes // of the services that say
	tally     *tally
	result    *Result

	stockStores map[string]seckill.StockStore // where each strategy keeps its stock
}

// start is a run that has not called any service yet.
func (c Config) newCheckedRun() (*run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Targets) == 0 {
		return nil, configError("no target: give the address of at least one service")
	}
	if c.settling == (settling{}) {
		c.settling = defaultSettling
	}
	c.Scenario = c.withDefaults()
	return newRun(c), nil
}

func newRun(c Config) *run {
	p, result := newPlan(c.Scenario, make([]int64, c.SKUs)), newResult(c)
	r := &run{Config: c, plan: p, tally: newTally(p, result), result: result,
		transport: &http.Transport{Proxy: nil, DisableCompression: true}}
	for _, t := range c.Targets {
		r.services = append(r.services, service{
			base: strings.TrimRight(t, "/"), adminToken: c.AdminToken, http: &http.Client{Transport: r.transport},
		})
	}
	return r
}

// send sends the load. Progress is reported until finish.
func (r *run) sendLoad(ctx context.Context) (finish func()) {
	stopMeter := r.startMeter(ctx)
	client := newClient(r.Config)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(interruptGrace, client.interrupt) })()
	l := newLoad(r.plan, r.tally, func() caller { return client.newBuyer() })
	if r.finalWithin > 0 {
		l.finalWithin = r.finalWithin
	}
	runHook(r.Begin)
	finish = r.reportProgress()
	r.result.Start = time.Now()
	cpu, servers, known := cpuTime(), time.Duration(0), false
	if r.ServersTime != nil {
		servers, known = r.ServersTime()
	}
	l.sendRequests(ctx)
	took := l.sinceStart()
	r.result.Processor.Generator = new((cpuTime() - cpu).Seconds())
	if known {
		if now, still := r.ServersTime(); still && now >= servers { // none was started again
			r.result.Processor.Servers = new((now - servers).Seconds())
		}
	}
	l.finishCopies()
	r.tally.writeSummary(took)
	runHook(r.End)
	stopMeter(context.WithoutCancel(ctx))
	r.result.Problems = append(r.result.Problems, r.result.findBottleneck()...)
	return finish
}

// judge audits the sale with what was recorded of the buyers.
func (r *run) judgeSale(ctx context.Context) {
	if reports := r.auditSKUs(ctx); reports != nil {
		all := judge.Sum(reports)
		r.result.Audit = &all
	}
	if r.result.Uncertain() == r.result.Requests {
		r.addProblem(ProblemNoAnswer, nil, "no buyer got a definite answer")
	}
	for _, a := range r.result.Answers {
		if strings.HasSuffix(a.Code, codeNonsense) { // to whatever call
			r.addProblem(ProblemNonsense, params{"count": a.Count, "sample": a.Sample}, "answers outside the service's contract: %s, such as %s", measure.Thousands(a.Count), a.Sample)
		}
	}
}

func newResult(c Config) *Result {
	r := &Result{
		Settings: c.Scenario,
		Strategy: StrategyInfo{Name: c.Strategy},
		Counts:   map[judge.Outcome]int{},
		Answers:  []Answer{}, Commands: []Commands{}, Problems: []Problem{},
		Start: time.Now(),
	}
	for _, o := range Outcomes { // also those that do not come
		r.Counts[o] = 0
	}
	for _, t := range c.Targets {
		r.Targets = append(r.Targets, Target{URL: t, Backends: []backend.Status{}})
	}
	return r
}

// Progress is the state of a run.
type Progress struct {
	Elapsed  time.Duration         `json:"elapsed_ns"`
	Settling bool                  `json:"settling"` // the load has ended, the audit waits for purchases without an answer
	Requests int                   `json:"requests"` // answered or given up
	Buyers   int                   `json:"buyers"`   // in all
	Counts   map[judge.Outcome]int `json:"counts"`
	Units    int64                 `json:"units"` // told sold and not given back, so far
	Left     int64                 `json:"left"`  // the least that a buyer has been told is left
	Rate     float64               `json:"rate"`  // requests a second, over the last interval
	P50      float64               `json:"p50_ms"`
	P99      float64               `json:"p99_ms"`
}

const progressInterval = 100 * time.Millisecond

// report calls OnProgress from a goroutine of its own. finish calls it once more.
func (r *run) reportProgress() (finish func()) {
	if r.OnProgress == nil {
		return func() {}
	}
	start := time.Now()
	last, lastAt := 0, start
	show := func() {
		p := r.tally.currentProgress()
		now := time.Now()
		p.Buyers, p.Elapsed = r.plan.requests, now.Sub(start)
		if since := now.Sub(lastAt).Seconds(); since > 0 {
			p.Rate = float64(p.Requests-last) / since
		}
		last, lastAt = p.Requests, now
		r.OnProgress(p)
	}
	ctx, stop := context.WithCancel(context.Background())
	var showing sync.WaitGroup
	showing.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
			show()
		}
	})
	return func() {
		stop()
		showing.Wait()
	}
}
