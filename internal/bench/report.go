package bench

import (
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"time"

	"seckill/internal/backend"
)

// A Report is what one run has measured.
type Report struct {
	Command   string           `json:"command"`
	Began     time.Time        `json:"began"`
	Machine   Machine          `json:"machine"`
	Servers   []backend.Status `json:"servers"`
	HoldMS    float64          `json:"hold_ms"`
	Instances int              `json:"instances"`
	Rounds    int              `json:"rounds"`
	Locks     []*Result        `json:"locks"`
	Ratios    []Ratio          `json:"ratios"`
}

// A Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

func newReport(o Options) *Report {
	return &Report{
		Began: time.Now(), Machine: Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()},
		HoldMS: milliseconds(o.Hold), Instances: o.Instances, Rounds: o.Rounds,
		Ratios: []Ratio{},
	}
}

// Overlaps are the locks that let two in at a time.
func (r *Report) Overlaps() (names []string) {
	for _, l := range r.Locks {
		if slices.ContainsFunc(l.Scenes, func(s Scene) bool { return s.lost() > 0 }) {
			names = append(names, l.Name)
		}
	}
	return names
}

// Failed are the locks that could not be measured as they should.
func (r *Report) Failed() (names []string) {
	for _, l := range r.Locks {
		if slices.ContainsFunc(l.Scenes, func(s Scene) bool { return s.Error != "" }) {
			names = append(names, l.Name)
		}
	}
	return names
}

func (s Scene) lost() (n int) {
	for _, p := range s.Passes {
		n += p.Lost
	}
	return n
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// A Spread is a figure of several rounds.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// SpreadOf several figures. Of an even number of them the median is the mean
// of the middle two.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Low: v[0], High: v[n-1]}
}

// A measure is one figure of a pass.
type measure struct {
	name string
	of   func(Pass) float64
}

var (
	rate     = measure{"locks/s", func(p Pass) float64 { return p.Rate }}
	waitP50  = measure{"p50 wait", func(p Pass) float64 { return p.WaitP50 }}
	waitP99  = measure{"p99 wait", func(p Pass) float64 { return p.WaitP99 }}
	handover = measure{"hand-over", func(p Pass) float64 { return p.HandoverP50 }}
	fairness = measure{"fewest/most", Pass.Fairness}
)

func (s Scene) spread(m measure) Spread {
	var values []float64
	for _, p := range s.Passes {
		values = append(values, m.of(p))
	}
	return SpreadOf(values)
}

func (r *Report) scene(lock string, contenders int) (Scene, bool) {
	for _, l := range r.Locks {
		for _, s := range l.Scenes {
			if l.Name == lock && s.Contenders == contenders {
				return s, len(s.Passes) > 0
			}
		}
	}
	return Scene{}, false
}
