package scale

import (
	"fmt"
	"io"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/measure"
)

// A Report is one run, with where and how it was made.
type Report struct {
	Command string          `json:"command"`
	Began   time.Time       `json:"began"`
	Machine measure.Machine `json:"machine"`
	*Result
}

// A Result is what was measured.
type Result struct {
	Buyers     int                     `json:"buyers"` // at a time
	Rounds     int                     `json:"rounds"`
	Processors int                     `json:"processors"`
	Servers    []backend.Status        `json:"servers"`
	Durability []measure.ServerSetting `json:"durability"`
	Cells      []*Cell                 `json:"cells"`
}

// A Cell is a strategy in one shape.
type Cell struct {
	Strategy string `json:"strategy"`
	Shape    Shape  `json:"shape"`
	Passes   []Pass `json:"passes"`
	Error    string `json:"error,omitempty"` // why there are no figures
}

// A Pass is one sale, every order of which is durable.
type Pass struct {
	Round  int     `json:"round"`
	Orders int     `json:"orders"`
	Other  int     `json:"not_sold,omitempty"` // requests with another answer
	Rate   float64 `json:"orders_per_second"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Use    Use     `json:"use"`
}

// rate is the orders a second of each round; empty where the cell has an error.
func (c *Cell) rate() measure.Series { return c.series(func(p Pass) float64 { return p.Rate }) }

func (c *Cell) series(of func(Pass) float64) measure.Series {
	if c == nil || c.Error != "" {
		return measure.Series{}
	}
	return measure.SeriesOf(c.Passes, func(p Pass) (int, float64, bool) { return p.Round, of(p), true })
}

// median is the median of a figure over the rounds; 0: there is none.
func (c *Cell) median(of func(Pass) float64) float64 { return c.series(of).Spread().Median }

// use has the medians of what the cell's sales used.
func (c *Cell) use() Use {
	m := func(of func(Use) float64) float64 { return c.median(func(p Pass) float64 { return of(p.Use) }) }
	return Use{
		Seconds:    m(func(u Use) float64 { return u.Seconds }),
		Services:   m(func(u Use) float64 { return u.Services }),
		Database:   m(func(u Use) float64 { return u.Database }),
		Redis:      m(func(u Use) float64 { return u.Redis }),
		Proxies:    m(func(u Use) float64 { return u.Proxies }),
		Others:     m(func(u Use) float64 { return u.Others }),
		Generator:  m(func(u Use) float64 { return u.Generator }),
		Machine:    m(func(u Use) float64 { return u.Machine }),
		WaitRow:    m(func(u Use) float64 { return u.WaitRow }),
		WaitLock:   m(func(u Use) float64 { return u.WaitLock }),
		Statements: m(func(u Use) float64 { return u.Statements }),
	}
}

func (r *Result) cell(strategy string, s Shape) *Cell {
	i := slices.IndexFunc(r.Cells, func(c *Cell) bool { return c.Strategy == strategy && c.Shape == s })
	if i < 0 {
		return nil
	}
	return r.Cells[i]
}

func (r *Result) strategies() (all []string) {
	for _, c := range r.Cells {
		if !slices.Contains(all, c.Strategy) {
			all = append(all, c.Strategy)
		}
	}
	return all
}

// shapes are those measured that are wanted, in their order.
func (r *Result) shapes(wanted func(Shape) bool) (all []Shape) {
	for _, c := range r.Cells {
		if wanted(c.Shape) && !slices.Contains(all, c.Shape) {
			all = append(all, c.Shape)
		}
	}
	return all
}

// Failed names what could not be measured.
func (r *Result) Failed() (all []string) {
	for _, c := range r.Cells {
		if c.Error != "" {
			all = append(all, fmt.Sprintf("%s (%s): %s", c.Strategy, c.Shape, c.Error))
		}
	}
	return all
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error { return measure.WriteJSON(w, r) }
