package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/measure"
)

// Articles are the experiments that the articles describe, or leave to the reader.
type Articles struct {
	measure.Run
	// Central and Segmented are article B's experiment: lock operations through
	// one central row and through a hundred. There are five times as many names as
	// workers, so that workers wait for the table and hardly ever for a lock. Ratio
	// is how many times longer one row takes; B measured 8 s and 5 s.
	Central   *Scene         `json:"central"`
	Segmented *Scene         `json:"segmented"`
	Ratio     measure.Spread `json:"central_over_segmented"`
	// Polls and Leases are the two numbers that article E leaves to choose, with
	// one lock that polls: the pause between two attempts, and the lease.
	Polls  []Setting `json:"poll_sweep"`
	Leases []Setting `json:"lease_sweep"`
	Lock   string    `json:"lock"` // that was swept
	TaskMS float64   `json:"task_ms"`
}

// A Setting is one value of the pause or the lease, and what came of it.
type Setting struct {
	MS float64 `json:"ms"`
	*Scene
}

// Multiples of the task. Article E: the pause in proportion to the task; the
// lease several times the task.
var (
	pollFactors  = []float64{0.2, 0.5, 1, 2, 4, 10}
	leaseFactors = []float64{0.5, 1, 2, 3, 5, 10}
)

const (
	sweepers = 8
	workers  = 50 // at a lock table
)

// RunArticles measures: two lock tables, and a lock that polls. It returns ctx's error if
// that ends first, and what could not be measured; there is all that was measured until then.
func RunArticles(ctx context.Context, o Options, central, segmented, polling catalog.Info) (*Articles, error) {
	usual := catalog.DefaultSettings()
	a := &Articles{Lock: polling.Name, TaskMS: measure.Milliseconds(o.Hold),
		Central: o.onManyNames(central, usual), Segmented: o.onManyNames(segmented, usual)}
	scenes := []*Scene{a.Central, a.Segmented}
	sweep := func(ms time.Duration, s catalog.Settings, hold func() time.Duration) Setting {
		scene := o.scene(polling, s, sweepers)
		scene.load.hold = hold
		scenes = append(scenes, scene)
		return Setting{measure.Milliseconds(ms), scene}
	}
	for _, x := range pollFactors {
		s := usual
		s.LockPoll = times(o.Hold, x)
		a.Polls = append(a.Polls, sweep(s.LockPoll, s, func() time.Duration { return o.Hold }))
	}
	for _, x := range leaseFactors {
		s := usual
		s.LockPoll = max(time.Millisecond, o.Hold/5)
		s.LockLease = max(time.Millisecond, times(o.Hold, x))
		// Tasks take exponentially distributed time, because a few that take
		// several times the mean are what a lease must cover.
		a.Leases = append(a.Leases, sweep(s.LockLease, s, func() time.Duration { return times(o.Hold, rand.ExpFloat64()) }))
	}
	err := o.measure(ctx, scenes)
	for _, s := range scenes {
		if s.Error != "" {
			err = errors.Join(err, fmt.Errorf("%s, %s: %s", s.Lock, crowd(s.Contenders), s.Error))
		}
	}
	if !a.Central.valid() || !a.Segmented.valid() {
		return a, errors.Join(err, errors.New("a lock table failed or let two holders in at a time: there is no ratio of the two"))
	}
	a.Ratio = a.Segmented.series(rate).Over(a.Central.series(rate)).Spread()
	return a, err
}

// onManyNames has few workers wait for a lock, and all of them for what its
// table does beside.
func (o Options) onManyNames(info catalog.Info, s catalog.Settings) *Scene {
	scene := o.scene(info, s, workers)
	scene.load.keys = make([]string, 5*workers)
	for i := range scene.load.keys {
		scene.load.keys[i] = fmt.Sprint(info.Key(sku), ":", i)
	}
	return scene
}

func times(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

var (
	lost = percent(func(p Pass) int { return p.Lost })
	gone = percent(func(p Pass) int { return p.Gone })
)

// ArticlesName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const ArticlesName = "articles"

// Report is everything, in all its forms.
func (a *Articles) Report(run measure.Run) measure.Report {
	a.Run = run
	central := measure.Table{Title: fmt.Sprintf("A lock table of one row, and of a hundred: %d workers", a.Central.Contenders), Words: 1,
		Head: []string{"lock", "locks/s", "p99 wait ms"}}
	if a.Ratio.Median > 0 {
		central.Title += fmt.Sprintf("; one row takes %v times as long (article B measured 8 s and 5 s)", a.Ratio)
	}
	for _, s := range []*Scene{a.Central, a.Segmented} {
		central.Rows = append(central.Rows, append([]string{s.Lock}, s.row([]column{{of: rate, spread: true}, {of: waitP99, spread: true}})...))
	}
	swept := fmt.Sprintf("%s, %d contenders, a task of %v ms", a.Lock, sweepers, a.TaskMS)
	tables := []measure.Table{central,
		sweepTable("Pauses between attempts: "+swept,
			[]string{"poll ms", "locks/s", "p99 wait ms", "fewest/most", "commands"}, a.Polls, rate, waitP99, fairness, commands),
		sweepTable("Leases without renewal, tasks of exponentially distributed length: "+swept,
			[]string{"lease ms", "locks/s", "gone at release %", "updates lost %"}, a.Leases, rate, gone, lost)}
	return measure.Report{Tables: tables, JSON: a, Name: ArticlesName, From: run.String(), Facts: [][2]string{{"run", run.String()}},
		Figures: struct {
			measure.Run
			Lock    string           `json:"lock"`
			TaskMS  float64          `json:"task_ms"`
			Central measure.Spread   `json:"central_over_segmented"`
			Polls   []map[string]any `json:"polls"`
			Leases  []map[string]any `json:"leases"`
		}{run, a.Lock, a.TaskMS, a.Ratio, sweepFigures(a.Polls), sweepFigures(a.Leases)}}
}

// sweepFigures are what the lessons read of the values that were measured.
func sweepFigures(all []Setting) (figures []map[string]any) {
	for _, s := range all {
		if len(s.Passes) > 0 {
			of := s.figures()
			of["ms"] = s.MS
			figures = append(figures, of)
		}
	}
	return figures
}

func sweepTable(title string, head []string, all []Setting, figures ...figure) measure.Table {
	t := measure.Table{Title: title, Head: head}
	for _, s := range all {
		row := []string{measure.Number(s.MS)}
		for _, f := range figures {
			cell := measure.None
			if len(s.Passes) > 0 {
				cell = s.spread(f).String()
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
