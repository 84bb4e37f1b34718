package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"seckill/internal/measure"
)

// Claims are the articles' statements about locks beside what a run says.
type Claims struct {
	Report *Report        `json:"report"` // of the locks that the statements are about
	Tables measure.Spread `json:"central_over_segmented"`
	Runs   []string       `json:"experiment_runs"` // the lock table experiment, in words
	Polls  []SweepPoint   `json:"poll_sweep"`
	Leases []SweepPoint   `json:"lease_sweep"`
	Swept  string         `json:"swept"` // the lock, and its task
	All    []Claim        `json:"claims"`

	Matrix *measure.Matrix `json:"-"` // nil: not computed
}

// A Claim is a statement and what was measured.
type Claim struct {
	measure.Statement
	Run     string `json:"this_run_says"`
	Command string `json:"command"` // that measures it
}

// Judge puts statements and figures side by side. hold is how long each holder
// of the report's locks worked.
func (c *Claims) Judge(hold time.Duration) {
	c.All = slices.Concat(c.measured(hold), c.proven())
	slices.SortStableFunc(c.All, func(a, b Claim) int { return cmp.Compare(a.Article, b.Article) })
}

func (c *Claims) measured(hold time.Duration) []Claim {
	figures := func(s measure.Statement, n int, f figure) string {
		return list(s.Strategies, func(lock string) string {
			return c.of(lock, n, func(s Scene) (float64, bool) { return s.spread(f).Median, true })
		})
	}
	commands := func(lock string, n int) string {
		return c.of(lock, n, func(s Scene) (float64, bool) { return s.Commands, s.Commands > 0 })
	}
	const locks, claims = "seckill bench locks", "seckill bench claims"
	return []Claim{
		{measure.CentralRow, fmt.Sprintf("%v times", c.Tables), claims},
		{measure.Speed, "uncontended locks/s: " + figures(measure.Speed, 1, rate), locks},
		{measure.SpeedContended, fmt.Sprintf("8 holding %v, locks/s: ", hold) + figures(measure.SpeedContended, 8, rate), locks},
		{measure.PollingCosts, "commands an acquisition, 8 contenders: it polls: " + commands("redis-lua", 8) +
			"; it is notified: " + commands("redis-watchdog", 8), locks},
		{measure.ZooKeeperCosts, "uncontended locks/s: " + figures(measure.ZooKeeperCosts, 1, rate) + ", with commands each: " +
			commands("zk", 1) + ", contended " + commands("zk", 8), locks},
		{measure.LockPessimistic, "p99 wait ms, 8 and 64 contenders: " + figures(measure.LockPessimistic, 8, waitP99) + ", " +
			figures(measure.LockPessimistic, 64, waitP99), locks},
		{measure.PauseFitsTask, pauseSays(c.Polls, hold), claims},
		{measure.LeaseFitsTask, leaseSays(c.Leases, hold), claims},
	}
}

// of is a figure of one lock in words.
func (c *Claims) of(lock string, contenders int, of func(Scene) (float64, bool)) string {
	if s, ok := c.Report.scene(lock, contenders); ok {
		if x, ok := of(s); ok {
			return lock + " " + measure.Number(x)
		}
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

func pauseSays(all []SweepPoint, hold time.Duration) string {
	if len(all) == 0 {
		return "not measured"
	}
	says := func(p SweepPoint, unit string) string {
		return fmt.Sprintf("%s %s: %s locks/s, %s commands each", measure.Number(p.Poll/measure.Milliseconds(hold)), unit,
			measure.Number(p.Rate.Median), measure.Number(p.Commands))
	}
	return says(all[0], "of the task") + "; " + says(all[len(all)-1], "times")
}

func leaseSays(all []SweepPoint, hold time.Duration) string {
	var says []string
	for _, p := range all {
		says = append(says, fmt.Sprintf("%s times: %s %% of updates lost",
			measure.Number(p.Lease/measure.Milliseconds(hold)), measure.Number(p.Lost.Median)))
	}
	return strings.Join(says, "; ")
}

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

// WriteJSON writes everything for programs.
func (c *Claims) WriteJSON(w io.Writer) error { return measure.WriteJSON(w, c) }

// AsTables is everything for people.
func (c *Claims) AsTables() []measure.Table {
	words := measure.Table{Title: "The articles' words, and what this run says",
		Head: []string{"article", "says", "this run", measure.Command}, Words: 4, Prose: true, Notes: c.Runs}
	for _, x := range c.All {
		words.Rows = append(words.Rows, []string{x.Article, x.Says, x.Run, x.Command})
	}
	polls := measure.Table{Title: "Pauses between attempts: " + c.Swept,
		Head: []string{"poll ms", "locks/s", "p99 wait ms", "fewest/most", "commands"}}
	for _, p := range c.Polls {
		polls.Rows = append(polls.Rows, []string{measure.Number(p.Poll), p.Rate.String(), p.WaitP99.String(), p.Fairness.String(),
			measure.Number(p.Commands)})
	}
	leases := measure.Table{Title: "Leases without renewal, tasks of exponentially distributed length: " + c.Swept,
		Head: []string{"lease ms", "locks/s", "gone at release %", "updates lost %"}}
	for _, p := range c.Leases {
		leases.Rows = append(leases.Rows, []string{measure.Number(p.Lease), p.Rate.String(), p.Gone.String(), p.Lost.String()})
	}
	return append([]measure.Table{words, polls, leases}, c.Report.Tables()...)
}
