package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/measure"
)

// Claims are the articles' statements about locks beside what a run says.
type Claims struct {
	Report *Report `json:"report"` // of the locks that the statements are about
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
	Swept  string    `json:"swept"` // the lock, and its task
	All    []Claim   `json:"claims"`

	Matrix *measure.Matrix `json:"-"` // nil: not computed
}

// A Setting is one value of the pause or the lease, and what came of it.
type Setting struct {
	MS float64 `json:"ms"`
	*Scene
}

// An Experiment says what is measured for the claims, beside the report's locks.
type Experiment struct {
	Central, Segmented catalog.Info     // lock tables
	Polling            catalog.Info     // a lock that polls
	Settings           catalog.Settings // of a purchase
	Workers            int              // at a lock table
}

// Multiples of the task. Article E: the pause in proportion to the task; the
// lease several times the task.
var (
	pollFactors  = []float64{0.2, 0.5, 1, 2, 4, 10}
	leaseFactors = []float64{0.5, 1, 2, 3, 5, 10}
)

const sweepers = 8

// Measure fills in all but the matrix. It returns ctx's error if that ends
// first, and what could not be measured of the experiments; there is all that
// was measured until then.
func (c *Claims) Measure(ctx context.Context, o Options, e Experiment) error {
	c.Report = o.report()
	workers := shape{contenders: e.Workers, instances: 1, warm: o.For / 10, measured: o.For}
	c.Central = onManyNames(e.Central, e.Settings, int64(5*e.Workers)).under(workers)
	c.Segmented = onManyNames(e.Segmented, e.Settings, int64(5*e.Workers)).under(workers)
	c.Swept = fmt.Sprintf("%s, %d contenders, a task of %v", e.Polling.Name, sweepers, o.Hold)
	for _, x := range pollFactors {
		s := e.Settings
		s.LockPoll = times(o.Hold, x)
		c.Polls = append(c.Polls, Setting{measure.Milliseconds(s.LockPoll), o.sweep(e.Polling, s, func() time.Duration { return o.Hold })})
	}
	for _, x := range leaseFactors {
		s := e.Settings
		s.LockPoll, s.NoRenewal = max(time.Millisecond, o.Hold/5), true
		s.LockLease = max(time.Millisecond, times(o.Hold, x))
		// Tasks take exponentially distributed time, because a few that take
		// several times the mean are what a lease must cover.
		c.Leases = append(c.Leases, Setting{measure.Milliseconds(s.LockLease),
			o.sweep(e.Polling, s, func() time.Duration { return times(o.Hold, rand.ExpFloat64()) })})
	}
	scenes := append(slices.Clone(c.Report.Scenes), c.Central, c.Segmented)
	for _, s := range slices.Concat(c.Polls, c.Leases) {
		scenes = append(scenes, s.Scene)
	}
	err := o.measure(ctx, scenes)
	for _, s := range scenes[len(c.Report.Scenes):] {
		if s.Error != "" {
			err = errors.Join(err, fmt.Errorf("%s, %s: %s", s.Lock, crowd(s.Contenders), s.Error))
		}
	}
	c.Ratio = c.Segmented.series(rate).Over(c.Central.series(rate)).Spread()
	c.judge(o.Hold)
	return err
}

// judge puts statements and figures side by side. hold is how long each holder
// of the report's locks worked.
func (c *Claims) judge(hold time.Duration) {
	c.All = slices.Concat(c.measured(hold), c.proven())
	slices.SortStableFunc(c.All, func(a, b Claim) int { return cmp.Compare(a.Article, b.Article) })
}

func (o Options) sweep(info catalog.Info, s catalog.Settings, hold func() time.Duration) *Scene {
	return Ours(info, s).under(shape{contenders: sweepers, instances: 1, hold: hold, warm: o.For / 10, measured: o.For})
}

func times(d time.Duration, x float64) time.Duration { return time.Duration(float64(d) * x) }

// A Claim is a statement and what was measured.
type Claim struct {
	measure.Statement
	Run     string `json:"this_run_says"`
	Command string `json:"command"` // that measures it
}

