// Package hot measures what one hot row sells: durable orders per second over
// HTTP by strategy and number of buyers, beside baselines of the same rounds.
//
// Every sale is audited from the ledger. A strategy with a sale that was not
// held has an error in place of figures.
package hot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// Options of a run on one set of servers.
type Options struct {
	Sale       loadtest.Config // targets and ledger; its size follows from the rate
	Bare       string          // address where Handler is served
	In         *backend.Instance
	Strategies []string
	Buyers     []int
	Rounds     int
	Within     time.Duration // about how long the run takes

	// Progress is called before each measurement.
	Progress func(done, total int, what string)
}

// A subject is a strategy or a baseline with one number of buyers.
type subject struct {
	*Cell
	measure work
}

// work is measured for about d. before is the rate of the round before; 0: it
// is the first, and warms up.
type work func(ctx context.Context, d time.Duration, before float64) (Pass, error)

// Run measures all subjects in rounds that alternate their direction. If ctx
// ends first, Run returns the figures until then with the error.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &Result{Buyers: o.Buyers, Rounds: o.Rounds, Servers: []backend.Status{}}
	subjects, drop, err := o.subjects(ctx, r)
	if err != nil {
		return r, err
	}
	defer drop()
	clock := NewClock(o.Within, o.Rounds*len(subjects))
	for turn := range measure.Turns(o.Rounds, len(subjects)) {
		s := subjects[turn.Subject]
		o.Progress(turn.Done, turn.Total, fmt.Sprintf("%s, %s", s.Name, atATime(s.Buyers)))
		if turn.Done%len(subjects) == 0 {
			clock.Round(turn.Total - turn.Done)
		}
		if s.Error != "" {
			continue
		}
		pass, err := s.measure(ctx, clock.Turn, s.rate())
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			s.Error = err.Error()
			continue
		}
		pass.Round = turn.Round
		s.Passes = append(s.Passes, pass)
	}
	return r, nil
}

func atATime(buyers int) string {
	if buyers == 1 {
		return "1 buyer"
	}
	return fmt.Sprint(buyers, " buyers")
}

// A Clock shares the time that is left among the turns of a round.
type Clock struct {
	end  time.Time
	Turn time.Duration // how long each turn of this round measures
}

const (
	// around is about what a turn takes beside its measured time: the reset, the
	// look-ups, the audit.
	around = 300 * time.Millisecond
	// Shortest is the least that a turn measures, longest the most.
	Shortest = 100 * time.Millisecond
	longest  = 5 * time.Second
)

// NewClock begins now.
func NewClock(within time.Duration, turns int) *Clock {
	c := &Clock{end: time.Now().Add(within)}
	c.Round(turns)
	return c
}

// Round shares what is left of the time among so many turns.
func (c *Clock) Round(turnsLeft int) { c.Turn = TurnOf(time.Until(c.end), turnsLeft) }

// TurnOf is how long each of so many turns measures, to be done in time.
func TurnOf(within time.Duration, turns int) time.Duration {
	return min(max(within/time.Duration(turns)-around, Shortest), longest)
}

// Turns is how many measurements of strategies and baselines a run makes.
func Turns(strategies []string, buyers, rounds int) int {
	n := len(strategies)
	if slices.Contains(strategies, accepting) {
		n++
	}
	return rounds * ((n+len(handled)+2)*buyers + 1)
}

// Least is the shortest time in which so many turns are worth anything.
func Least(turns int) time.Duration { return time.Duration(turns) * (around + Shortest) }

