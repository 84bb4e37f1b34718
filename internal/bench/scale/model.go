package scale

import (
	"math"

	"seckill/internal/capacity"
)

// A Model is what one measured cell of a strategy says about all others: its first,
// with the fewest processes and one SKU. The others are predicted, and not used.
type Model struct {
	Costs capacity.Costs // of one order
	rest  float64        // processor time of an order that is none of Costs, such as the generator's
	delay float64        // seconds
	from  *Cell
}

// model calibrates; ok is false where the first cell has no figures.
func (r *Result) model(strategy string) (m Model, ok bool) {
	for _, c := range r.Cells {
		if c.Strategy != strategy || c.Shape.SKUs != 1 || c.Shape.Behind != Straight {
			continue
		}
		if m.from == nil || c.Shape.Processes < m.from.Shape.Processes {
			m.from = c
		}
	}
	if m.from == nil || len(m.from.rate()) == 0 {
		return m, false
	}
	u, orders := m.from.use(), m.from.median(func(p Pass) float64 { return float64(p.Orders) })
	rate := m.from.rate().Spread().Median
	m.Costs = capacity.Costs{Services: u.Services / orders, Database: u.Database / orders, Redis: u.Redis / orders,
		Trips: max(0, u.Statements-1)}
	m.rest = (u.Others + u.Generator) / orders
	if u.waits() > 0 {
		m.Costs.Held = capacity.Busy(u.waits()) / rate
	}
	stations := m.stations(m.from.Shape, r.Processors)
	m.delay = capacity.Delay(stations, r.Buyers, rate)
	if u.waits() >= queue { // a full row hides the delay: the rate hardly depends on it
		inLine := u.waits() + m.Costs.Held*rate
		m.delay = max(0, (float64(r.Buyers)-inLine)/rate-m.work(m.from.Shape)) // Little's law
	}
	// The proxy's cost is of the cell that has one: no other knows it.
	for _, c := range r.Cells {
		if c.Strategy == strategy && c.Shape.Behind != Straight && c.Shape.SKUs == 1 && len(c.rate()) > 0 {
			m.Costs.Proxy = c.use().Proxies / c.median(func(p Pass) float64 { return float64(p.Orders) })
		}
	}
	return m, true
}

// work is the processor time of an order, in seconds.
func (m Model) work(s Shape) float64 {
	work := m.Costs.Services + m.Costs.Database + m.Costs.Redis + m.rest
	if s.Behind != Straight {
		work += m.Costs.Proxy
	}
	return work
}

// stations are what an order passes in a shape: the processors that everything
// shares, the thread of Redis, and a row or lock for each SKU.
func (m Model) stations(s Shape, processors int) []capacity.Station {
	all := []capacity.Station{{Name: "processors", Demand: m.work(s), Servers: processors}}
	if m.Costs.Redis > 0 {
		all = append(all, capacity.Station{Name: "the thread of Redis", Demand: m.Costs.Redis})
	}
	if m.Costs.Held > 0 {
		for _, share := range shares(s) {
			all = append(all, capacity.Station{Name: "the row or lock", Demand: m.Costs.Held * share})
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
	return capacity.Solve(m.stations(s, processors), m.delay, buyers)
}
