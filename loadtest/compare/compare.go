package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/stats"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// Options say what a comparison compares, and with which services.
type Options struct {
	Settings
	Sale       loadtest.Config // the targets, the ledger and the hooks of each sale; Settings has the scenario
	Candidates []Candidate
	NotRun     []NotRun       // strategies that were chosen, but cannot run
	Servers    backend.Config // the servers that the baselines use

	// OnStep, if not nil, is called each time before an entry is measured.
	OnStep func(done, total int, next Step)

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // runs one sale; nil means loadtest.Run
}

// A Step names the entry that is measured next.
type Step struct {
	Strategy    string `json:"strategy"`
	Concurrency int    `json:"concurrency"`
}

// Run compares the candidates. When ctx ends, Run audits the current sale, and returns a result with the
// measurements so far.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	bare, opened := &baselineWork{}, error(nil)
	if o.Baselines != nil {
		opened = bare.openBaselines(ctx, &o)
	}
	c := newComparison(o)
	begun := time.Now()
	turns := c.planTurns()
	for done, turn := range turns {
		if ctx.Err() != nil {
			break
		}
		e := c.result.Entries[turn.Subject]
		if c.unavailable[e.Strategy] {
			continue
		}
		if o.OnStep != nil {
			o.OnStep(done, len(turns), Step{e.Strategy, e.Concurrency})
		}
		c.runTurn(ctx, e, turn.Round)
	}
	// If the context ends between two sales, neither of them reports it.
	c.result.Interrupted = c.result.Interrupted || ctx.Err() != nil
	c.result.Seconds = time.Since(begun).Seconds()
	c.finishEntries()
	// Opening or closing the baselines fails, for example, if the database has been stopped.
	if err := errors.Join(opened, bare.closeBaselines()); err != nil {
		c.result.Problems = append(c.result.Problems, fmt.Sprintf("the baselines: %v", err))
	}
	return c.result
}

type comparison struct {
	Options
	result      *Result
	unavailable map[string]bool // strategies for which no sale could be started
}

func newComparison(o Options) *comparison {
	c := &comparison{Options: o, unavailable: map[string]bool{}, result: &Result{
		Origin: Origin{Begun: time.Now().Round(time.Second), Targets: o.Sale.Targets, Machine: tables.ThisMachine(),
			Servers: []backend.Status{}},
		Settings: o.Settings, NotRun: append([]NotRun{}, o.NotRun...), Entries: []*Entry{}, Problems: []string{},
	}}
	for _, crowd := range append([]int{o.Scenario.Concurrency}, o.Crowds...) {
		for _, k := range o.Candidates {
			c.addEntry(k, crowd)
			if o.Keys && !k.Baseline {
				k.Keyless = true
				c.addEntry(k, crowd)
			}
		}
	}
	return c
}

// addEntry adds an entry for the candidate k and the given number of concurrent buyers, unless it exists already.
func (c *comparison) addEntry(k Candidate, crowd int) {
	isThis := func(e *Entry) bool { return e.Candidate == k && e.Concurrency == crowd }
	if !slices.ContainsFunc(c.result.Entries, isThis) {
		c.result.Entries = append(c.result.Entries, &Entry{Candidate: k, Concurrency: crowd,
			Findings: Findings{Violations: []judge.Violation{}, Problems: []loadtest.Problem{}},
			Rounds:   []Round{}, Ratios: map[string]stats.Ratio{},
			measuring: measuring{histogram: hdrhistogram.New(1, (2 * time.Hour).Microseconds(), 3)}})
	}
}

// A turn measures one strategy. In a long comparison, the speed of the machine can change by half between the first
// and the last turn of a round. So one strategy, the reference, is measured again after each group of groupSize turns.
const groupSize = 4

// planTurns returns the turns in their order. In a long comparison, a turn of the reference precedes each
// group, and one more ends the comparison. The reference is the strategy that Result.RelativeTo names.
func (c *comparison) planTurns() []stats.Turn {
	entries := c.result.Entries
	turns := slices.DeleteFunc(stats.Turns(c.Rounds, len(entries)), func(t stats.Turn) bool {
		return !c.takesPart(entries[t.Subject].Candidate, t.Round)
	})
	if len(entries) <= 2*groupSize || len(c.result.MainEntries()) < len(entries) {
		return turns
	}
	reference := max(0, slices.IndexFunc(entries, func(e *Entry) bool { return e.Strategy == "conditional" }))
	entries[reference].reference = true
	turns = slices.DeleteFunc(turns, func(t stats.Turn) bool { return t.Subject == reference })
	var planned []stats.Turn
	for group := range slices.Chunk(turns, groupSize) {
		planned = append(planned, stats.Turn{Round: group[0].Round, Subject: reference})
		planned = append(planned, group...)
	}
	return append(planned, stats.Turn{Round: c.Rounds, Subject: reference})
}

func (c *comparison) finishEntries() {
	r := c.result
	r.Entries = slices.DeleteFunc(r.Entries, func(e *Entry) bool {
		idle := len(e.Rounds) == 0 && len(e.Problems) == 0
		if idle && !e.Keyless && !c.unavailable[e.Strategy] && e.Concurrency == r.Settings.Concurrency {
			r.NotRun = append(r.NotRun, NotRun{e.Strategy, "interrupted before its turn was over"})
		}
		return idle
	})
	for _, e := range r.Entries {
		e.summarizeRounds()
		if e.Verdict == "" && !e.Baseline {
			e.Verdict = judge.NotValid
		}
	}
	r.setRatios()
}

// maxAddedBuyers bounds how many buyers saleOf adds, because every call is kept in memory until it is judged.
const maxAddedBuyers = 100_000

