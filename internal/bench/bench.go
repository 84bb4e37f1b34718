// Package bench measures locks on real servers, and what the articles say about
// locks.
//
// Every holder increments a counter that only the lock protects, one for each
// name that is locked. A lock whose counter is not exact let two holders in, and
// its figures are void.
package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/stats"
	"seckill/internal/tables"
)

// Options of a run; some are flags.
type Options struct {
	Backends backend.Config `kong:"-"`
	Locks    []catalog.Info `kong:"-"`

	Contenders []int         `default:"8,64" help:"How many compete for one lock at a time, by comma."`
	Hold       time.Duration `default:"5ms" help:"How long each of them holds it."`
	Crowd      []string      `placeholder:"NAME" help:"Locks to measure with the largest number of contenders, too. Default: all."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	For        time.Duration `default:"2s" help:"How long one lock is measured at a time; longer if its contenders would not all get their turns."`

	// Progress is called before each pass.
	Progress func(done, total int, what string) `kong:"-"`
}

// A Scene is one lock under one load.
type Scene struct {
	Lock       string
	Contenders int // 1: uncontended, acquired and released without a pause
	Passes     []Pass
	Error      string // why it could not be measured

	load load
	ms   float64 // in a sweep: the value that is tried
}

// newScene is one of a lock with the settings of a purchase.
func (o Options) newScene(info catalog.Info, s catalog.Settings, contenders int) *Scene {
	return &Scene{Lock: info.Name, Contenders: contenders, load: load{
		info: info, settings: s, keys: []string{info.Key(sku)}, warm: o.For / 10, measured: o.For}}
}

// sku is not on sale: on a server that was given, the locks of its sales stay free.
const sku = 9_000_000

// isValid reports that it was measured in full, and that its lock let no two in.
func (s *Scene) isValid() bool { return s.Error == "" && len(s.Passes) > 0 && s.lostUpdates() == 0 }

func (s *Scene) lostUpdates() (n int) {
	for _, p := range s.Passes {
		n += p.Lost
	}
	return n
}

func (s *Scene) seriesOf(of figure) stats.Series {
	all := stats.Series{}
	for _, p := range s.Passes {
		all[p.Round] = of(p)
	}
	return all
}

func (s *Scene) spreadOf(of figure) stats.Spread { return s.seriesOf(of).Spread() }

// A Report is what one run measured of locks.
type Report struct {
	HoldMS float64
	Rounds int
	Scenes []*Scene
}

// turns is how often each contender of a fair lock gets it in one pass, at
// least; with fewer, fewest/most says nothing.
const turns = 10

// Run measures all locks, alone and contended, and returns what was measured, and why
// not everything was: a lock that fails does not stop the others, the end of ctx does.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{HoldMS: 1000 * o.Hold.Seconds(), Rounds: o.Rounds}
	for i, n := range append([]int{1}, o.Contenders...) {
		round := time.Duration(n) * o.Hold
		for _, info := range o.Locks {
			if last := i > 0 && i == len(o.Contenders); last && o.Crowd != nil && !slices.Contains(o.Crowd, info.Name) {
				continue
			}
			s := o.newScene(info, catalog.DefaultSettings(), n)
			if n > 1 {
				s.load.hold = func() time.Duration { return o.Hold }
				s.load.warm, s.load.measured = max(s.load.warm, round*3/2), max(o.For, turns*round)
			}
			r.Scenes = append(r.Scenes, s)
		}
	}
	return r, o.measureScenes(ctx, r.Scenes)
}

func (o Options) measureScenes(ctx context.Context, scenes []*Scene) (failed error) {
	turns := stats.Turns(o.Rounds, len(scenes))
	for done, turn := range turns {
		s := scenes[turn.Subject]
		o.Progress(done, len(turns), s.Lock+", "+describeContenders(s.Contenders))
		if s.Error != "" {
			continue
		}
		pass, err := s.load.measurePass(ctx, o.Backends, s.Contenders)
		if err == nil || pass.Lost > 0 { // what overlapped did so, however the pass ended
			pass.Round = turn.Round
			s.Passes = append(s.Passes, pass)
		}
		switch {
		case ctx.Err() != nil:
			return errors.Join(failed, context.Cause(ctx))
		case err != nil:
			s.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", s.Lock, describeContenders(s.Contenders), err))
		}
	}
	return failed
}

func describeContenders(contenders int) string {
	if contenders == 1 {
		return "uncontended"
	}
	return fmt.Sprint(contenders, " contenders")
}

// Overlaps names the locks that let two holders in at a time.
func (r *Report) Overlaps() (names []string) {
	for _, s := range r.Scenes {
		if s.lostUpdates() > 0 && !slices.Contains(names, s.Lock) {
			names = append(names, s.Lock)
		}
	}
	return names
}

// reportTables are the report for people: one for each number of contenders.
func (r *Report) reportTables() (all []tables.Table) {
	crowds := map[int][]*Scene{}
	for _, s := range r.Scenes {
		crowds[s.Contenders] = append(crowds[s.Contenders], s)
	}
	for _, n := range slices.Sorted(maps.Keys(crowds)) {
		title := "Uncontended: acquire and release, one after the other"
		columns := []column{locksPerSecond, {"p50 ms", waitP50, false}, longWait, {"commands", commandsPerLock, false}}
		if n > 1 {
			title = fmt.Sprintf("%d contenders, each holding %v ms", n, r.HoldMS)
			columns = slices.Insert(columns, 3, column{"fewest/most", fewestOverMost, false})
		}
		all = append(all, sceneTable(title, "lock", columns, crowds[n]...))
	}
	if len(all) > 0 {
		all[len(all)-1].Notes = []string{fmt.Sprintf("Figures are medians of %s in alternating order (lowest–highest).", tables.Count(r.Rounds, "round"))}
	}
	return all
}

// A column is a median, with the lowest and the highest round where those say most: of rates.
type column struct {
	head   string
	of     figure
	spread bool
}

var (
	locksPerSecond = column{"locks/s", locksPerSecondOf, true}
	longWait       = column{"p99 ms", waitP99, false}
)

// sceneTable has a line for each scene: those of a sweep by their value, others by their lock.
func sceneTable(title, first string, columns []column, scenes ...*Scene) tables.Table {
	t := tables.Table{Title: title, Words: 1, Head: []string{first}}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, s := range scenes {
		row, void := []string{s.Lock}, ""
		switch {
		case s.ms > 0: // updates that are lost are a figure of it
			row[0] = tables.Number(s.ms)
		case s.lostUpdates() > 0:
			void = fmt.Sprintf("invalid: overlap seen, %d updates lost", s.lostUpdates())
		case s.Error != "":
			void = "failed"
		}
		for i, c := range columns {
			cell := tables.None
			switch {
			case void != "" && i == 0:
				cell = void
			case void != "" || len(s.Passes) == 0:
			case c.spread:
				cell = s.spreadOf(c.of).String()
			default:
				cell = tables.Number(s.spreadOf(c.of).Median())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// LocksName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const LocksName = "locks"

// Report is the report in all its forms.
func (r *Report) Report(run tables.Run) tables.Report {
	locks := map[string]map[int]any{} // by the number of contenders
	for _, s := range r.Scenes {
		if !s.isValid() {
			continue
		}
		if locks[s.Lock] == nil {
			locks[s.Lock] = map[int]any{}
		}
		locks[s.Lock][s.Contenders] = s.jsonFigures()
	}
	return tables.Report{Tables: r.reportTables(), Name: LocksName, From: run.String(), Facts: [][2]string{{"run", run.String()}},
		JSON: struct {
			tables.Run
			HoldMS float64                `json:"hold_ms"`
			Locks  map[string]map[int]any `json:"locks"`
		}{run, r.HoldMS, locks}}
}

// jsonFigures are what results say of a scene.
func (s *Scene) jsonFigures() map[string]any {
	return map[string]any{"locks_per_second": s.spreadOf(locksPerSecondOf), "p99_ms": s.spreadOf(waitP99), "commands": s.spreadOf(commandsPerLock), "lost_percent": s.spreadOf(lost)}
}
