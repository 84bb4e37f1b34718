package hot

import (
	"io"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/measure"
)

// A Report has one Result for each way in which the database was run.
type Report struct {
	Command string          `json:"command"`
	Began   time.Time       `json:"began"`
	Machine measure.Machine `json:"machine"`
	Results []*Result       `json:"results"`
}

// A Result is what was measured on one set of servers.
type Result struct {
	Binlog     string                  `json:"binlog"` // off, on, or as it was found: given
	Processes  int                     `json:"service_processes"`
	Servers    []backend.Status        `json:"servers"`
	Durability []measure.ServerSetting `json:"durability"`
	Buyers     []int                   `json:"buyers"`
	Rounds     int                     `json:"rounds"`
	Cells      []*Cell                 `json:"cells"`
	Goals      []Goal                  `json:"goals"`
	Profiles   []*Profile              `json:"profiles,omitempty"`
}

// A Cell is a strategy or a baseline with one number of buyers at a time.
type Cell struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline"`
	Buyers   int    `json:"buyers"`
	Passes   []Pass `json:"passes"`
	Error    string `json:"error,omitempty"` // why there are no figures
}

// A Pass is one measurement. Of a baseline an order is what it does once.
type Pass struct {
	Round  int     `json:"round"`
	Orders int     `json:"orders"`
	Other  int     `json:"neither_sold_nor_sold_out,omitempty"`
	Rate   float64 `json:"orders_per_second"`
	P50    float64 `json:"p50_ms,omitempty"`
	P99    float64 `json:"p99_ms,omitempty"`
	// Processor time of an order, in microseconds; nil: not known.
	Service   *float64 `json:"service_us,omitempty"`
	Servers   *float64 `json:"servers_us,omitempty"`
	Generator *float64 `json:"generator_us,omitempty"`
}

// rate is that of the last round; 0: none.
func (c *Cell) rate() float64 {
	if len(c.Passes) == 0 {
		return 0
	}
	return c.Passes[len(c.Passes)-1].Rate
}

// A figure of a pass; ok is false where it is not known.
type figure struct {
	name string
	of   func(Pass) (x float64, ok bool)
}

func known(x *float64) (float64, bool) {
	if x == nil {
		return 0, false
	}
	return *x, true
}

var (
	rate      = figure{"orders/s", func(p Pass) (float64, bool) { return p.Rate, true }}
	p50       = figure{"p50 ms", func(p Pass) (float64, bool) { return p.P50, p.P50 > 0 }}
	p99       = figure{"p99 ms", func(p Pass) (float64, bool) { return p.P99, p.P99 > 0 }}
	service   = figure{"service µs", func(p Pass) (float64, bool) { return known(p.Service) }}
	servers   = figure{"servers µs", func(p Pass) (float64, bool) { return known(p.Servers) }}
	generator = figure{"generator µs", func(p Pass) (float64, bool) { return known(p.Generator) }}

	// processors is how many were busy with the sale, by the utilization law: near
	// those that the machine has, nothing else is waited for.
	processors = figure{"processors", func(p Pass) (float64, bool) {
		if p.Service == nil || p.Servers == nil || p.Generator == nil {
			return 0, false
		}
		return p.Rate * (*p.Service + *p.Servers + *p.Generator) / 1e6, true
	}}
)

// series is empty where a cell has no figures, also of the rounds before its
// error.
func (c *Cell) series(f figure) measure.Series {
	if c == nil || c.Error != "" {
		return measure.Series{}
	}
	return measure.SeriesOf(c.Passes, func(p Pass) (int, float64, bool) {
		x, ok := f.of(p)
		return p.Round, x, ok
	})
}

// text is the figure's median with its extremes.
func (c *Cell) text(f figure) string {
	s := c.series(f)
	if len(s) == 0 {
		return measure.None
	}
	return s.Spread().String()
}

// Cell finds a cell; nil if there is none.
func (r *Result) Cell(name string, buyers int) *Cell {
	i := slices.IndexFunc(r.Cells, func(c *Cell) bool { return c.Name == name && c.Buyers == buyers })
	if i < 0 {
		return nil
	}
	return r.Cells[i]
}

// best is the cell of a name with the highest median rate; nil if none has one.
func (r *Result) best(name string) (best *Cell) {
	most := 0.0
	for _, c := range r.Cells {
		if median := c.series(rate).Spread().Median; c.Name == name && median > most {
			best, most = c, median
		}
	}
	return best
}

// names are those of the cells, each once, strategies first.
func (r *Result) names() (all []string) {
	for _, baseline := range []bool{false, true} {
		for _, c := range r.Cells {
			if c.Baseline == baseline && !slices.Contains(all, c.Name) {
				all = append(all, c.Name)
			}
		}
	}
	return all
}

// Failed names what could not be measured.
func (r *Report) Failed() (all []string) {
	for _, result := range r.Results {
		for _, c := range result.Cells {
			if c.Error != "" {
				all = append(all, c.Name+" ("+atATime(c.Buyers)+", binlog "+result.Binlog+"): "+c.Error)
			}
		}
		for _, p := range result.Profiles {
			if p.Error != "" {
				all = append(all, "profile of "+p.Name+" (binlog "+result.Binlog+"): "+p.Error)
			}
		}
	}
	return all
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error { return measure.WriteJSON(w, r) }

// How the database was run.
const (
	Off   = "off"
	On    = "on"
	Given = "given"
)
