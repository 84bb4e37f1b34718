// Package bench measures locks on real servers, and repeats experiments that two articles about
// locks describe (see Articles).
//
// Each locked name has a counter that only its lock protects, and every holder increments it. If a counter is too low
// in the end, two contenders held the lock at a time. The report then calls the lock invalid and shows no figures.
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
	"seckill/internal/seckill"
	"seckill/internal/stats"
	"seckill/internal/tables"
)

// Options are the options of a benchmark. Those with a help text are also flags.
type Options struct {
	Backends backend.Config `kong:"-"`
	Locks    []catalog.Info `kong:"-"`

	Contenders []int         `default:"8,64" help:"Numbers of contenders for one lock, separated by commas."`
	Hold       time.Duration `default:"5ms" help:"How long each contender holds the lock."`
	Crowd      []string      `placeholder:"NAME" help:"Locks to measure with the most contenders. Default: all."`
	Gated      []string      `placeholder:"NAME" help:"${Gated}"`
	Rounds     int           `default:"3" help:"How often every lock is measured, in alternating order."`
	For        time.Duration `default:"2s" help:"${BenchFor}"`

	// Progress is called before each pass, with the number of passes that are done and the number of all passes.
	Progress func(done, total int, what string) `kong:"-"`
}

// A Trial is one lock under one load, and the passes in which it was measured.
type Trial struct {
	Lock       string // name of the strategy, followed by "-gated" if contenders pass a gate first
	Contenders int    // number of contenders; a single contender releases the lock at once
	Passes     []Pass
	Error      string // the reason why the lock could not be measured; "" if it could

	info     catalog.Info
	settings catalog.Settings
	ms       float64              // the pause or lease under test in ms (see Articles); 0 if the trial tests neither
	keys     []string             // the names that are locked, one after another, by successive acquisitions
	hold     func() time.Duration // returns how long to hold the lock; if nil, the lock is released at once
	warmUp   time.Duration        // the time for which contenders run before the measured time begins
	measured time.Duration
	gated    bool // true if contenders pass a gate before they wait for the lock (see gatedLocker)
}

func (o Options) newTrial(info catalog.Info, s catalog.Settings, contenders int) *Trial {
	return &Trial{Lock: info.Name, Contenders: contenders, info: info, settings: s,
		keys: []string{info.Key(seckill.BenchSKU)}, warmUp: o.For / 10, measured: o.For}
}

// isValid reports whether every pass succeeded and the lock never had two holders at a time.
func (s *Trial) isValid() bool { return s.Error == "" && len(s.Passes) > 0 && s.lostUpdates() == 0 }

func (s *Trial) lostUpdates() int {
	n := 0
	for _, p := range s.Passes {
		n += p.Lost
	}
	return n
}

func (s *Trial) seriesOf(figure string) stats.Series {
	all := stats.Series{}
	for _, p := range s.Passes {
		all[p.Round] = p.Figures[figure]
	}
	return all
}

func (s *Trial) spreadOf(figure string) stats.Spread { return s.seriesOf(figure).Spread() }

// A Report contains the results of Run.
type Report struct {
	HoldMS float64
	Rounds int
	Trials []*Trial
}

// minTurns is the minimum number of times that each contender of a fair lock gets the lock in one pass. With a
// smaller number, the ratio between the contenders with the fewest and the most acquisitions would be chance.
const minTurns = 10

// Run measures all locks, first with one contender and then with several. If a lock fails, Run goes on with the
// others. If ctx ends, Run stops. If there is an error, the report has the results so far.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{HoldMS: 1000 * o.Hold.Seconds(), Rounds: o.Rounds}
	for i, n := range append([]int{1}, o.Contenders...) {
		round := time.Duration(n) * o.Hold
		for _, info := range o.Locks {
			if i > 0 && i == len(o.Contenders) && o.Crowd != nil && !slices.Contains(o.Crowd, info.Name) {
				continue
			}
			s := o.newTrial(info, catalog.DefaultSettings(), n)
			if n > 1 {
				s.hold = func() time.Duration { return o.Hold }
				s.warmUp, s.measured = max(s.warmUp, round*3/2), max(o.For, minTurns*round)
			}
			r.Trials = append(r.Trials, s)
			if n > 1 && slices.Contains(o.Gated, info.Name) {
				gated := *s
				gated.Lock, gated.gated = s.Lock+"-gated", true
				r.Trials = append(r.Trials, &gated)
			}
		}
	}
	return r, o.measureTrials(ctx, r.Trials)
}

