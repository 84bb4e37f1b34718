// Package loadtest sends the purchases of many buyers to a sale over HTTP, and judges the run from the ledger
// and from the answers that every buyer got. The seckill program and its page call it as a library.
//
// A Scenario describes a load. Run sends the load to the targets of a Config, reports Progress meanwhile,
// and returns a Result. The JSON form of a Result is stable.
package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tables"
)

// A Config says what load a run sends, and to which services.
type Config struct {
	Scenario
	Targets    []string // base URLs of the service processes, which get the requests in turn
	AdminToken string

	// Joins lets the buyers join the current sale. Then nothing is reset: Stock must be the initial stock of
	// that sale, which also has orders of other buyers. Nobody knows the answers that those buyers got, so
	// the answers are not checked for linearizability.
	Joins bool
	// Keyless buyers send no Idempotency-Key. Each buyer makes one call, so the judge finds the request of an order
	// by the order's user. A service never defers a purchase without a key, so every answer is final.
	Keyless bool

	// Ledger reads the services' database. Run needs a Ledger, Send does not.
	Ledger Ledger

	Hooks

	limits limits // the zero value means defaultLimits
}

// Hooks are functions that a run calls. Each may be nil.
type Hooks struct {
	// OnProgress is called about ten times a second and once at the end, always from the same goroutine.
	OnProgress func(Progress)
	// Begin and End let several runs send their loads at the same time. A run calls Begin when it is ready,
	// and starts its load when Begin returns. It calls End after its load, and audits when End returns. End
	// should wait for the loads of all runs, because services do not say to which run a purchase in flight
	// belongs. A run that sends no load calls neither.
	Begin, End func()
	// Outage is called once after the load, if a target reports how long a lock can delay a buyer. Outage
	// returns how much longer the sale can stand still because of planned faults.
	Outage func() time.Duration
	// Faulty is called after the load, and reports whether faults were planned for the run. With planned
	// faults, the run stays valid even if few buyers got an answer.
	Faulty func() bool
	// ServersTime returns the processor time that the servers behind the targets have used so far. It returns
	// false if this time is not known.
	ServersTime func() (time.Duration, bool)
}

// A Ledger returns the data for the verdict. The type *ledger.Store is a Ledger.
type Ledger interface {
	Snapshot(ctx context.Context, sku int64) (judge.Snapshot, error)
}

// ErrConfig means that a run was not started because its configuration is wrong.
var ErrConfig = errors.New("the run cannot be started")

// Check returns an ErrConfig if a run is impossible or pointless. It calls no service. Run also calls Check;
// a caller who starts the targets should call it before.
func (c Config) Check() error {
	if err := c.Scenario.checkPossible(); err != nil {
		return err
	}
	if !c.Joins {
		if err := c.checkReset(); err != nil {
			return err
		}
		if err := c.checkDemand(); err != nil {
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

// Run resets the sale, sends the load, waits until all purchases have ended, and judges the sale. When ctx
// ends, it sends no more requests and audits the sale so far. The error is nil or an ErrConfig. If there is
// an error, there is no Result, and no service was changed.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newCheckedRun(c)
	if err != nil {
		return nil, err
	}
	if c.Ledger == nil {
		return nil, configError("no ledger: the verdict is read from the services' database")
	}
	defer r.services[0].http.CloseIdleConnections()

	ready, err := r.prepareSale(ctx)
	if err != nil {
		return nil, err
	}
	if ready {
		stopProgress := r.sendLoad(ctx)
		r.judgeSale(context.WithoutCancel(ctx))
		stopProgress()
	}
	if r.isInterrupted(ctx) {
		r.result.Interrupted = true
		r.addProblem("interrupted", params{"sent": r.result.Requests, "of": r.plan.requests},
			"interrupted after %s of %s buyers", tables.Thousands(r.result.Requests), tables.Thousands(r.plan.requests))
	}
	// Few answers are no problem if faults were planned, or in a joined sale, where other buyers test the stock, too.
	excused := c.Joins || c.Faulty != nil && c.Faulty()
	if r.result.isUntried() && !excused {
		answered := r.result.Requests - r.result.Counts.Uncertain()
		r.addProblem("few_answers", params{"answered": answered, "of": r.result.Requests, "stock": c.Stock},
			"only %s of %s got a definite answer, and units were left: nothing could be oversold",
			tables.Thousands(answered), tables.Count(r.result.Requests, "buyer"))
	}
	r.result.writeVerdict(c.Require)
	return r.result, nil
}

// Send sends the purchases of a scenario to targets that can only answer purchases. It resets nothing, reads
// no ledger, and gives no verdict. So the client that measures services can also measure an HTTP handler
// without a ledger. The error is nil or an ErrConfig.
func Send(ctx context.Context, c Config) (*Result, error) {
	r, err := newCheckedRun(c)
	if err != nil {
		return nil, err
	}
	r.services = nil // The run reads no counts of commands, because only our services have them.
	r.sendLoad(ctx)()
	r.result.Interrupted = r.isInterrupted(ctx)
	return r.result, nil
}

type run struct {
	config   Config
	plan     *plan
	services []service
	lockTime time.Duration // the longest lease plus wait for a lock at any target; 0 if not known
	tally    *tally
	result   *Result

	stockStores map[string]seckill.StockStore // strategy → the store in which it keeps the stock
}

// newCheckedRun checks the configuration and returns a run. It calls no service.
func newCheckedRun(c Config) (*run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Targets) == 0 {
		return nil, configError("no target: give the address of at least one service")
	}
	c.limits = cmp.Or(c.limits, defaultLimits)
	return newRun(c), nil
}

func newRun(c Config) *run {
	c.limits.settle += c.Reserve // long enough for every reservation to expire
	p, result := newPlan(c.Scenario, make([]int64, c.SKUs)), newResult(c)
	r := &run{config: c, plan: p, tally: newTally(p, result), result: result}
	direct := &http.Client{Transport: &http.Transport{}} // unlike the default client, it uses no proxy
	for _, t := range c.Targets {
		r.services = append(r.services, service{strings.TrimRight(t, "/"), c.AdminToken, direct})
	}
	return r
}

func (r *run) isInterrupted(ctx context.Context) bool {
	return ctx.Err() != nil && r.result.Requests < r.plan.requests
}

// sendLoad sends the load and reports progress. The returned function ends the reports. The order of the steps in
// sendLoad matters: everything is ready before Begin is called, the processor times cover the requests only, and the
// services' costs also cover the calls that finishCopies waits for.
func (r *run) sendLoad(ctx context.Context) func() {
	stopMeter := r.startMeter(ctx)
	client := newClient(r.config)
	defer client.interrupt()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(interruptGrace, client.interrupt) })()
	l := newLoad(r.plan, r.tally, func() caller { return client.newBuyer() })
	l.limits = r.config.limits
	if r.config.Begin != nil {
		r.config.Begin()
	}
	stopProgress := r.reportProgress()
	r.result.Start = time.Now()
	took := r.sendMeasured(ctx, l)
	l.finishCopies()
	r.tally.writeSummary(took)
	if r.config.End != nil {
		r.config.End()
	}
	stopMeter(context.WithoutCancel(ctx))
	r.result.Problems = append(r.result.Problems, r.result.findBottleneck()...)
	return stopProgress
}

