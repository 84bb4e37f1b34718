package scale

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"seckill/internal/capacity"
	"seckill/internal/measure"
	"seckill/internal/numbers"
)

// Tables are the report for people.
func (r *Report) Tables() []measure.Table {
	all := []measure.Table{r.processTable(), r.skuTable()}
	if t := r.proxyTable(); len(t.Head) > 1 {
		all = append(all, t)
	}
	all = append(all, r.costTable(), r.modelTable(), r.paperTable())
	last := &all[len(all)-1]
	last.Notes = append(last.Notes, r.remarks()...)
	return all
}

// WriteMarkdown writes them for docs/scaling.md.
func (r *Report) WriteMarkdown(w io.Writer) error { return measure.WriteMarkdown(w, r.Tables()) }

// rates has a row of orders per second for each strategy, and what held back the
// last column.
func (r *Report) rates(title string, shapes []Shape, head func(Shape) string) measure.Table {
	t := measure.Table{Title: title, Head: []string{"strategy"}, Words: 1}
	for _, s := range shapes {
		t.Head = append(t.Head, head(s))
	}
	for _, name := range r.strategies() {
		row := []string{name}
		for _, s := range shapes {
			row = append(row, r.cell(name, s).text())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c *Cell) text() string {
	switch {
	case c == nil || c.Error == "" && len(c.Passes) == 0:
		return measure.None
	case c.Error != "":
		return "failed"
	}
	return c.rate().Spread().String()
}

func (r *Report) processTable() measure.Table {
	shapes := r.shapes(func(s Shape) bool { return s.SKUs == 1 && s.Behind == Straight })
	return r.rates("Durable orders per second of one SKU, by service processes", shapes, func(s Shape) string { return fmt.Sprint(s.Processes) })
}

func (r *Report) some() int {
	processes := r.shapes(func(s Shape) bool { return s.SKUs == 1 && s.Behind == Straight })
	if len(processes) == 0 {
		return 0
	}
	return processes[len(processes)/2].Processes
}

func (r *Report) skuTable() measure.Table {
	some := r.some()
	shapes := r.shapes(func(s Shape) bool { return s.Processes == some && s.Behind == Straight })
	return r.rates(fmt.Sprintf("Durable orders per second of several SKUs, %s", numbers.CountOf(some, "service process", "service processes")), shapes,
		func(s Shape) string {
			if s.Zipf > 0 {
				return fmt.Sprintf("%d, one hot (%.0f %%)", s.SKUs, 100*shares(s)[0])
			}
			return fmt.Sprint(s.SKUs)
		})
}

func (r *Report) proxyTable() measure.Table {
	var shapes []Shape
	for _, s := range r.shapes(func(s Shape) bool { return s.Behind != Straight }) {
		straight := s
		straight.Behind = Straight
		for _, one := range []Shape{straight, s} {
			if !slices.Contains(shapes, one) {
				shapes = append(shapes, one)
			}
		}
	}
	return r.rates(fmt.Sprintf("Straight to the services and behind a proxy, %s", numbers.CountOf(r.some(), "service process", "service processes")), shapes,
		func(s Shape) string {
			where := s.Behind
			if where == Straight {
				where = "straight"
			}
			return fmt.Sprintf("%s, %s", numbers.CountOf(s.SKUs, "SKU", "SKUs"), where)
		})
}

// costTable has what one order costs: what the model begins with.
func (r *Report) costTable() measure.Table {
	t := measure.Table{Title: "What one order costs: one SKU, the fewest processes, straight", Words: 1,
		Head:  []string{"strategy", "services µs", "database µs", "Redis µs", "proxy µs", "generator and others µs", "row or lock held µs", "statements", "other delay ms"},
		Notes: []string{"Microseconds of processor time, measured for each process. Held: how long an order keeps others from its row or lock, from the orders that wait (queue M/M/1), processor queue included. Proxy: from the cell behind it. Other delay: what the model adds so that this cell comes out."}}
	us := func(s float64) string {
		if s == 0 {
			return measure.None
		}
		return measure.Number(1e6 * s)
	}
	collects := false
	for _, name := range r.strategies() {
		m, ok := r.model(name)
		if !ok {
			continue
		}
		row := func(name string, c calibration) {
			t.Rows = append(t.Rows, []string{name, us(c.Costs.Services), us(c.Costs.Database), us(c.Costs.Redis), us(c.Costs.Proxy), us(c.rest), us(c.Costs.Held),
				measure.Number(c.statements), measure.Number(1000 * c.delay)})
		}
		row(name, m.first)
		if m.alone.from != nil {
			row(fmt.Sprintf("%s, %s", name, m.alone.from.Shape), m.alone)
			collects = true
		}
	}
	if collects {
		t.Notes = append(t.Notes, "A strategy that collects orders has a second line, of the most SKUs: there an order is alone. Between the two, what it costs grows with its statements.")
	}
	return t
}

// modelTable has every cell: measured, what held it back, and what was predicted.
func (r *Report) modelTable() measure.Table {
	t := measure.Table{Title: "Measured and predicted", Words: 3,
		Head: []string{"strategy", "shape", "held back by", "orders/s", "p99 ms", "predicted", "error", "busiest, predicted"}}
	var errors []float64
	for _, name := range r.strategies() {
		m, ok := r.model(name)
		for _, c := range r.Cells {
			if c.Strategy != name {
				continue
			}
			row := []string{name, c.Shape.String(), c.use().bottleneck(r.Processors), c.text(), measure.None, measure.None, measure.None, measure.None}
			if x := c.rate().Spread().Median; ok && x > 0 {
				p := m.predict(c.Shape, r.Processors, r.Buyers)
				row[4] = measure.Number(c.median(func(p Pass) float64 { return p.P99 }))
				row[5], row[7] = measure.Number(p.Rate), fmt.Sprintf("%s, %.0f %%", p.Busiest, 100*p.Utilization)
				if c == m.first.from || c == m.alone.from {
					row[6] = "calibrated"
				} else {
					off := p.Rate/x - 1
					row[6] = fmt.Sprintf("%+.0f %%", 100*off)
					errors = append(errors, max(off, -off))
				}
			}
			if row[2] == "" {
				row[2] = measure.None
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(errors) > 0 {
		s := measure.SpreadOf(errors)
		t.Notes = append(t.Notes, fmt.Sprintf("Off by %.0f %% in the median of %s, by %.0f %% at most.",
			100*s.Median, numbers.Count(len(errors), "prediction"), 100*s.High))
	}
	return t
}

// What a plan on paper assumes besides what was measured.
const (
	paperShare = .7     // of a processor: more makes queues
	paperTrip  = .00025 // seconds, in one data centre
	paperSKUs  = 1000
)

// paperTable carries the model to more machines like this one.
func (r *Report) paperTable() measure.Table {
	t := measure.Table{Title: fmt.Sprintf("On paper: so many machines of %s, none of them the load generator's", numbers.Count(r.Processors, "processor")), Words: 1,
		Head: []string{"strategy", "machines", "1 SKU, orders/s", "bound by",
			fmt.Sprintf("%s, orders/s", numbers.Count(paperSKUs, "SKU")), "bound by", "services / databases / Redis / proxies"},
		Notes: []string{fmt.Sprintf("Not measured. Machines are divided in proportion to what an order costs each kind, and filled to %.0f %%; a round trip between two of them takes %.2f ms, and an order makes all its statements but the first while it holds its row. SKUs are wanted alike, and spread over the databases; each has one row. One SKU is collected as in the cell of one SKU, and of many SKUs every order is alone. Bound by –: more machines sell more. The last column is of the many SKUs.",
			100*paperShare, 1000*paperTrip)}}
	for _, name := range r.strategies() {
		m, ok := r.model(name)
		if !ok {
			continue
		}
		for _, machines := range []int{10, 100, 1000} {
			site := capacity.Site{Machines: machines, Processors: r.Processors, SKUs: 1, Share: paperShare, RoundTrip: paperTrip}
			one := capacity.PlanFor(m.first.Costs, site)
			site.SKUs = paperSKUs
			costs := m.first.Costs
			if m.alone.from != nil {
				costs = m.alone.Costs
			}
			many := capacity.PlanFor(costs, site)
			t.Rows = append(t.Rows, []string{name, numbers.Thousands(machines),
				measure.Number(one.Rate), orNone(one.Limit), measure.Number(many.Rate), orNone(many.Limit),
				fmt.Sprintf("%d / %d / %d / %d", many.Services, many.Databases, many.Redis, many.Proxies)})
		}
	}
	return t
}

func orNone(text string) string {
	if text == "" {
		return measure.None
	}
	return text
}

// remarks say how and where the figures were measured.
func (r *Report) remarks() (notes []string) {
	rounds := fmt.Sprintf("Medians of %d rounds in alternating order (lowest–highest)", r.Rounds)
	if r.Rounds == 1 {
		rounds = "One round only, so the spread is unknown"
	}
	notes = append(notes, fmt.Sprintf("%s; %s at a time; every order is durable, and every sale was audited from the ledger. The load generator, the services and the servers share %s. %s; %s.",
		rounds, numbers.Count(r.Buyers, "buyer"), numbers.Count(r.Processors, "processor"), strings.Join(measure.Versions(r.Servers), ", "), settings(r.Durability)))
	if foreign := r.foreign(); foreign >= .05 {
		notes = append(notes, fmt.Sprintf("Other programs used %.0f %% of the machine in the median: measure again when it is idle.", 100*foreign))
	}
	for _, why := range r.Failed() {
		notes = append(notes, "FAILED: "+why)
	}
	return append(notes, fmt.Sprintf("%s; %s.\n%s", r.Began.Format("2006-01-02 15:04"), r.Machine, r.Command))
}

// foreign is the part of the machine that programs of others used, in the median.
func (r *Result) foreign() float64 {
	var all []float64
	for _, c := range r.Cells {
		if u := c.use(); u.Machine > 0 && u.Seconds > 0 {
			all = append(all, max(0, u.Machine-u.Ours())/u.Seconds/float64(r.Processors))
		}
	}
	return measure.SpreadOf(all).Median
}

func settings(all []measure.ServerSetting) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name+" "+s.Value)
	}
	return strings.Join(list, ", ")
}
