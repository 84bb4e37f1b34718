package compare

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/loadtest"
)

// Options are what to compare, and where.
type Options struct {
	// Sale is the same for all. Its strategy is each contender's in turn.
	Sale       loadtest.Config
	Contenders []Contender
	NotRun     []NotRun // chosen, and known not to be available
	Floors     []Floor
	Locks      *Locks // of the service processes; nil: not known

	Repeats int           // rounds
	Turn    time.Duration // a turn holds the sale again and again until so much was measured
	// Sparse contenders run once more, with Few buyers at a time.
	Sparse []string
	Few    int

	// OnStep, if not nil, hears what is about to be done.
	OnStep func(done, total int, what string)
	// OnTurn, if not nil, hears how a strategy stands after each of its turns.
	OnTurn func(Standing)

	load func(context.Context, loadtest.Config) (*loadtest.Result, error) // nil: loadtest.Run
}

// A Contender is a strategy that takes part.
type Contender struct {
	Name, Title, Family string
	Breaks              bool // known to oversell with as many processes as there are targets
}

// Run compares. When ctx ends, the sale that is on is audited, and the result
// has what was measured until then.
func Run(ctx context.Context, o Options) *Result {
	if o.load == nil {
		o.load = loadtest.Run
	}
	c := newComparison(o)
	begun := time.Now()
	steps := c.steps()
	done := 0
	for round := 1; round <= o.Repeats; round++ {
		for i := range steps {
			step := steps[i]
			if round%2 == 0 { // the other way round, so that drift hits all alike
				step = steps[len(steps)-1-i]
			}
			if ctx.Err() != nil {
				break
			}
			if o.OnStep != nil {
				o.OnStep(done, o.Repeats*len(steps), step.what)
			}
			step.run(ctx, round)
			done++
		}
	}
	c.result.Seconds = time.Since(begun).Seconds()
	c.result.Interrupted = done < o.Repeats*len(steps) || c.cut
	c.conclude()
	return c.result
}

type comparison struct {
	Options
	result *Result
	gone   map[string]bool // found not to be available
	cut    bool            // a sale was interrupted
}

func newComparison(o Options) *comparison {
	sale := o.Sale
	c := &comparison{Options: o, gone: map[string]bool{}, result: &Result{
		Format: Format, Begun: time.Now().Round(time.Second), Targets: sale.Targets, Locks: o.Locks,
		Repeats: o.Repeats, TurnSeconds: o.Turn.Seconds(),
		Machine: Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()},
		Settings: loadtest.Settings{SKU: sale.SKU, SKUs: max(sale.SKUs, 1), Stock: sale.Stock, Buyers: sale.Requests(),
			Concurrency: sale.Concurrency, Quantity: sale.Quantity, TimeoutSeconds: sale.Timeout.Seconds(), Seed: sale.Seed,
			Profile: loadtest.Closed},
		Strategies: []*Entry{}, Sparse: []*Entry{}, NotRun: append([]NotRun{}, o.NotRun...),
		Problems: []string{}, Claims: []Claim{},
		Floors: []FloorResult{}, Servers: []backend.Status{}, Durability: []Setting{},
	}}
	for _, k := range o.Contenders {
		c.result.Strategies = append(c.result.Strategies, newEntry(k, sale.Concurrency))
		for _, name := range o.Sparse {
			if name == k.Name && o.Few > 0 && o.Few < sale.Concurrency {
				c.result.Sparse = append(c.result.Sparse, newEntry(k, o.Few))
			}
		}
	}
	for _, f := range o.Floors {
		floor := FloorResult{ID: f.ID, Title: f.Title, Missing: f.Missing, Rounds: []FloorRound{}}
		c.result.Floors = append(c.result.Floors, floor)
	}
	return c
}

func newEntry(k Contender, concurrency int) *Entry {
	return &Entry{Strategy: k.Name, Title: k.Title, Family: k.Family, Breaks: k.Breaks, Concurrency: concurrency,
		Violations: []Violation{}, Problems: []string{}, Ratios: map[string]Spread{}, Commands: []loadtest.Commands{},
		Curve: []loadtest.Percentile{}, Course: []loadtest.Point{}, Rounds: []Round{}}
}

// A step is one turn of a strategy or a floor.
type step struct {
	what string
	run  func(ctx context.Context, round int)
}

// steps is one round in its order: the floors are spread among the strategies.
func (c *comparison) steps() (all []step) {
	entries := append(append([]*Entry{}, c.result.Strategies...), c.result.Sparse...)
	var floors []step
	for i, f := range c.Floors {
		if f.Missing == "" {
			floors = append(floors, step{f.Title, func(ctx context.Context, round int) { c.floor(ctx, i, round) }})
		}
	}
	next := 0
	for i, e := range entries {
		for next < len(floors) && next*len(entries) <= i*len(floors) {
			all = append(all, floors[next])
			next++
		}
		what := e.Strategy
		if e.Concurrency != c.Sale.Concurrency {
			what = fmt.Sprintf("%s, %d at a time", e.Strategy, e.Concurrency)
		}
		all = append(all, step{what, func(ctx context.Context, round int) {
			c.turn(ctx, e, round)
			if c.OnTurn != nil {
				c.OnTurn(c.standing(e))
			}
		}})
	}
	return append(all, floors[next:]...)
}

// A floor has no sale that ends by itself: it is measured for a turn, within
// these bounds.
const (
	leastFloor = 200 * time.Millisecond
	mostFloor  = 2 * time.Second
)

func (c *comparison) floor(ctx context.Context, i, round int) {
	f := &c.result.Floors[i]
	if f.Missing != "" {
		return
	}
	rate, err := c.Floors[i].Measure(ctx, min(max(c.Turn, leastFloor), mostFloor))
	switch {
	case err == nil:
		f.Rounds = append(f.Rounds, FloorRound{round, rate})
	case ctx.Err() == nil:
		f.Missing = err.Error()
	}
}

// warmUp is a small sale: connections, prepared structures, caches.
func (c *comparison) warmUp(e *Entry) loadtest.Config {
	warm := c.config(e)
	warm.Stock = max(1, min(warm.Stock, int64(e.Concurrency)/2)) * warm.Quantity
	warm.Buyers = int(warm.Stock/warm.Quantity) + max(1, e.Concurrency/2)
	return warm
}

func (c *comparison) config(e *Entry) loadtest.Config {
	sale := c.Sale
	sale.Strategy, sale.Concurrency = e.Strategy, e.Concurrency
	return sale
}

// turn holds the sale until enough was measured, after a warm-up that is
// judged like the others, and not measured.
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
		if r.Interrupted || r.Requests == 0 { // ended, or it could not be held: the verdict says so
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
