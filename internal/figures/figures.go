// Package figures carries measured figures to where people read them: the
// lessons, which get a small file of them, and the README. Nothing is computed
// here that a result does not say.
package figures

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench"
	"seckill/loadtest/compare"
)

// A Set is everything that was measured; what was not is nil.
type Set struct {
	Compare *Sales  `json:"compare,omitempty"`
	Locks   *Locks  `json:"locks,omitempty"`
	Claims  *Claims `json:"claims,omitempty"`
}

// A Run says where figures are from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	OS      string    `json:"os"`
	CPUs    int       `json:"cpus"`
	Servers []string  `json:"servers"`
}

// A Spread is the median of a run's rounds, the lowest and the highest.
type Spread [3]float64

// Sales are the strategies' figures of `seckill compare`.
type Sales struct {
	Run
	AtOnce     int             `json:"at_once"`
	Strategies map[string]Sale `json:"strategies"`
	order      []string
}

// A Sale is one strategy's.
type Sale struct {
	Verdict string  `json:"verdict"`
	Rate    Spread  `json:"sales_per_second"`
	P50     Spread  `json:"p50_ms"`
	P99     Spread  `json:"p99_ms"`
	Share   Spread  `json:"of_transaction"` // of the same transaction without HTTP
	Sent    float64 `json:"commands"`       // a purchase
}

// Locks are the figures of `seckill bench locks`.
type Locks struct {
	Run
	HoldMS float64         `json:"hold_ms"`
	Locks  map[string]Lock `json:"locks"`
	order  []string
}

// A Lock is one of ours, or somebody else's.
type Lock struct {
	Foreign bool          `json:"foreign,omitempty"`
	Crowds  map[int]Crowd `json:"crowds"` // by the number of contenders
}

// A Crowd is so many contenders; one takes and gives back without a pause.
type Crowd struct {
	Rate     Spread  `json:"locks_per_second"`
	P50      Spread  `json:"p50_ms"` // of waiting
	P99      Spread  `json:"p99_ms"`
	Fairness Spread  `json:"fairness"` // fewest of most locks a contender
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

// A Sweep is one value of the pause or of the lease.
type Sweep struct {
	MS   float64 `json:"ms"`
	Rate Spread  `json:"locks_per_second"`
	P99  Spread  `json:"p99_ms"`
	Sent float64 `json:"commands"`
	Lost Spread  `json:"lost_percent"`
}

// Write writes the file that the lessons read.
func (s *Set) Write(w io.Writer) error { return json.NewEncoder(w).Encode(s) }

// OfSales takes from a comparison what is shown.
func OfSales(r *compare.Result) *Sales {
	s := &Sales{Run: Run{r.Command, r.Begun, r.Machine.OS, r.Machine.CPUs, versions(r.Servers)},
		AtOnce: r.Settings.Concurrency, Strategies: map[string]Sale{}}
	of := func(x compare.Spread) Spread { return spread(x.Median, x.Low, x.High) }
	for _, e := range r.Strategies {
		s.order = append(s.order, e.Strategy)
		s.Strategies[e.Strategy] = Sale{string(e.Verdict), of(e.Sales), of(e.P50), of(e.P99),
			of(e.Ratios[compare.FloorTransaction]), digits(e.CommandsEach())}
	}
	return s
}

// OfLocks takes from a run of the locks what is shown; what failed is not.
func OfLocks(r *bench.Report) *Locks {
	s := &Locks{Run: Run{r.Command, r.Began, r.Machine.OS, r.Machine.CPUs, versions(r.Servers)},
		HoldMS: r.HoldMS, Locks: map[string]Lock{}}
	for _, l := range r.Locks {
		lock := Lock{l.Foreign, map[int]Crowd{}}
		for _, scene := range l.Scenes {
			if f, ok := scene.Figures(); ok {
				lock.Crowds[scene.Contenders] = Crowd{ofBench(f.Rate), ofBench(f.WaitP50), ofBench(f.WaitP99),
					ofBench(f.Fairness), digits(scene.Commands)}
			}
		}
		if len(lock.Crowds) > 0 {
			s.order = append(s.order, l.Name)
			s.Locks[l.Name] = lock
		}
	}
	return s
}

// OfClaims takes the sweeps.
func OfClaims(c *bench.Claims) *Claims {
	s := &Claims{Run: Run{c.Report.Command, c.Report.Began, c.Report.Machine.OS, c.Report.Machine.CPUs, versions(c.Report.Servers)},
		TaskMS: c.Report.HoldMS, Central: ofBench(c.Tables)}
	s.Lock, _, _ = strings.Cut(c.Swept, ",")
	for _, x := range c.Polls {
		s.Polls = append(s.Polls, Sweep{digits(x.Poll), ofBench(x.Rate), ofBench(x.WaitP99), digits(x.Commands), ofBench(x.Lost)})
	}
	for _, x := range c.Leases {
		s.Leases = append(s.Leases, Sweep{digits(x.Lease), ofBench(x.Rate), ofBench(x.WaitP99), digits(x.Commands), ofBench(x.Lost)})
	}
	return s
}

func ofBench(x bench.Spread) Spread { return spread(x.Median, x.Low, x.High) }

func spread(median, low, high float64) Spread {
	return Spread{digits(median), digits(low), digits(high)}
}

// digits keeps four of them: more would pretend.
func digits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func versions(servers []backend.Status) (all []string) {
	seen := map[string]bool{}
	for _, s := range servers {
		text := s.Version
		if s.Tier != "" {
			text = fmt.Sprintf("%s (%s)", s.Version, s.Tier)
		}
		if s.Version != "" && !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}
