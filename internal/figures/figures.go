// Package figures extracts figures from the results of compare and bench for the
// documentation and, as a small JSON file, for the lessons. It computes nothing new.
package figures

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench"
	"seckill/internal/measure"
	"seckill/loadtest/compare"
)

// A Set is everything that was measured; nil: not measured.
type Set struct {
	Compare *Sales  `json:"compare,omitempty"`
	Locks   *Locks  `json:"locks,omitempty"`
	Claims  *Claims `json:"claims,omitempty"`
}

// A Run says where figures come from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	OS      string    `json:"os"`
	CPUs    int       `json:"cpus"`
	Servers []string  `json:"servers"`
}

func runOf(command string, begun time.Time, m measure.Machine, servers []backend.Status) Run {
	return Run{command, begun, m.OS, m.CPUs, measure.Versions(servers)}
}

// A Spread is the median, the lowest and the highest round.
type Spread [3]float64

// Sales are the strategies' figures of `seckill compare`.
type Sales struct {
	Run
	AtOnce     int             `json:"at_once"`
	Strategies map[string]Sale `json:"strategies"`
}

// A Sale has one strategy's figures.
type Sale struct {
	Verdict string  `json:"verdict"`
	Rate    Spread  `json:"sales_per_second"`
	P50     Spread  `json:"p50_ms"`
	P99     Spread  `json:"p99_ms"`
	Share   Spread  `json:"of_transaction"` // of the same transaction without HTTP
	Sent    float64 `json:"commands"`       // per purchase
}

// Locks are the figures of `seckill bench locks`.
type Locks struct {
	Run
	HoldMS float64         `json:"hold_ms"`
	Locks  map[string]Lock `json:"locks"`
	order  []string
}

// A Lock is one of ours, or of another library.
type Lock struct {
	Foreign bool          `json:"foreign,omitempty"`
	Crowds  map[int]Crowd `json:"crowds"` // by the number of contenders
}

// A Crowd is a number of contenders; a single one acquires and releases without
// a pause.
type Crowd struct {
	Rate     Spread  `json:"locks_per_second"`
	P50      Spread  `json:"p50_ms"` // of waiting
	P99      Spread  `json:"p99_ms"`
	Fairness Spread  `json:"fairness"` // fewest/most locks per contender
	Sent     float64 `json:"commands"`
}

// Claims are the sweeps of `seckill bench claims`.
type Claims struct {
	Run
	Lock    string  `json:"lock"` // that was swept
	TaskMS  float64 `json:"task_ms"`
	Central Spread  `json:"central_over_segmented"`
	Polls   []Sweep `json:"polls"`
	Leases  []Sweep `json:"leases"`
}

// A Sweep is one value of the pause or the lease.
type Sweep struct {
	MS   float64 `json:"ms"`
	Rate Spread  `json:"locks_per_second"`
	P99  Spread  `json:"p99_ms"`
	Sent float64 `json:"commands"`
	Lost Spread  `json:"lost_percent"`
}

// Write writes the file that lessons read.
func (s *Set) Write(w io.Writer) error { return json.NewEncoder(w).Encode(s) }

// OfSales extracts figures from a comparison.
func OfSales(r *compare.Result) *Sales {
	s := &Sales{Run: runOf(r.Command, r.Begun, r.Machine, r.Servers),
		AtOnce: r.Settings.Concurrency, Strategies: map[string]Sale{}}
	for _, e := range r.Strategies {
		s.Strategies[e.Strategy] = Sale{string(e.Verdict), of(e.Sales), of(e.P50), of(e.P99),
			of(e.Ratios[compare.BaselineTransaction]), digits(e.CommandsEach())}
	}
	return s
}

// OfLocks extracts figures from a run of the locks, without those that failed.
func OfLocks(r *bench.Report) *Locks {
	s := &Locks{Run: runOf(r.Command, r.Began, r.Machine, r.Servers), HoldMS: r.HoldMS, Locks: map[string]Lock{}}
	for _, l := range r.Locks {
		lock := Lock{l.Foreign, map[int]Crowd{}}
		for _, scene := range l.Scenes {
			if f, ok := scene.Figures(); ok {
				lock.Crowds[scene.Contenders] = Crowd{of(f.Rate), of(f.WaitP50), of(f.WaitP99), of(f.Fairness), digits(scene.Commands)}
			}
		}
		if len(lock.Crowds) > 0 {
			s.order = append(s.order, l.Name)
			s.Locks[l.Name] = lock
		}
	}
	return s
}

// OfClaims extracts the sweeps.
func OfClaims(c *bench.Claims) *Claims {
	r := c.Report
	s := &Claims{Run: runOf(r.Command, r.Began, r.Machine, r.Servers), TaskMS: r.HoldMS, Central: of(c.Tables)}
	s.Lock, _, _ = strings.Cut(c.Swept, ",")
	for _, x := range c.Polls {
		s.Polls = append(s.Polls, sweep(x.Poll, x))
	}
	for _, x := range c.Leases {
		s.Leases = append(s.Leases, sweep(x.Lease, x))
	}
	return s
}

func sweep(ms float64, x bench.SweepPoint) Sweep {
	return Sweep{digits(ms), of(x.Rate), of(x.WaitP99), digits(x.Commands), of(x.Lost)}
}

func of(x measure.Spread) Spread { return Spread{digits(x.Median), digits(x.Low), digits(x.High)} }

// digits keeps four significant digits.
func digits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
