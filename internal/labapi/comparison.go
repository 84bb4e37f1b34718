package labapi

import (
	"fmt"
	"strings"
	"time"

	"seckill/loadtest/compare"
)

// A Comparison holds the same sale with several strategies, in rounds, as it
// stands now or as it ended.
type Comparison struct {
	ID       string             `json:"id"`
	Settings ComparisonSettings `json:"settings"`
	Command  string             `json:"command"` // that does the same on the command line
	State    State              `json:"state"`
	Stopped  bool               `json:"stopped"` // somebody ended it early: what was measured until then is judged
	Started  time.Time          `json:"started"`

	Done  int    `json:"done"`  // turns of a strategy or a baseline that are over,
	Total int    `json:"total"` // of so many; 0: it is just beginning
	Step  string `json:"step"`  // what has its turn, while it is on
	// Standings are of the strategies that had a turn, the latest last; summaries
	// of what has ended leave them to the result.
	Standings []compare.Standing `json:"standings,omitempty"`

	Seconds  float64        `json:"seconds"` // that it took, or has taken
	Verdicts *compare.Tally `json:"verdicts,omitempty"`
	// NotKept says why the result is not on disk, and will be gone with the lab.
	NotKept string          `json:"not_kept,omitempty"`
	Result  *compare.Result `json:"result,omitempty"` // summaries leave it out
}

// Removed is the state of a comparison that was taken out of the history.
const Removed State = "removed"

// ComparisonSettings are what a comparison is started with.
type ComparisonSettings struct {
	Strategies  []string `json:"strategies"` // names, or "all" alone
	Stock       int64    `json:"stock"`
	Buyers      int      `json:"buyers"`
	Concurrency int      `json:"concurrency"`
	Quantity    int64    `json:"quantity"`
	Repeats     int      `json:"repeats"`
	TurnMS      int      `json:"turn_ms"` // least that is measured in a turn
	Few         int      `json:"few"`     // buyers at a time of the second run of some; 0: none
	Seed        uint64   `json:"seed,string"`
}

// comparisonDefaults are those of `seckill compare`.
var comparisonDefaults = ComparisonSettings{Stock: 400, Buyers: 500, Concurrency: 64, Quantity: 1,
	Repeats: 3, TurnMS: 500, Few: 2}

// ComparisonLimits are the most of each setting.
type ComparisonLimits struct {
	Stock       int64 `json:"stock"`
	Buyers      int   `json:"buyers"`
	Concurrency int   `json:"concurrency"`
	Quantity    int64 `json:"quantity"`
	Repeats     int   `json:"repeats"`
	TurnMS      int   `json:"turn_ms"`
}

var comparisonLimits = ComparisonLimits{Stock: limits.Stock, Buyers: limits.Buyers, Concurrency: limits.Concurrency,
	Quantity: limits.Quantity, Repeats: 100, TurnMS: 600_000}

const everyStrategy = "all"

func (s ComparisonSettings) all() bool {
	return len(s.Strategies) == 1 && s.Strategies[0] == everyStrategy
}

// command is how the same is done without a page.
func (s ComparisonSettings) command() string {
	return fmt.Sprintf("seckill compare --strategies %s --stock %d --buyers %d --concurrency %d --quantity %d "+
		"--repeats %d --turn %s --few %d --seed %d", strings.Join(s.Strategies, ","), s.Stock, s.Buyers, s.Concurrency,
		s.Quantity, s.Repeats, time.Duration(s.TurnMS)*time.Millisecond, s.Few, s.Seed)
}

// what is on, as turn says it.
func (s ComparisonSettings) what() string {
	switch n := len(s.Strategies); {
	case s.all():
		return "a comparison of all strategies"
	case n == 1:
		return "a comparison of " + s.Strategies[0]
	default:
		return fmt.Sprintf("a comparison of %d strategies", n)
	}
}

// summary is c without what is large.
func (c Comparison) summary() Comparison {
	if !c.State.Ended() {
		c.Seconds = time.Since(c.Started).Seconds()
	} else {
		c.Standings = nil
	}
	c.Result = nil
	return c
}

// stood notes how a strategy stands, in place of how it stood before.
func (c *Comparison) stood(s compare.Standing) {
	kept := make([]compare.Standing, 0, len(c.Standings)+1) // the older slice may be on its way to a page
	for _, old := range c.Standings {
		if old.Strategy != s.Strategy || old.Concurrency != s.Concurrency {
			kept = append(kept, old)
		}
	}
	c.Standings = append(kept, s)
}