// saleOf returns the sale of the entry e. With plenty of stock, saleOf adds buyers so that one sale lasts a
// whole turn, because the beginning and the end of a sale are not typical.
func (c *comparison) saleOf(e *Entry) loadtest.Config {
	sale := c.Sale
	sale.Scenario = c.Scenario
	sale.Strategy, sale.Concurrency, sale.Keyless = e.Strategy, e.Concurrency, e.Keyless
	if more := min(int(e.rate*c.Turn.Seconds())-sale.Buyers, maxAddedBuyers); more > 0 && sale.Plenty && !sale.Open() {
		sale.Buyers += more
		sale.Stock += int64(more) * sale.Quantity
	}
	return sale
}

// warmUpSale returns a small sale that opens connections and fills caches.
func (c *comparison) warmUpSale(e *Entry) loadtest.Config {
	warm := c.saleOf(e)
	warm.Profile, warm.Rate, warm.Duration = loadtest.Closed, 0, 0
	warm.Concurrency = max(1, warm.Concurrency)
	warm.Buyers, warm.Stock = 2*warm.Concurrency, max(1, min(warm.Stock, int64(warm.Concurrency)))*warm.Quantity
	warm.Plenty = true // With many SKUs, this small sale may have more units than buyers want.
	warm.Forget = 0    // No buyer leaves a reservation unpaid, so the sale need not wait until reservations expire.
	return warm
}

// runSale runs one sale. For a baseline it only sends the load, because there is no ledger to reset or to judge.
func (c *comparison) runSale(ctx context.Context, e *Entry, sale loadtest.Config) (*loadtest.Result, error) {
	run := c.load
	if e.Baseline {
		sale.Targets, sale.Strategy = []string{e.target}, baselineStrategy
		// A baseline can only answer purchases, so buyers do not reserve, and every answer is final.
		sale.Reserve, sale.Forget, sale.Async = 0, 0, false
		run = loadtest.Send
	}
	r, err := run(ctx, sale)
	if err == nil {
		e.rate = r.RequestsPerSec
	}
	return r, err
}

// runTurn repeats the sale of the entry e until the sales have taken Settings.Turn together. In the first
// round, a warm-up sale precedes them, which is judged but not measured.
func (c *comparison) runTurn(ctx context.Context, e *Entry, round int) {
	t := Round{Round: round, Figures: map[string]float64{}}
	var r *loadtest.Result
	var err error
	if round == 1 {
		if r, err = c.runSale(ctx, e, c.warmUpSale(e)); err == nil {
			e.addVerdict(&t, r)
		}
	}
	var sales []*loadtest.Result
	for took := 0.0; err == nil && ctx.Err() == nil && (sales == nil || took < c.Turn.Seconds()); {
		if r, err = c.runSale(ctx, e, c.saleOf(e)); err != nil {
			break
		}
		e.addVerdict(&t, r)
		if len(r.Targets) > 0 && len(r.Targets[0].Backends) > 0 {
			c.result.Servers = r.Targets[0].Backends
		}
		if r.Interrupted || r.Requests == 0 {
			break
		}
		took += r.Seconds
		if r.Histogram != nil {
			e.histogram.Merge(r.Histogram)
		}
		r.Histogram = nil
		sales = append(sales, r)
		if !e.Baseline {
			signs := []loadtest.Sign{"", loadtest.Yes, loadtest.NotKnown, loadtest.No}
			e.Served = judge.Worse(signs, e.Served, r.Signs.Served)
		}
	}
	if err != nil { // The sale could not be started, so this strategy is not tried again.
		c.unavailable[e.Strategy] = true
		why := strings.TrimPrefix(err.Error(), loadtest.ErrConfig.Error()+": ")
		c.result.NotRun = append(c.result.NotRun, NotRun{e.Strategy, why})
		return
	}
	c.result.Interrupted = c.result.Interrupted || t.Interrupted
	if t.Verdict == "" && !e.Baseline {
		return
	}
	t.Sales = len(sales)
	if sales != nil {
		for _, m := range metrics {
			if figure, known := m.compute(sales); known {
				t.Figures[m.id] = figure
			}
		}
	}
	t.references = len(c.result.references)
	if e.reference {
		c.result.references = append(c.result.references, t.Figures[c.By])
	}
	e.addRound(t)
}

func (e *Entry) addVerdict(t *Round, r *loadtest.Result) {
	t.Interrupted = t.Interrupted || r.Interrupted
	// This sale was cut short before it could be judged, so its verdict says nothing.
	if r.Interrupted && r.Verdict == judge.NotValid {
		return
	}
	t.Verdict, e.accepted = loadtest.Worst(t.Verdict, r.Verdict), e.accepted || r.Accepted > 0
	if r.Audit != nil {
		e.Over = max(e.Over, r.Audit.Sold-r.Audit.Initial)
		for _, v := range r.Audit.Violations {
			e.addViolation(v)
		}
	}
	if r.Verdict == loadtest.Blocked {
		e.addViolation(judge.Violation{Rule: string(loadtest.Blocked), Message: r.DescribeStandstill()})
	}
	for _, p := range r.Problems {
		if !slices.ContainsFunc(e.Problems, func(known loadtest.Problem) bool { return known.Text == p.Text }) {
			e.Problems = append(e.Problems, p)
		}
	}
}

func (e *Entry) addViolation(v judge.Violation) {
	if !slices.ContainsFunc(e.Violations, func(known judge.Violation) bool { return known.Rule == v.Rule }) {
		e.Violations = append(e.Violations, v)
	}
}
