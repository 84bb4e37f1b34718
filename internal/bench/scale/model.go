package scale

import (
	"math"

	"seckill/internal/capacity"
)

// A Model is what a measured cell of a strategy says about all others: its first,
// with the fewest processes and one SKU. A strategy that collects orders has a
// second, in which every order is alone. The others are predicted, and not used.
type Model struct {
	first calibration
	// alone is of the most SKUs; only a strategy that collects has it.
	alone calibration
}

// A calibration is what one order costs in a cell.
type calibration struct {
	Costs capacity.Costs
	rest  float64 // processor time of an order that is none of Costs, such as the generator's
	delay float64 // seconds
	// statements of SQL are in an order. A strategy that collects has fewer than one
	// where it can, since orders share them.
	statements float64
	from       *Cell
}

// model calibrates; ok is false where the first cell has no figures.
func (r *Result) model(strategy string) (m Model, ok bool) {
	var first, alone *Cell
	proxy := 0.0
	for _, c := range r.Cells {
		s := c.Shape
		switch {
		case c.Strategy != strategy || s.Zipf > 0:
		case s.Behind != Straight: // the proxy's cost is of the cell that has one: no other knows it
			if s.SKUs == 1 && len(c.rate()) > 0 {
				proxy = c.use().Proxies / c.median(func(p Pass) float64 { return float64(p.Orders) })
			}
		case s.SKUs == 1:
			if first == nil || s.Processes < first.Shape.Processes {
				first = c
			}
		case alone == nil || s.SKUs > alone.Shape.SKUs:
			alone = c
		}
	}
	if len(first.rate()) == 0 {
		return m, false
	}
	m.first = r.calibrate(first, proxy)
	if n := m.first.statements; n > 0 && n < 1 && len(alone.rate()) > 0 {
		m.alone = r.calibrate(alone, proxy)
	}
	return m, true
}

func (r *Result) calibrate(cell *Cell, proxy float64) calibration {
	u, orders := cell.use(), cell.median(func(p Pass) float64 { return float64(p.Orders) })
	rate := cell.rate().Spread().Median
	c := calibration{from: cell, rest: (u.Others + u.Generator) / orders, statements: u.Statements,
		Costs: capacity.Costs{Services: u.Services / orders, Database: u.Database / orders, Redis: u.Redis / orders, Proxy: proxy,
			Trips: max(0, u.Statements-1)}}
	if u.waits() > 0 {
		c.Costs.Held = float64(cell.Shape.SKUs) * capacity.Busy(u.waits()/float64(cell.Shape.SKUs)) / rate
	}
	c.delay = capacity.Delay(c.stations(cell.Shape, r.Processors), r.Buyers, rate)
	if u.waits() >= queue { // a full row hides the delay: the rate hardly depends on it
		inLine := u.waits() + c.Costs.Held*rate
		c.delay = max(0, (float64(r.Buyers)-inLine)/rate-c.work(cell.Shape)) // Little's law
	}
	return c
}

// in is what an order costs in a shape. A collector is a process for one SKU; the
// buyers are divided among them, so that an order shares its statements with fewer
// others, until it is alone. What it costs grows in proportion to its statements.
func (m Model) in(s Shape) calibration {
	if m.alone.from == nil || m.alone.statements <= m.first.statements {
		return m.first
	}
	a, b, statements := m.first, m.alone, 0.0
	for _, share := range shares(s) {
		processes := float64(s.Processes) / float64(a.from.Shape.Processes)
		statements += share * min(b.statements, a.statements*processes/share)
	}
	between := func(x, y float64) float64 {
		return x + (y-x)*(max(statements, a.statements)-a.statements)/(b.statements-a.statements)
	}
	return calibration{statements: statements, rest: between(a.rest, b.rest), delay: between(a.delay, b.delay),
		Costs: capacity.Costs{Services: between(a.Costs.Services, b.Costs.Services), Database: between(a.Costs.Database, b.Costs.Database),
			Redis: between(a.Costs.Redis, b.Costs.Redis), Held: between(a.Costs.Held, b.Costs.Held), Proxy: a.Costs.Proxy}}
}

// work is the processor time of an order, in seconds.
func (c calibration) work(s Shape) float64 {
	work := c.Costs.Services + c.Costs.Database + c.Costs.Redis + c.rest
	if s.Behind != Straight {
		work += c.Costs.Proxy
	}
	return work
}

// stations are what an order passes in a shape: the processors that everything
// shares, the thread of Redis, and a row or lock for each SKU.
func (c calibration) stations(s Shape, processors int) []capacity.Station {
	all := []capacity.Station{{Name: "processors", Demand: c.work(s), Servers: processors}}
	if c.Costs.Redis > 0 {
		all = append(all, capacity.Station{Name: "the thread of Redis", Demand: c.Costs.Redis})
	}
	if c.Costs.Held > 0 {
		for _, share := range shares(s) {
			all = append(all, capacity.Station{Name: "the row or lock", Demand: c.Costs.Held * share})
		}
	}
	return all
}

// shares are the parts of the demand that each SKU has.
func shares(s Shape) []float64 {
	all, sum := make([]float64, s.SKUs), 0.0
	for k := range all {
		all[k] = math.Pow(float64(k+1), -s.Zipf)
		sum += all[k]
	}
	for k := range all {
		all[k] /= sum
	}
	return all
}

// predict is what the model says of a shape.
func (m Model) predict(s Shape, processors, buyers int) capacity.Answer {
	c := m.in(s)
	return capacity.Solve(c.stations(s, processors), c.delay, buyers)
}
