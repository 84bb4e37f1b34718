package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/stats"
	"seckill/internal/tables"
)

// Articles are the experiments that the articles describe, or leave to the reader.
type Articles struct {
	// Central and Segmented are article B's experiment: lock operations through
	// one central row and through a hundred. There are five times as many names as
	// workers, so that workers wait for the table and hardly ever for a lock. Ratio
	// is how many times longer one row takes; B measured 8 s and 5 s.
	Central, Segmented *Scene
	Ratio              stats.Spread
	// Polls and Leases are the two numbers that article E leaves to choose, with
	// one lock that polls: the pause between two attempts, and the lease.
	Polls, Leases []*Scene
	Lock          string // that was swept
	TaskMS        float64
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
	a := &Articles{Lock: polling.Name, TaskMS: 1000 * o.Hold.Seconds(),
		Central: o.onManyNames(central, usual), Segmented: o.onManyNames(segmented, usual)}
	scenes := []*Scene{a.Central, a.Segmented}
	sweep := func(to time.Duration, s catalog.Settings, hold func() time.Duration) *Scene {
		scene := o.newScene(polling, s, sweepers)
		scene.ms, scene.load.hold = 1000*to.Seconds(), hold
		scenes = append(scenes, scene)
		return scene
	}
	for _, x := range pollFactors {
		s := usual
		s.LockPoll = multiply(o.Hold, x)
		a.Polls = append(a.Polls, sweep(s.LockPoll, s, func() time.Duration { return o.Hold }))
	}
	for _, x := range leaseFactors {
		s := usual
		s.LockPoll = max(time.Millisecond, o.Hold/5)
		s.LockLease = max(time.Millisecond, multiply(o.Hold, x))
		// Tasks take exponentially distributed time, because a few that take
		// several times the mean are what a lease must cover.
		a.Leases = append(a.Leases, sweep(s.LockLease, s, func() time.Duration { return multiply(o.Hold, rand.ExpFloat64()) }))
	}
	err := o.measureScenes(ctx, scenes)
	if !a.Central.isValid() || !a.Segmented.isValid() {
		return a, errors.Join(err, errors.New("a lock table failed or let two holders in at a time: there is no ratio of the two"))
	}
	a.Ratio = a.Segmented.seriesOf(locksPerSecondOf).Over(a.Central.seriesOf(locksPerSecondOf)).Spread()
	return a, err
}

// onManyNames has few workers wait for a lock, and all of them for what its
// table does beside.
func (o Options) onManyNames(info catalog.Info, s catalog.Settings) *Scene {
	scene := o.newScene(info, s, workers)
	scene.load.keys = make([]string, 5*workers)
	for i := range scene.load.keys {
		scene.load.keys[i] = fmt.Sprint(info.Key(sku), ":", i)
	}
	return scene
}

func multiply(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

var (
	lost = percentOfTaken(func(p Pass) int { return p.Lost })
	gone = percentOfTaken(func(p Pass) int { return p.Gone })
)

// ArticlesName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const ArticlesName = "articles"

// Report is everything, in all its forms.
func (a *Articles) Report(run tables.Run) tables.Report {
	ratio := ""
	if a.Ratio.Median() > 0 {
		ratio = fmt.Sprintf("; one row takes %v times as long (article B measured 8 s and 5 s)", a.Ratio)
	}
	swept := fmt.Sprintf("%s, %d contenders, a task of %v ms", a.Lock, sweepers, a.TaskMS)
	parts := []tables.Table{
		sceneTable(fmt.Sprintf("A lock table of one row, and of a hundred: %d workers%s", a.Central.Contenders, ratio), "lock",
			[]column{locksPerSecond, longWait}, a.Central, a.Segmented),
		sceneTable("Pauses between attempts: "+swept, "poll ms",
			[]column{locksPerSecond, longWait, {"fewest/most", fewestOverMost, true}, {"commands", commandsPerLock, true}}, a.Polls...),
		sceneTable("Leases without renewal, tasks of exponentially distributed length: "+swept, "lease ms",
			[]column{locksPerSecond, {"gone at release %", gone, true}, {"updates lost %", lost, true}}, a.Leases...)}
	return tables.Report{Tables: parts, Name: ArticlesName, From: run.String(), Facts: [][2]string{{"run", run.String()}},
		JSON: struct {
			tables.Run
			Lock    string           `json:"lock"`
			TaskMS  float64          `json:"task_ms"`
			Central stats.Spread     `json:"central_over_segmented"`
			Polls   []map[string]any `json:"polls"`
			Leases  []map[string]any `json:"leases"`
		}{run, a.Lock, a.TaskMS, a.Ratio, sweepFigures(a.Polls), sweepFigures(a.Leases)}}
}

// sweepFigures are those of the values that were measured.
func sweepFigures(all []*Scene) (figures []map[string]any) {
	for _, s := range all {
		if len(s.Passes) > 0 {
			of := s.jsonFigures()
			of["ms"] = s.ms
			figures = append(figures, of)
		}
	}
	return figures
}
