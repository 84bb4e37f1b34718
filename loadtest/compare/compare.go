package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// Options are what to compare, and where.
type Options struct {
	// Sale is the same for all; its strategy is set to each candidate's.
	Sale       loadtest.Config
	Candidates []Candidate
	NotRun     []NotRun // chosen, but known to be unavailable
	Baselines  []Baseline
	Locks      *Locks // of the service processes; nil: not known

	Repeats int           // rounds
	Turn    time.Duration // a turn repeats the sale until so much was measured
	// Sparse candidates run once more, with Few buyers at a time.
	Sparse []string
	Few    int
	// Crowds are further numbers of buyers at a time, with which all candidates
	// run once more, and the baselines are measured once more.
	Crowds []int

	// OnStep, if not nil, is called before each turn.
	OnStep func(done, total int, next Step)
	// OnTurn, if not nil, is called after each turn of a strategy.
	OnTurn func(Standing)

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // nil: loadtest.Run
}

// DefaultOptions are what seckill compare and the page compare with when nothing
// else is asked for. Calls are made once: rates of copies and retries cannot be
// compared.
func DefaultOptions() Options {
	sale := loadtest.DefaultScenario()
	sale.Stock, sale.Buyers, sale.Duplicates, sale.Copies, sale.Retry = 400, 500, 0, 0, 0
	return Options{Sale: loadtest.Config{Scenario: sale}, Repeats: 3, Turn: 500 * time.Millisecond, Few: 2}
}

// A Candidate is a strategy that takes part.
type Candidate struct {
	Name, Title, Family string
	Breaks              bool // known to oversell with as many processes as there are targets
	// Hangs: known to stay locked when a reply to its holder is lost. A request with
	// an unknown outcome can do that without a fault, on a machine with too much to do.
	Hangs bool
}

// A Step is what has its turn: a strategy, or a baseline.
type Step struct {
	Strategy    string `json:"strategy,omitempty"`
	Concurrency int    `json:"concurrency,omitempty"` // if it is not the comparison's own
	Baseline    string `json:"baseline,omitempty"`    // its id
	What        string `json:"-"`                     // in words
}

// Run compares. When ctx ends, the current sale is audited, and the result has
// what was measured until then.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	c := newComparison(o)
	begun := time.Now()
	steps := c.steps()
	for turn := range measure.Turns(o.Repeats, len(steps)) {
		if ctx.Err() != nil {
			c.cut = true
			break
		}
		step := steps[turn.Subject]
		if o.OnStep != nil {
			o.OnStep(turn.Done, turn.Total, step.Step)
		}
		step.run(ctx, turn.Round)
	}
	c.result.Seconds = time.Since(begun).Seconds()
	c.result.Interrupted = c.cut
	c.conclude()
	return c.result
}

type comparison struct {
	Options
	result *Result
	gone   map[string]bool // found to be unavailable
	cut    bool            // ctx ended before the last turn did
}

func newComparison(o Options) *comparison {
	o.Sale.Connected = true // a large crowd must not be measured while it connects
	sale := o.Sale
	sale.Strategy = "" // the candidates have theirs
	c := &comparison{Options: o, gone: map[string]bool{}, result: &Result{
		Format: Format, Begun: time.Now().Round(time.Second), Targets: sale.Targets, Locks: o.Locks,
		Repeats: o.Repeats, TurnSeconds: o.Turn.Seconds(),
		Machine:    measure.ThisMachine(),
		Settings:   sale.Scenario,
		Strategies: []*Entry{}, Sparse: []*Entry{}, NotRun: append([]NotRun{}, o.NotRun...),
		Problems: []string{}, Claims: []Claim{},
		Baselines: []*BaselineResult{}, Servers: []backend.Status{}, Durability: []measure.ServerSetting{},
	}}
	for _, k := range o.Candidates {
		c.result.Strategies = append(c.result.Strategies, newEntry(k, sale.Concurrency))
		for _, name := range o.Sparse {
			if name == k.Name && o.Few > 0 && o.Few < sale.Concurrency {
				c.result.Sparse = append(c.result.Sparse, newEntry(k, o.Few))
			}
		}
	}
	for _, crowd := range o.Crowds {
		for _, k := range o.Candidates {
			if crowd != sale.Concurrency {
				c.result.Crowds = append(c.result.Crowds, newEntry(k, crowd))
			}
		}
	}
	for _, crowd := range append([]int{sale.Concurrency}, o.Crowds...) {
		if crowd == sale.Concurrency && len(c.result.Baselines) > 0 {
			continue
		}
		for _, b := range o.Baselines {
			c.result.Baselines = append(c.result.Baselines,
				&BaselineResult{ID: b.ID, Title: b.Title, Concurrency: crowd, Missing: b.Missing, Rounds: []BaselineRound{}, measure: b.Measure})
		}
	}
	return c
}

