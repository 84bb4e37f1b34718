package bench

import (
	"io"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/measure"
)

// A Report is what one run measured.
type Report struct {
	Command   string           `json:"command"`
	Began     time.Time        `json:"began"`
	Machine   measure.Machine  `json:"machine"`
	Servers   []backend.Status `json:"servers"`
	HoldMS    float64          `json:"hold_ms"`
	Instances int              `json:"instances"`
	Rounds    int              `json:"rounds"`
	Locks     []*Result        `json:"locks"`
	Ratios    []Ratio          `json:"ratios"`
}

func newReport(o Options) *Report {
	return &Report{Began: time.Now(), Machine: measure.ThisMachine(), HoldMS: measure.Milliseconds(o.Hold),
		Instances: o.Instances, Rounds: o.Rounds, Ratios: []Ratio{}}
}

// Overlaps names the locks that let two holders in at a time.
func (r *Report) Overlaps() []string {
	return r.locks(func(s Scene) bool { return s.lost() > 0 })
}

// Failed names the locks that could not be measured in full.
func (r *Report) Failed() []string {
	return r.locks(func(s Scene) bool { return s.Error != "" })
}

func (r *Report) locks(with func(Scene) bool) (names []string) {
	for _, l := range r.Locks {
		if slices.ContainsFunc(l.Scenes, with) {
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
func (r *Report) WriteJSON(w io.Writer) error { return measure.WriteJSON(w, r) }

// A figure of a pass.
type figure struct {
	name string
	of   func(Pass) float64
}

var (
	rate     = figure{"locks/s", func(p Pass) float64 { return p.Rate }}
	waitP50  = figure{"p50 wait", func(p Pass) float64 { return p.WaitP50 }}
	waitP99  = figure{"p99 wait", func(p Pass) float64 { return p.WaitP99 }}
	handover = figure{"hand-over", func(p Pass) float64 { return p.HandoverP50 }}
	fairness = figure{"fewest/most", Pass.Fairness}
)

func (s Scene) series(f figure) measure.Series {
	return measure.SeriesOf(s.Passes, func(p Pass) (int, float64, bool) { return p.Round, f.of(p), true })
}

func (s Scene) spread(f figure) measure.Spread { return s.series(f).Spread() }

func (r *Report) scene(lock string, contenders int) (Scene, bool) {
	for _, l := range r.Locks {
		for _, s := range l.Scenes {
			if l.Name == lock && s.Contenders == contenders {
				return s, s.valid()
			}
		}
	}
	return Scene{}, false
}