func (o Options) measureTrials(ctx context.Context, trials []*Trial) error {
	var failed error
	turns := stats.Turns(o.Rounds, len(trials))
	for done, turn := range turns {
		s := trials[turn.Subject]
		o.Progress(done, len(turns), s.String())
		if s.Error != "" {
			continue
		}
		pass, err := s.measurePass(ctx, o.Backends)
		// A failed pass is kept if it shows that the lock had two holders at a time.
		if err == nil || pass.Lost > 0 {
			pass.Round = turn.Round
			s.Passes = append(s.Passes, pass)
		}
		switch {
		case ctx.Err() != nil:
			return errors.Join(failed, context.Cause(ctx))
		case err != nil:
			s.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s, err))
		}
	}
	return failed
}

func (s *Trial) String() string { return s.Lock + ", " + tables.Count(s.Contenders, "contender") }

// Overlaps returns the names of the locks that had two holders at a time.
func (r *Report) Overlaps() []string {
	var names []string
	for _, s := range r.Trials {
		if s.lostUpdates() > 0 && !slices.Contains(names, s.Lock) {
			names = append(names, s.Lock)
		}
	}
	return names
}

func (r *Report) reportTables() []tables.Table {
	var all []tables.Table
	byContenders := map[int][]*Trial{}
	for _, s := range r.Trials {
		byContenders[s.Contenders] = append(byContenders[s.Contenders], s)
	}
	for _, n := range slices.Sorted(maps.Keys(byContenders)) {
		title := "Uncontended: acquire and release, one after the other"
		columns := []column{rate, {"p50 ms", waitP50, false}, waitOfSlowest, {"commands", commands, false}}
		if n > 1 {
			title = fmt.Sprintf("%d contenders, each holding %v ms", n, r.HoldMS)
			columns = slices.Insert(columns, 3, column{"fewest/most", fewestOverMost, false})
		}
		all = append(all, trialTable(title, "lock", columns, byContenders[n]...))
	}
	if len(all) > 0 {
		all[len(all)-1].Notes = []string{fmt.Sprintf(
			"Figures are medians of %s in alternating order (lowest–highest).", tables.Count(r.Rounds, "round"))}
	}
	return all
}

type column struct {
	head   string
	figure string
	spread bool // true if the column also shows the lowest and the highest value of all rounds
}

var (
	rate          = column{"locks/s", locksPerSecond, true}
	waitOfSlowest = column{"p99 ms", waitP99, false}
)

// trialTable returns a table with one row for each trial. A row begins with the pause or lease under test. If the
// trial tests neither, the row begins with the name of the lock.
func trialTable(title, first string, columns []column, trials ...*Trial) tables.Table {
	t := tables.Table{Title: title, Words: 1, Head: []string{first}}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, s := range trials {
		row, void := []string{s.Lock}, ""
		switch {
		// In a trial of a pause or lease, lost updates are a figure of the table, so the row is shown.
		case s.ms > 0:
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
				cell = s.spreadOf(c.figure).String()
			default:
				cell = tables.Number(s.spreadOf(c.figure).Median())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// LocksName identifies the block of a Markdown file, and the member of a JSON file, with the figures of a Report.
// The pages of the lessons read the JSON file.
const LocksName = "locks"

// Report returns the results as tables for people and as JSON for programs.
func (r *Report) Report(run tables.Run) tables.Report {
	locks := map[string]map[int]any{} // the figures of each lock for each number of contenders
	for _, s := range r.Trials {
		if !s.isValid() {
			continue
		}
		if locks[s.Lock] == nil {
			locks[s.Lock] = map[int]any{}
		}
		locks[s.Lock][s.Contenders] = s.jsonFigures()
	}
	return tables.Report{Tables: r.reportTables(), Name: LocksName, From: run.String(),
		Facts: [][2]string{{"run", run.String()}},
		JSON: struct {
			tables.Run
			HoldMS float64                `json:"hold_ms"`
			Locks  map[string]map[int]any `json:"locks"`
		}{run, r.HoldMS, locks}}
}

func (s *Trial) jsonFigures() map[string]any {
	figures := map[string]any{}
	for _, name := range []string{locksPerSecond, waitP99, commands, lostPercent} {
		figures[name] = s.spreadOf(name)
	}
	return figures
}