func newEntry(k Candidate, concurrency int) *Entry {
	return &Entry{Strategy: k.Name, Title: k.Title, Family: k.Family, Breaks: k.Breaks, Hangs: k.Hangs, Concurrency: concurrency,
		Violations: []Violation{}, Problems: []string{}, Ratios: map[string]measure.Spread{}, Commands: []loadtest.Commands{},
		Rounds: []Round{},
		times:  hdrhistogram.New(1, (2 * time.Hour).Microseconds(), 3)}
}

type step struct {
	Step
	run func(ctx context.Context, round int)
}

// steps is one round forwards: the baselines are spread among the strategies.
func (c *comparison) steps() (all []step) {
	entries := c.result.entries()
	var baselines []step
	for _, b := range c.result.Baselines {
		if b.Missing == "" {
			next := Step{Baseline: b.ID, What: b.Title}
			c.nameCrowd(&next, b.Concurrency)
			baselines = append(baselines, step{next, func(ctx context.Context, round int) { c.baseline(ctx, b, round) }})
		}
	}
	next := 0
	for i, e := range entries {
		for next < len(baselines) && next*len(entries) <= i*len(baselines) {
			all = append(all, baselines[next])
			next++
		}
		next := Step{Strategy: e.Strategy, What: e.Strategy}
		c.nameCrowd(&next, e.Concurrency)
		all = append(all, step{next, func(ctx context.Context, round int) {
			c.turn(ctx, e, round)
			if c.OnTurn != nil {
				c.OnTurn(c.standing(e))
			}
		}})
	}
	return append(all, baselines[next:]...)
}

// nameCrowd says how many buyers a step has, if it is not the comparison's own number.
func (c *comparison) nameCrowd(s *Step, buyers int) {
	if buyers != c.Sale.Concurrency {
		s.Concurrency, s.What = buyers, fmt.Sprintf("%s, %d at a time", s.What, buyers)
	}
}

// A baseline has no sale that ends by itself: it is measured for a turn, within
// these bounds.
const (
	leastBaseline = 200 * time.Millisecond
	mostBaseline  = 2 * time.Second
)

func (c *comparison) baseline(ctx context.Context, b *BaselineResult, round int) {
	if b.Missing != "" {
		return
	}
	rate, err := b.measure(ctx, b.Concurrency, min(max(c.Turn, leastBaseline), mostBaseline))
	switch {
	case err == nil:
		b.Rounds = append(b.Rounds, BaselineRound{round, rate})
	case ctx.Err() == nil:
		b.Missing = err.Error()
	}
}

// warmUp is a small sale, for connections, prepared structures and caches.
func (c *comparison) warmUp(e *Entry) loadtest.Config {
	warm := c.config(e)
	warm.Stock = max(1, min(warm.Stock, int64(e.Concurrency)/2)) * warm.Quantity
	warm.Buyers = int(warm.Stock/warm.Quantity) + max(1, e.Concurrency/2)
	warm.Forget, warm.PayLate = 0, 0 // it would wait for deadlines
	return warm
}

func (c *comparison) config(e *Entry) loadtest.Config {
	sale := c.Sale
	sale.Strategy, sale.Concurrency = e.Strategy, e.Concurrency
	return sale
}

// turn repeats the sale until enough was measured, after a warm-up that is
// judged but not measured.
func (c *comparison) turn(ctx context.Context, e *Entry, round int) {
	if c.gone[e.Strategy] {
		return
	}
	t := turn{Round: Round{Round: round}, entry: e}
	first, err := c.load(ctx, c.warmUp(e))
	if err == nil {
		t.judge(first)
		if len(first.Targets) > 0 && len(first.Targets[0].Backends) > 0 {
			c.result.Servers = first.Targets[0].Backends
		}
	}
	for err == nil && ctx.Err() == nil && (t.Sales == 0 || t.took < c.Turn.Seconds()) {
		var r *loadtest.Result
		if r, err = c.load(ctx, c.config(e)); err != nil {
			break
		}
		t.judge(r)
		if r.Interrupted || r.Requests == 0 { // the verdict says why
			break
		}
		t.add(r)
	}
	switch {
	case errors.Is(err, loadtest.ErrConfig):
		c.gone[e.Strategy] = true
		why := strings.TrimPrefix(err.Error(), loadtest.ErrConfig.Error()+": ")
		c.result.NotRun = append(c.result.NotRun, NotRun{e.Strategy, why})
		return
	case err != nil:
		e.Problems = append(e.Problems, err.Error())
	}
	c.cut = c.cut || t.Interrupted
	if t.Verdict != "" {
		e.Rounds = append(e.Rounds, t.finish())
	}
}
