package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/stats"
	"seckill/internal/tables"
)

// Articles contains the results of RunArticles.
type Articles struct {
	// Central and Segmented repeat an experiment of the published article B (see README) with two lock tables. One
	// table has one central row, the other has a hundred rows. Ratio says how many times as long an operation takes
	// with the central row. The article measured 8 s and 5 s.
	Central, Segmented *Trial
	Ratio              stats.Spread
	// The published article E describes a lock that polls. The article leaves two numbers open: the pause between
	// two attempts and the lease. The trials in Polls vary the pause, and the trials in Leases vary the lease.
	Polls, Leases []*Trial
	Lock          string // name of the lock that polls
	TaskMS        float64
}

// These are the pauses and leases under test, as multiples of the task's length. The published article E recommends
// a pause in proportion to the task's length, and a lease of several times this length.
var (
	pollFactors  = []float64{0.2, 0.5, 1, 2, 4, 10}
	leaseFactors = []float64{0.5, 1, 2, 3, 5, 10}
)

const (
	sweepContenders = 8
	tableContenders = 50
)

// RunArticles measures three locks. o.Locks must have, in this order, the lock table with one central row, the lock
// table with a hundred rows, and the lock that polls. If there is an error, Articles has the results so far.
func RunArticles(ctx context.Context, o Options) (*Articles, error) {
	central, segmented, polling := o.Locks[0], o.Locks[1], o.Locks[2]
	settings := catalog.DefaultSettings()
	a := &Articles{Lock: polling.Name, TaskMS: 1000 * o.Hold.Seconds(),
		Central: o.newTableTrial(central, settings), Segmented: o.newTableTrial(segmented, settings)}
	trials := []*Trial{a.Central, a.Segmented}
	sweep := func(value time.Duration, s catalog.Settings, hold func() time.Duration) *Trial {
		trial := o.newTrial(polling, s, sweepContenders)
		trial.ms, trial.hold = 1000*value.Seconds(), hold
		trials = append(trials, trial)
		return trial
	}
	for _, x := range pollFactors {
		s := settings
		s.LockPoll = multiply(o.Hold, x)
		a.Polls = append(a.Polls, sweep(s.LockPoll, s, func() time.Duration { return o.Hold }))
	}
	for _, x := range leaseFactors {
		s := settings
		s.LockPoll = max(time.Millisecond, o.Hold/5)
		s.LockLease = max(time.Millisecond, multiply(o.Hold, x))
		// The task lengths are exponentially distributed, so that a few tasks take several times the mean. A lease
		// must be long enough for these tasks, too.
		hold := func() time.Duration { return multiply(o.Hold, rand.ExpFloat64()) }
		a.Leases = append(a.Leases, sweep(s.LockLease, s, hold))
	}
	err := o.measureTrials(ctx, trials)
	if !a.Central.isValid() || !a.Segmented.isValid() {
		return a, errors.Join(err,
			errors.New("a lock table failed or had two holders at a time, so the two tables have no ratio"))
	}
	a.Ratio = a.Segmented.seriesOf(locksPerSecond).Over(a.Central.seriesOf(locksPerSecond)).Spread()
	return a, err
}

// newTableTrial returns a trial with five times as many names to lock as contenders. Two contenders then hardly ever
// wait for the same name. So the trial shows how contenders delay each other when they write to the same table.
func (o Options) newTableTrial(info catalog.Info, s catalog.Settings) *Trial {
	trial := o.newTrial(info, s, tableContenders)
	trial.keys = make([]string, 5*tableContenders)
	for i := range trial.keys {
		trial.keys[i] = fmt.Sprint(info.Key(seckill.BenchSKU), ":", i)
	}
	return trial
}

func multiply(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

// ArticlesName identifies the place of the figures of Articles in Markdown and JSON files (see LocksName).
const ArticlesName = "articles"

// Report returns the results as tables for people and as JSON for programs.
func (a *Articles) Report(run tables.Run) tables.Report {
	ratio := ""
	if a.Ratio.Median() > 0 {
		ratio = fmt.Sprintf("; one row takes %v times as long (article B measured 8 s and 5 s)", a.Ratio)
	}
	swept := fmt.Sprintf("%s, %d contenders, a task of %v ms", a.Lock, sweepContenders, a.TaskMS)
	parts := []tables.Table{
		trialTable(fmt.Sprintf("A lock table of one row, and of a hundred: %d workers%s", a.Central.Contenders, ratio),
			"lock", []column{rate, waitOfSlowest}, a.Central, a.Segmented),
		trialTable("Pauses between attempts: "+swept, "poll ms", []column{rate, waitOfSlowest,
			{"fewest/most", fewestOverMost, true}, {"commands", commands, true}}, a.Polls...),
		trialTable("Leases without renewal, tasks of exponentially distributed length: "+swept, "lease ms",
			[]column{rate, {"gone at release %", expiredPercent, true},
				{"updates lost %", lostPercent, true}}, a.Leases...)}
	return tables.Report{Tables: parts, Name: ArticlesName, From: run.String(),
		Facts: [][2]string{{"run", run.String()}},
		JSON: struct {
			tables.Run
			Lock    string           `json:"lock"`
			TaskMS  float64          `json:"task_ms"`
			Central stats.Spread     `json:"central_over_segmented"`
			Polls   []map[string]any `json:"polls"`
			Leases  []map[string]any `json:"leases"`
		}{run, a.Lock, a.TaskMS, a.Ratio, sweepFigures(a.Polls), sweepFigures(a.Leases)}}
}

func sweepFigures(all []*Trial) []map[string]any {
	var figures []map[string]any
	for _, s := range all {
		if len(s.Passes) > 0 {
			f := s.jsonFigures()
			f["ms"] = s.ms
			figures = append(figures, f)
		}
	}
	return figures
}