func (c *Claims) measured(hold time.Duration) []Claim {
	figures := func(s measure.Statement, n int, f figure) string {
		return list(s.Strategies, func(lock string) string { return c.of(lock, n, f) })
	}
	const locks, claims = "seckill bench locks", "seckill bench articles"
	return []Claim{
		{measure.CentralRow, fmt.Sprintf("%v times", c.Ratio), claims},
		{measure.Speed, "uncontended locks/s: " + figures(measure.Speed, 1, rate), locks},
		{measure.SpeedContended, fmt.Sprintf("8 holding %v, locks/s: ", hold) + figures(measure.SpeedContended, 8, rate), locks},
		{measure.PollingCosts, "commands an acquisition, 8 contenders: it polls: " + c.of("redis-lua", 8, commands) +
			"; it is notified: " + c.of("redis-watchdog", 8, commands), locks},
		{measure.ZooKeeperCosts, "uncontended locks/s: " + figures(measure.ZooKeeperCosts, 1, rate) + ", with commands each: " +
			c.of("zk", 1, commands) + ", contended " + c.of("zk", 8, commands), locks},
		{measure.LockPessimistic, "p99 wait ms, 8 and 64 contenders: " + figures(measure.LockPessimistic, 8, waitP99) + ", " +
			figures(measure.LockPessimistic, 64, waitP99), locks},
		{measure.PauseFitsTask, pauseSays(c.Polls, hold), claims},
		{measure.LeaseFitsTask, leaseSays(c.Leases, hold), claims},
	}
}

// of is a figure of one lock in words.
func (c *Claims) of(lock string, contenders int, f figure) string {
	if s, ok := c.Report.scene(lock, contenders); ok {
		return lock + " " + measure.Number(s.spread(f).Median)
	}
	return lock + " not measured"
}

func list(strategies []string, about func(string) string) string {
	var all []string
	for _, s := range strategies {
		all = append(all, about(s))
	}
	return strings.Join(all, ", ")
}

func pauseSays(all []Setting, hold time.Duration) string {
	if len(all) == 0 {
		return "not measured"
	}
	says := func(s Setting, unit string) string {
		return fmt.Sprintf("%s %s: %s locks/s, %s commands each", measure.Number(s.MS/measure.Milliseconds(hold)), unit,
			measure.Number(s.spread(rate).Median), measure.Number(s.spread(commands).Median))
	}
	return says(all[0], "of the task") + "; " + says(all[len(all)-1], "times")
}

func leaseSays(all []Setting, hold time.Duration) string {
	var says []string
	for _, s := range all {
		says = append(says, fmt.Sprintf("%s times: %s %% of updates lost",
			measure.Number(s.MS/measure.Milliseconds(hold)), measure.Number(s.spread(lost).Median)))
	}
	return strings.Join(says, "; ")
}

var (
	lost = percent(func(p Pass) int { return p.Lost })
	gone = percent(func(p Pass) int { return p.Gone })
)

// questions of the matrix that may break one of B's four choices.
var questions = []struct{ id, title string }{
	{"oversell", "two buyers"}, {"lost-update", "lost update"}, {"processes", "two processes"}, {"dead-holder", "a dead holder"},
	{"lease-end", "the end of a lease"}, {"clocks", "clocks"}, {"lost-reply", "a lost reply"}, {"node-loss", "the loss of a node"},
}

// proven are the statements that the guarantee matrix answers, or seckill
// compare. With Speed they are the six rows of D's table.
func (c *Claims) proven() []Claim {
	about := func(s measure.Statement, question string) string {
		return list(s.Strategies, func(name string) string { return name + " " + c.Matrix.Cell(name, question).String() })
	}
	prove := func(s measure.Statement, questions string) string {
		return "seckill prove --strategies " + s.Names() + " --questions " + questions
	}
	var breaks []string
	for _, name := range measure.Consistency.Strategies {
		breaks = append(breaks, name+" by "+c.breaks(name))
	}
	return []Claim{
		{measure.Reliability, "a dead holder: " + about(measure.Reliability, "dead-holder") +
			"; the end of a lease under its holder: " + about(measure.Reliability, "lease-end") +
			"; the loss of a node: " + about(measure.Reliability, "node-loss"),
			prove(measure.Reliability, "dead-holder,lease-end,node-loss")},
		{measure.Expiry, "after a holder's death the next gets through: " + about(measure.Expiry, "dead-holder"),
			prove(measure.Expiry, "dead-holder")},
		{measure.Queues, "how they wait: " + about(measure.Queues, "waits") + "; whose turn it is: " + about(measure.Queues, "order"),
			prove(measure.Queues, "waits,order")},
		{measure.LongWork, "the lock ends under its holder, and nothing is lost: " + about(measure.LongWork, "lease-end"),
			prove(measure.LongWork, "lease-end")},
		{measure.Failures, "the process dies at any command: " + about(measure.Failures, "dead-holder") +
			"; a reply is lost: " + about(measure.Failures, "lost-reply"), prove(measure.Failures, "dead-holder,lost-reply")},
		{measure.Consistency, "broken: " + strings.Join(breaks, "; "), "seckill prove --strategies " + measure.Consistency.Names()},
		{measure.Concurrency, "purchases, not locks: measured by the service",
			"seckill compare --strategies " + measure.Concurrency.Names() + " --few 2 --concurrency 64"},
	}
}

