package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Claims are the articles' words about locks beside what a run says.
type Claims struct {
	Report *Report   `json:"report"` // the locks that the words are about
	Tables Spread    `json:"central_over_segmented"`
	Runs   []string  `json:"experiment_runs"` // B's experiment, in words
	Polls  []Setting `json:"poll_sweep"`
	Leases []Setting `json:"lease_sweep"`
	Swept  string    `json:"swept"` // the lock, and its task
	All    []Claim   `json:"claims"`

	Proof Proof `json:"-"` // nil: the matrix was not computed
}

// A Claim is a sentence and a figure.
type Claim struct {
	Article string `json:"article"`
	Says    string `json:"says"`
	Run     string `json:"this_run_says"`
	Command string `json:"command"` // that measures it
}

// Judge puts the words and the figures side by side. Figures are not judged:
// a word such as "faster" is true of a machine and a day.
func (c *Claims) Judge(hold time.Duration) {
	figure := func(lock string, n int, m measure) string {
		s, ok := c.Report.scene(lock, n)
		if !ok {
			return lock + " not measured"
		}
		return lock + " " + number(s.spread(m).Median)
	}
	commands := func(lock string, n int) string {
		s, ok := c.Report.scene(lock, n)
		if !ok || s.Commands == 0 {
			return lock + " not measured"
		}
		return fmt.Sprintf("%s %s", lock, number(s.Commands))
	}
	const locks = "seckill bench locks"
	const claims = "seckill bench claims"
	c.All = []Claim{
		{"B", "one central row 8 s, a hundred segments 5 s: 1.60 times", fmt.Sprintf("%v times", c.Tables), claims},
		{"D", "speed: cache > ZooKeeper ≥ database", "uncontended locks/s: " + figure("redis-lua", 1, rate) + ", " +
			figure("zk", 1, rate) + ", " + figure("lock-insert", 1, rate) + ", " + figure("lock-row", 1, rate), locks},
		{"D", "the same, under contention", fmt.Sprintf("8 holding %v, locks/s: ", hold) + figure("redis-lua", 8, rate) + ", " +
			figure("zk", 8, rate) + ", " + figure("lock-insert", 8, rate) + ", " + figure("lock-row", 8, rate), locks},
		{"A", "polling costs Redis", "commands an acquisition, 8 contenders: it polls: " + commands("redis-lua", 8) +
			"; it is told: " + commands("redis-watchdog", 8), locks},
		{"A", "frequent locking costs ZooKeeper", "uncontended locks/s: " + figure("zk", 1, rate) + ", with commands each: " +
			commands("zk", 1) + ", contended " + commands("zk", 8), locks},
		{"A", "a pessimistic lock suits low concurrency", "p99 wait ms, 8 and 64 contenders: " +
			figure("lock-row", 8, waitP99) + ", " + figure("lock-row", 64, waitP99), locks},
		{"E", "a pause between attempts in proportion to the task", pauseSays(c.Polls, hold), claims},
		{"E", "a lease several times the task", leaseSays(c.Leases, hold), claims},
	}
	c.All = append(c.All, c.proven()...)
	slices.SortStableFunc(c.All, func(a, b Claim) int { return cmp.Compare(a.Article, b.Article) })
}

func pauseSays(all []Setting, hold time.Duration) string {
	if len(all) == 0 {
		return "not measured"
	}
	short, long := all[0], all[len(all)-1]
	return fmt.Sprintf("%s of the task: %s locks/s, %s commands each; %s times: %s locks/s, %s commands each",
		number(short.Poll/milliseconds(hold)), number(short.Rate.Median), number(short.Commands),
		number(long.Poll/milliseconds(hold)), number(long.Rate.Median), number(long.Commands))
}

func leaseSays(all []Setting, hold time.Duration) (text string) {
	for _, s := range all {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s times: %s %% of updates lost", number(s.Lease/milliseconds(hold)), number(s.Lost.Median))
	}
	return text
}

// WriteJSON writes everything for programs.
func (c *Claims) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// AsTables is everything for people.
func (c *Claims) AsTables() []Table {
	words := Table{Title: "The articles' words, and what this run says", Head: []string{"article", "says", "this run", command},
		Prose: true}
	for _, x := range c.All {
		words.Rows = append(words.Rows, []string{x.Article, x.Says, x.Run, x.Command})
	}
	words.Notes = c.Runs
	polls := Table{Title: "Pauses between attempts: " + c.Swept,
		Head: []string{"poll ms", "locks/s", "p99 wait ms", "fewest/most", "commands"}}
	for _, s := range c.Polls {
		polls.Rows = append(polls.Rows, []string{number(s.Poll), s.Rate.String(), s.WaitP99.String(), s.Fairness.String(),
			number(s.Commands)})
	}
	leases := Table{Title: "Leases without renewal, tasks of exponentially distributed length: " + c.Swept,
		Head: []string{"lease ms", "locks/s", "gone at release %", "updates lost %"}}
	for _, s := range c.Leases {
		leases.Rows = append(leases.Rows, []string{number(s.Lease), s.Rate.String(), s.Gone.String(), s.Lost.String()})
	}
	return append([]Table{words, polls, leases}, c.Report.Tables()...)
}
