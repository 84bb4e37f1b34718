// Package bench measures locks on real servers, and what the articles say about
// locks.
//
// Every holder increments a counter that only the lock protects, one for each
// name that is locked. A lock whose counter is not exact let two holders in, and
// its figures are void.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/measure"
)

// Options of a run; some are flags.
type Options struct {
	Backends backend.Config `kong:"-"`
	Locks    []catalog.Info `kong:"-"`

	Contenders []int         `default:"8,64" help:"How many compete for one lock at a time, by comma."`
	Hold       time.Duration `default:"5ms" help:"How long each of them holds it."`
	Crowd      []string      `placeholder:"NAME" help:"Only these also with the last number of contenders. Default: all."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	For        time.Duration `default:"2s" help:"How long one lock is measured at a time; longer if its contenders would not all get their turns."`

	// Progress is called before each pass.
	Progress func(done, total int, what string) `kong:"-"`
}

// A Scene is one lock under one load.
type Scene struct {
	Lock       string `json:"lock"`
	Contenders int    `json:"contenders"` // 1: uncontended, acquired and released without a pause
	Passes     []Pass `json:"passes"`
	Error      string `json:"error,omitempty"` // why it could not be measured

	load load
}

// scene is one of a lock with the settings of a purchase.
func (o Options) scene(info catalog.Info, s catalog.Settings, contenders int) *Scene {
	return &Scene{Lock: info.Name, Contenders: contenders, load: load{
		info: info, settings: s, keys: []string{info.Key(sku)}, warm: o.For / 10, measured: o.For}}
}

// sku is not on sale: on a server that was given, the locks of its sales stay free.
const sku = 9_000_000

// valid reports that it was measured in full, and that its lock let no two in.
func (s *Scene) valid() bool { return s.Error == "" && len(s.Passes) > 0 && s.lost() == 0 }

func (s *Scene) lost() (n int) {
	for _, p := range s.Passes {
		n += p.Lost
	}
	return n
}

func (s *Scene) series(of figure) measure.Series {
	all := measure.Series{}
	for _, p := range s.Passes {
		all[p.Round] = of(p)
	}
	return all
}

func (s *Scene) spread(of figure) measure.Spread { return s.series(of).Spread() }

// A Report is what one run measured of locks.
type Report struct {
	measure.Run
	HoldMS float64  `json:"hold_ms"`
	Rounds int      `json:"rounds"`
	Scenes []*Scene `json:"scenes"`
}

// turns is how often each contender of a fair lock gets it in one pass, at
// least; with fewer, fewest/most says nothing.
const turns = 10

// Run measures all locks, alone and contended. If ctx ends first, Run
// returns the figures until then with the error. A lock that fails has an error
// in its Scene and does not stop the others.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{HoldMS: measure.Milliseconds(o.Hold), Rounds: o.Rounds}
	for i, n := range append([]int{1}, o.Contenders...) {
		round := time.Duration(n) * o.Hold
		for _, info := range o.Locks {
			if last := i > 0 && i == len(o.Contenders); last && o.Crowd != nil && !slices.Contains(o.Crowd, info.Name) {
				continue
			}
			s := o.scene(info, catalog.DefaultSettings(), n)
			if n > 1 {
				s.load.hold = func() time.Duration { return o.Hold }
				s.load.warm, s.load.measured = max(s.load.warm, round*3/2), max(o.For, turns*round)
			}
			r.Scenes = append(r.Scenes, s)
		}
	}
	return r, o.measure(ctx, r.Scenes)
}

func (o Options) measure(ctx context.Context, scenes []*Scene) error {
	for turn := range measure.Turns(o.Rounds, len(scenes)) {
		s := scenes[turn.Subject]
		o.Progress(turn.Done, turn.Total, s.Lock+", "+crowd(s.Contenders))
		if s.Error != "" {
			continue
		}
		pass, err := s.load.pass(ctx, o.Backends, s.Contenders)
		if err == nil || pass.Lost > 0 { // what overlapped did so, however the pass ended
			pass.Round = turn.Round
			s.Passes = append(s.Passes, pass)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.Error = err.Error()
		}
	}
	return nil
}

func crowd(contenders int) string {
	if contenders == 1 {
		return "uncontended"
	}
	return fmt.Sprint(contenders, " contenders")
}

// Overlaps names the locks that let two holders in at a time.
func (r *Report) Overlaps() []string {
	return r.locks(func(s *Scene) bool { return s.lost() > 0 })
}

// Failed names the locks that could not be measured in full.
func (r *Report) Failed() []string {
	return r.locks(func(s *Scene) bool { return s.Error != "" })
}

func (r *Report) locks(with func(*Scene) bool) (names []string) {
	for _, s := range r.Scenes {
		if with(s) && !slices.Contains(names, s.Lock) {
			names = append(names, s.Lock)
		}
	}
	return names
}

// tables are the report for people: one for each number of contenders.
func (r *Report) tables() (all []measure.Table) {
	var crowds []int
	for _, s := range r.Scenes {
		if !slices.Contains(crowds, s.Contenders) {
			crowds = append(crowds, s.Contenders)
			all = append(all, r.table(s.Contenders))
		}
	}
	if len(all) > 0 {
		all[len(all)-1].Notes = r.remarks()
	}
	return all
}

func (r *Report) table(contenders int) measure.Table {
	t := measure.Table{Title: "Uncontended: acquire and release, one after the other", Words: 1}
	columns := []column{{"locks/s", rate, true}, {"p50 ms", waitP50, false}, {"p99 ms", waitP99, true}, {"commands", commands, false}}
	if contenders > 1 {
		t.Title = fmt.Sprintf("%d contenders, each holding %v ms", contenders, r.HoldMS)
		columns = []column{{"locks/s", rate, true}, {"p50 wait ms", waitP50, false}, {"p99 wait ms", waitP99, true},
			{"fewest/most", fairness, false}, {"commands", commands, false}}
	}
	t.Head = []string{"lock"}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, s := range r.Scenes {
		if s.Contenders == contenders {
			t.Rows = append(t.Rows, append([]string{s.Lock}, s.row(columns)...))
		}
	}
	return t
}

// A column is a median, with the lowest and the highest round where those say something: of rates
// and of the longest waits, which differ most between rounds.
type column struct {
	head   string
	of     figure
	spread bool
}

func (s *Scene) row(columns []column) (row []string) {
	switch {
	case s.lost() > 0:
		row = append(row, fmt.Sprintf("invalid: overlap seen, %d updates lost", s.lost()))
	case s.Error != "":
		row = append(row, "failed")
	case len(s.Passes) > 0:
		for _, c := range columns {
			text := measure.Number(s.spread(c.of).Median)
			if c.spread {
				text = s.spread(c.of).String()
			}
			row = append(row, text)
		}
	}
	for len(row) < len(columns) {
		row = append(row, measure.None)
	}
	return row
}

// remarks say how the figures were measured, and what could not be.
func (r *Report) remarks() []string {
	notes := []string{fmt.Sprintf("Figures are medians of %d rounds in alternating order (lowest–highest).", r.Rounds)}
	for _, s := range r.Scenes {
		if s.Error != "" {
			notes = append(notes, fmt.Sprintf("Failed: %s, %s: %s", s.Lock, crowd(s.Contenders), s.Error))
		}
	}
	return notes
}

// LocksName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const LocksName = "locks"

// Report is the report in all its forms.
func (r *Report) Report(run measure.Run) measure.Report {
	r.Run = run
	locks := map[string]map[int]any{} // by the number of contenders
	for _, s := range r.Scenes {
		if !s.valid() {
			continue
		}
		if locks[s.Lock] == nil {
			locks[s.Lock] = map[int]any{}
		}
		locks[s.Lock][s.Contenders] = s.figures()
	}
	return measure.Report{Tables: r.tables(), JSON: r, Name: LocksName, From: run.String(), Facts: [][2]string{{"run", run.String()}},
		Figures: struct {
			measure.Run
			HoldMS float64                `json:"hold_ms"`
			Locks  map[string]map[int]any `json:"locks"`
		}{run, r.HoldMS, locks}}
}

// figures are what the lessons read of a scene.
func (s *Scene) figures() map[string]any {
	return map[string]any{"locks_per_second": s.spread(rate), "p99_ms": s.spread(waitP99), "commands": s.spread(commands), "lost_percent": s.spread(lost)}
}