// breaks names the questions that break a strategy.
func (c *Claims) breaks(strategy string) string {
	var all []string
	for _, q := range questions {
		if c.Matrix.Cell(strategy, q.id).Breaks() {
			all = append(all, q.title)
		}
	}
	if all == nil {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// ArticlesName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const ArticlesName = "articles"

// AsReport is everything, in all its forms.
func (c *Claims) AsReport() measure.Report {
	tables := c.AsTables()
	return measure.Report{Tables: tables, JSON: c, Name: ArticlesName, From: c.Report.run().String(), Block: tables[:1], Figures: c.Figures()}
}

// AsTables is everything for people.
func (c *Claims) AsTables() []measure.Table {
	words := measure.Table{Title: "The articles' words, and what this run says",
		Head: []string{"article", "says", "this run", "command"}, Words: 4, Prose: true}
	for _, x := range c.All {
		words.Rows = append(words.Rows, []string{x.Article, x.Says, x.Run, x.Command})
	}
	polls := sweepTable("Pauses between attempts: "+c.Swept,
		[]string{"poll ms", "locks/s", "p99 wait ms", "fewest/most", "commands"}, c.Polls, rate, waitP99, fairness, commands)
	leases := sweepTable("Leases without renewal, tasks of exponentially distributed length: "+c.Swept,
		[]string{"lease ms", "locks/s", "gone at release %", "updates lost %"}, c.Leases, rate, gone, lost)
	return append([]measure.Table{words, polls, leases}, c.Report.Tables()...)
}

func sweepTable(title string, head []string, all []Setting, figures ...figure) measure.Table {
	t := measure.Table{Title: title, Head: head}
	for _, s := range all {
		row := []string{measure.Number(s.MS)}
		for _, f := range figures {
			row = append(row, s.spread(f).String())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ClaimFigures are what the lessons read of the articles' claims: the sweeps.
type ClaimFigures struct {
	measure.Run
	Lock    string         `json:"lock"` // that was swept
	TaskMS  float64        `json:"task_ms"`
	Central [3]float64     `json:"central_over_segmented"`
	Polls   []SweepFigures `json:"polls"`
	Leases  []SweepFigures `json:"leases"`
}

// SweepFigures are those of one value of the pause or the lease.
type SweepFigures struct {
	MS   float64    `json:"ms"`
	Rate [3]float64 `json:"locks_per_second"`
	P99  [3]float64 `json:"p99_ms"`
	Sent float64    `json:"commands"`
	Lost [3]float64 `json:"lost_percent"`
}

// Figures extracts them.
func (c *Claims) Figures() ClaimFigures {
	f := ClaimFigures{Run: c.Report.run(), TaskMS: c.Report.HoldMS, Central: c.Ratio.Short(), Polls: sweepFigures(c.Polls),
		Leases: sweepFigures(c.Leases)}
	f.Lock, _, _ = strings.Cut(c.Swept, ",")
	return f
}

func sweepFigures(all []Setting) (figures []SweepFigures) {
	for _, s := range all {
		figures = append(figures, SweepFigures{measure.Digits(s.MS), s.spread(rate).Short(), s.spread(waitP99).Short(),
			measure.Digits(s.spread(commands).Median), s.spread(lost).Short()})
	}
	return figures
}