// subjects are one round forwards: numbers of buyers one after the other, so
// that what is compared is measured close together.
func (o Options) subjects(ctx context.Context, r *Result) (all []subject, drop func(), err error) {
	add := func(name string, baseline bool, buyers int, m work) {
		cell := &Cell{Name: name, Baseline: baseline, Buyers: buyers, Passes: []Pass{}}
		r.Cells = append(r.Cells, cell)
		all = append(all, subject{cell, m})
	}
	b, err := o.openBaselines(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range o.Buyers {
		for _, h := range handled {
			add(h.name, true, n, func(ctx context.Context, d time.Duration, rate float64) (Pass, error) {
				return o.ask(ctx, h.path, n, d, rate)
			})
		}
		for _, s := range o.Strategies {
			add(s, false, n, func(ctx context.Context, d time.Duration, rate float64) (Pass, error) {
				return o.sell(ctx, r, s, n, d, rate)
			})
			if s == accepting {
				o := o.inTwoSteps()
				add(Accepted, false, n, func(ctx context.Context, d time.Duration, rate float64) (Pass, error) {
					return o.sell(ctx, r, s, n, d, rate)
				})
			}
		}
		for _, name := range []string{Update, Transaction} {
			add(name, true, n, b.of(name, n))
		}
	}
	add(MultiRow, true, 1, b.multiRow)
	return all, b.drop, nil
}

// A first, small sale says how fast it goes.
const firstSale = 100

// Size is how many orders take d at a rate, several for each buyer.
func Size(buyers int, d time.Duration, rate float64) int {
	if rate == 0 {
		return max(firstSale, buyers)
	}
	return min(max(int(rate*d.Seconds()), 2*buyers, firstSale), 500_000)
}

// sell measures one audited sale. The first time, a small one comes before it.
func (o Options) sell(ctx context.Context, r *Result, strategy string, buyers int, d time.Duration, rate float64) (Pass, error) {
	if rate == 0 {
		warm, err := o.sale(ctx, r, strategy, buyers, Size(buyers, d, 0))
		if err != nil {
			return warm, err
		}
		rate = warm.Rate
	}
	return o.sale(ctx, r, strategy, buyers, Size(buyers, d, rate))
}

func (o Options) sale(ctx context.Context, r *Result, strategy string, buyers, orders int) (Pass, error) {
	c := o.Sale
	c.Strategy, c.Concurrency, c.Stock, c.Buyers = strategy, buyers, int64(orders), orders+1
	got, err := loadtest.Run(ctx, c)
	if err != nil {
		return Pass{}, err
	}
	if got.Verdict != ledger.Held {
		return Pass{}, NotHeld(got)
	}
	if len(r.Servers) == 0 && len(got.Targets) > 0 {
		r.Servers = got.Targets[0].Backends
	}
	sold := got.Counts[ledger.OutcomeSold]
	if sold == 0 {
		return Pass{}, fmt.Errorf("no buyer was sold anything: %v", got.Counts)
	}
	p := passOf(got, sold)
	p.Rate, p.Other = got.SalesPerSec, got.Requests-sold-got.Counts[ledger.OutcomeSoldOut]
	if steps := got.TwoSteps; steps != nil {
		p.Rate = steps.PerSecond
		if steps.Accepted != sold {
			return p, fmt.Errorf("%d buyers were told accepted, and %d have orders", steps.Accepted, sold)
		}
	}
	return p, nil
}

// finalWithin bounds how long the orders of a sale in two steps may take.
const finalWithin = 2 * time.Minute

// inTwoSteps measures purchases that are answered when they are accepted. Their
// buyers ask for their orders after the last of them was sent, and the sale is
// audited when all are written.
func (o Options) inTwoSteps() Options {
	o.Sale.Async, o.Sale.AskLater, o.Sale.FinalWithin = true, true, finalWithin
	return o
}

// NotHeld says why the figures of a sale do not count.
func NotHeld(r *loadtest.Result) error {
	why := errors.New("nothing is known against it")
	switch {
	case r.Audit != nil && len(r.Audit.Violations) > 0:
		why = errors.New(r.Audit.Violations[0].Message)
	case len(r.Problems) > 0:
		why = errors.New(r.Problems[0])
	case r.Verdict == loadtest.Blocked:
		why = errors.New(r.Stood())
	}
	return fmt.Errorf("the sale was not held (%s): %w", r.Verdict, why)
}

// ask measures a handler without a strategy.
func (o Options) ask(ctx context.Context, path string, buyers int, d time.Duration, rate float64) (Pass, error) {
	c := o.Sale
	c.Targets, c.Strategy = []string{o.Bare + path}, bareStrategy
	c.Concurrency, c.Stock = buyers, 1
	send := func(n int) (Pass, error) {
		c.Buyers = n
		got, err := loadtest.Send(ctx, c)
		if err != nil {
			return Pass{}, err
		}
		if sold := got.Counts[ledger.OutcomeSold]; sold < got.Requests {
			return Pass{}, fmt.Errorf("the handler did not answer every request: %v", got.Answers)
		}
		p := passOf(got, got.Requests)
		p.Rate = got.RequestsPerSec
		return p, nil
	}
	if rate == 0 {
		first, err := send(Size(buyers, d, 0))
		if err != nil {
			return first, err
		}
		rate = first.Rate
	}
	return send(Size(buyers, d, rate))
}

func passOf(r *loadtest.Result, orders int) Pass {
	each := func(seconds *float64) *float64 {
		if seconds == nil {
			return nil
		}
		us := 1e6 * *seconds / float64(orders)
		return &us
	}
	return Pass{Orders: orders, P50: float64(r.Latency.P50) / 1000, P99: float64(r.Latency.P99) / 1000,
		Service: each(r.Processor.Services), Servers: each(r.Processor.Servers), Generator: each(r.Processor.Generator)}
}
