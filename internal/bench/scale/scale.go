// Package scale measures how sales scale: the same sale with more service processes,
// over more SKUs, with one hot among many, and behind a proxy. Beside each figure
// stands what was full or waited for, and what a small model had predicted.
//
// Every sale is audited from the ledger. A strategy with a sale that was not held
// has an error in place of figures.
package scale

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench/hot"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/tap"
	"seckill/loadtest"
)

// Options of a run on one set of servers.
type Options struct {
	Sale       loadtest.Config // the ledger; targets and size follow from the shape
	In         *backend.Instance
	Strategies []string
	Processes  []int
	SKUs       []int
	Behind     []string // proxies; Straight is measured anyway
	Buyers     int
	Rounds     int
	Within     time.Duration // about how long the run takes

	// Serve has so many service processes run, without a proxy or behind one, and
	// returns where buyers go. It is called again only for another place.
	Serve func(ctx context.Context, processes int, behind string) (targets []string, err error)
	// Times is the processor time used so far by user, such as "mysql" or "services".
	Times func() (map[string]time.Duration, bool)

	// Progress is called before each measurement.
	Progress func(done, total int, what string)
}

// Straight: buyers go to the services themselves.
const Straight = ""

// A Shape is one way in which a sale is set up.
type Shape struct {
	Processes int     `json:"service_processes"`
	SKUs      int     `json:"skus"`
	Zipf      float64 `json:"zipf,omitempty"`   // see loadtest.Scenario
	Behind    string  `json:"behind,omitempty"` // a proxy
}

// Hot is the exponent with which one of many SKUs is hot: of 64 it has 61 % of the
// demand.
const Hot = 2

func (s Shape) String() string {
	text := fmt.Sprintf("%d × service, ", s.Processes)
	switch {
	case s.SKUs == 1:
		text += "1 SKU"
	case s.Zipf > 0:
		text += fmt.Sprintf("1 hot of %d SKUs", s.SKUs)
	default:
		text += fmt.Sprintf("%d SKUs", s.SKUs)
	}
	if s.Behind != Straight {
		text += ", " + s.Behind
	}
	return text
}

// among is the number of processes with which SKUs and proxies are measured: enough
// that they are not what is full.
func among(processes []int) int { return processes[len(processes)/2] }

// Shapes are what is measured of each strategy, those of one place together.
func Shapes(processes, skus []int, behind []string) (all []Shape) {
	some, most := among(processes), slices.Max(skus)
	add := func(s Shape) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, p := range processes {
		add(Shape{Processes: p, SKUs: 1})
		if p != some {
			continue
		}
		for _, n := range skus {
			add(Shape{Processes: p, SKUs: n})
		}
		if most > 1 {
			add(Shape{Processes: p, SKUs: most, Zipf: Hot})
		}
		for _, b := range behind {
			add(Shape{Processes: p, SKUs: 1, Behind: b})
			add(Shape{Processes: p, SKUs: most, Behind: b})
		}
	}
	return all
}

// Run measures all strategies in all shapes, in rounds that alternate their
// direction. If ctx ends first, Run returns the figures until then with the error.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &Result{Rounds: o.Rounds, Buyers: o.Buyers, Processors: measure.ThisMachine().CPUs, Servers: []backend.Status{}}
	for _, shape := range Shapes(o.Processes, o.SKUs, o.Behind) {
		for _, s := range o.Strategies {
			r.Cells = append(r.Cells, &Cell{Strategy: s, Shape: shape, Passes: []Pass{}})
		}
	}
	b := &bench{Options: o, result: r, warm: map[string]float64{}}
	clock := hot.NewClock(o.Within, o.Rounds*len(r.Cells))
	for turn := range measure.Turns(o.Rounds, len(r.Cells)) {
		c := r.Cells[turn.Subject]
		o.Progress(turn.Done, turn.Total, fmt.Sprintf("%s, %s", c.Strategy, c.Shape))
		if c.Error != "" {
			continue
		}
		clock.Round(turn.Total - turn.Done) // places take time, too
		if err := b.move(ctx, c.Shape); err != nil {
			return r, fmt.Errorf("start %s: %w", c.Shape, err)
		}
		pass, err := b.measure(ctx, c, clock.Turn)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			c.Error = err.Error()
			continue
		}
		pass.Round = turn.Round
		c.Passes = append(c.Passes, pass)
	}
	return r, nil
}

// A bench knows the place that runs.
type bench struct {
	Options
	result  *Result
	place   Shape // its processes and its proxy
	targets []string
	warm    map[string]float64 // sales a second of the first, small sales at this place
}

// measure makes one audited sale that takes about d. At a new place, a small one
// comes before it: connections are opened, and caches filled.
func (b *bench) measure(ctx context.Context, c *Cell, d time.Duration) (Pass, error) {
	at := fmt.Sprint(c.Strategy, c.Shape.SKUs)
	if b.warm[at] == 0 {
		small, err := b.sell(ctx, c, hot.Size(b.Buyers, d, 0))
		if err != nil {
			return small, err
		}
		b.warm[at] = small.Rate
	}
	before := b.warm[at]
	if n := len(c.Passes); n > 0 {
		before = c.Passes[n-1].Rate
	}
	return b.sell(ctx, c, hot.Size(b.Buyers, d, before))
}

// move has the place of a shape run.
func (b *bench) move(ctx context.Context, s Shape) (err error) {
	place := Shape{Processes: s.Processes, Behind: s.Behind}
	if place == b.place {
		return nil
	}
	b.place = Shape{} // none, if it fails
	if b.targets, err = b.Serve(ctx, s.Processes, s.Behind); err != nil {
		return err
	}
	b.place, b.warm = place, map[string]float64{}
	return nil
}

// sell makes one sale in which every buyer gets a unit.
func (b *bench) sell(ctx context.Context, cell *Cell, orders int) (Pass, error) {
	c := b.Sale
	c.Targets, c.Strategy, c.Concurrency, c.Buyers = b.targets, cell.Strategy, b.Buyers, orders
	c.SKUs, c.Zipf, c.Stock, c.Rest = cell.Shape.SKUs, cell.Shape.Zipf, int64(orders), true
	var before, after sample
	c.Begin = func() { before = b.sample(ctx) }
	c.End = func() { after = b.sample(ctx) }
	got, err := loadtest.Run(ctx, c)
	if err != nil {
		return Pass{}, err
	}
	if got.Verdict != ledger.Held {
		return Pass{}, hot.NotHeld(got)
	}
	sold := got.Counts[ledger.OutcomeSold]
	if sold == 0 {
		return Pass{}, fmt.Errorf("no buyer was sold anything: %v", got.Counts)
	}
	if err := errors.Join(before.err, after.err); err != nil {
		return Pass{}, err
	}
	if len(b.result.Servers) == 0 && len(got.Targets) > 0 {
		b.result.Servers = got.Targets[0].Backends
	}
	p := Pass{Orders: sold, Other: got.Requests - sold, Rate: got.SalesPerSec,
		P50: float64(got.Latency.P50) / 1000, P99: float64(got.Latency.P99) / 1000, Use: after.since(before)}
	if g := got.Processor.Generator; g != nil {
		p.Use.Generator = *g
	}
	for _, sent := range got.Commands {
		if sent.Backend == tap.SQL {
			p.Use.Statements = sent.PerPurchase
		}
	}
	if w := got.LockWait; w != nil { // Little's law: so many wait on average
		p.Use.WaitLock = float64(w.Count) * w.MeanMS / 1000 / p.Use.Seconds
	}
	return p, nil
}