// sendMeasured sends the requests and returns how long they took. It writes the processor times of this
// process and of the servers into the result.
func (r *run) sendMeasured(ctx context.Context, l *load) time.Duration {
	serversTime := r.config.ServersTime
	if serversTime == nil {
		serversTime = func() (time.Duration, bool) { return 0, false }
	}
	generator := cpuTime()
	before, known := serversTime()
	l.sendRequests(ctx)
	took := l.sinceStart()
	r.result.Processor.Generator = new((cpuTime() - generator).Seconds())
	after, stillKnown := serversTime()
	// If a server was restarted meanwhile, its time began at 0 again, so the second reading may be lower.
	if known && stillKnown && after >= before {
		r.result.Processor.Servers = new((after - before).Seconds())
	}
	return took
}

func (r *run) judgeSale(ctx context.Context) {
	if reports := r.auditSKUs(ctx); reports != nil {
		sum := judge.SumReports(reports)
		r.result.Audit = &sum
	}
	if r.result.Counts.Uncertain() == r.result.Requests {
		r.addProblem("no_answer", nil, "no buyer got a definite answer")
	}
	for _, a := range r.result.Answers {
		// The code is "nonsense", or ends with this word, such as "cancel_nonsense".
		if strings.HasSuffix(a.Code, codeNonsense) {
			r.addProblem("nonsense", params{"count": a.Count, "sample": a.Sample},
				"answers outside the service's contract: %s, such as %s", tables.Thousands(a.Count), a.Sample)
		}
	}
}

func newResult(c Config) *Result {
	r := &Result{
		Settings: c.Scenario,
		Strategy: StrategyInfo{Name: c.Strategy},
		Counts:   Counts{},
		Answers:  []Answer{}, Commands: []Commands{}, Problems: []Problem{},
		Start: time.Now(),
	}
	for _, o := range Outcomes { // The result lists every outcome, even if its count is 0.
		r.Counts[o] = 0
	}
	for _, t := range c.Targets {
		r.Targets = append(r.Targets, Target{URL: t, Backends: []backend.Status{}})
	}
	return r
}

// Progress is the state of a run.
type Progress struct {
	Elapsed  time.Duration `json:"elapsed_ns"`
	Settling bool          `json:"settling"` // true while the audit waits for purchases that have not ended
	Requests int           `json:"requests"` // requests so far that were answered or given up
	Buyers   int           `json:"buyers"`   // requests that the run sends in all
	Counts   Counts        `json:"counts"`
	Units    int64         `json:"units"` // units sold and not given back so far, as the answers say
	Left     int64         `json:"left"`  // the smallest number of units left in an answer so far, summed over all SKUs
	Rate     float64       `json:"rate"`  // requests per second since the last report
	P50      float64       `json:"p50_ms"`
	P99      float64       `json:"p99_ms"`
}

// reportProgress starts a goroutine that calls OnProgress regularly. The returned function ends the goroutine. It
// returns after one last call of OnProgress.
func (r *run) reportProgress() func() {
	if r.config.OnProgress == nil {
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
		r.config.OnProgress(p)
	}
	ended := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for running := true; running; show() {
			select {
			case <-tick.C:
			case <-ended:
				running = false
			}
		}
	})
	return func() {
		close(ended)
		showing.Wait()
	}
}
