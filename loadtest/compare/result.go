package compare

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// A Result is one finished comparison, or one as far as it came.
type Result struct {
	Command     string    `json:"command"` // without passwords
	Version     string    `json:"version"` // of seckill
	Begun       time.Time `json:"begun"`
	Seconds     float64   `json:"seconds"`
	Interrupted bool      `json:"interrupted"`

	Machine    measure.Machine         `json:"machine"`
	Servers    []backend.Status        `json:"servers"`
	Durability []measure.ServerSetting `json:"durability"` // as read from the servers
	Targets    []string                `json:"targets"`    // the service processes

	Settings   Settings `json:"settings"`
	RelativeTo string   `json:"relative_to"` // what the factors are to; "": none was measured
	// Entries are in the order in which their strategies were named; those with other
	// numbers of buyers at a time follow, and baselines come last.
	Entries  []*Entry `json:"entries"`
	NotRun   []NotRun `json:"not_run"`
	Problems []string `json:"problems"` // what else went wrong, in words
}

// A NotRun is a strategy that could not be run, and why.
type NotRun struct {
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// A Candidate is a strategy that takes part, or a baseline.
type Candidate struct {
	Strategy string `json:"strategy"` // its name
	Title    string `json:"title"`
	Breaks   bool   `json:"breaks"`             // known to break with as many processes as there are targets
	Baseline bool   `json:"baseline,omitempty"` // a bare handler: not judged

	target string // of a baseline
}

// An Entry is one strategy with one number of buyers at a time, over all rounds.
type Entry struct {
	Candidate
	Concurrency int `json:"concurrency"`

	// Verdict is the worst of all rounds; empty: nothing was judged. Expected: it
	// held, or is known to break and did.
	Verdict    ledger.Verdict `json:"verdict"`
	Expected   bool           `json:"expected"`
	Served     loadtest.Sign  `json:"served"` // the worst, too
	Over       int64          `json:"over"`   // units beyond the stock, at worst
	Violations []Violation    `json:"violations"`
	Problems   []string       `json:"problems"`

	Figures map[string]measure.Spread `json:"figures"` // by metric
	// Factor is Settings.By beside that of Result.RelativeTo, with as many buyers at a time.
	Factor  *measure.Ratio        `json:"factor,omitempty"`
	Rounds  []Round               `json:"rounds"`
	Latency []loadtest.Percentile `json:"latency_curve,omitempty"` // of all requests of all rounds

	times *hdrhistogram.Histogram // likewise
}

// A Round is one strategy's turn in one round.
type Round struct {
	Round       int                `json:"round"` // from 1
	Sales       int                `json:"sales"` // how often the sale was run
	Verdict     ledger.Verdict     `json:"verdict"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Figures     map[string]float64 `json:"figures"`
}

// A Violation is one broken rule, as first seen.
type Violation struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Of are the strategies' entries with the comparison's own number of buyers.
func (r *Result) Of() (all []*Entry) {
	for _, e := range r.Entries {
		if e.Concurrency == r.Settings.Concurrency && !e.Baseline {
			all = append(all, e)
		}
	}
	return all
}

func (e *Entry) series(id string) measure.Series {
	s := measure.Series{}
	for _, r := range e.Rounds {
		if figure, ok := r.Figures[id]; ok {
			s[r.Round] = figure
		}
	}
	return s
}

// conclude sums up the rounds so far.
func (e *Entry) conclude() {
	e.Figures = map[string]measure.Spread{}
	for _, m := range metrics {
		if s := e.series(m.id); len(s) > 0 {
			e.Figures[m.id] = s.Spread()
		}
	}
	for _, round := range e.Rounds {
		e.Verdict = loadtest.Worst(e.Verdict, round.Verdict)
	}
	e.Expected = e.Baseline || e.Verdict == ledger.Held && !e.Breaks || e.Broken() && e.Breaks
	if e.times != nil && e.times.TotalCount() > 0 {
		e.Latency = loadtest.Curve(e.times)
	}
}

// Broken reports that it was seen to oversell, or to lose.
func (e *Entry) Broken() bool { return e.Verdict == ledger.Oversold || e.Verdict == ledger.Lost }

// right reports that its speed counts for something.
func (e *Entry) right() bool { return e.Verdict == ledger.Held && !e.Breaks }

// compare sets every entry's factor to RelativeTo, with as many buyers at a time.
func (r *Result) compare() {
	r.RelativeTo = r.Settings.relativeTo(r.Of())
	for _, e := range r.Entries {
		for _, base := range r.Entries {
			if base.Strategy != r.RelativeTo || base.Baseline || base.Concurrency != e.Concurrency || base == e {
				continue
			}
			if ratio := measure.RatioOf(e.series(r.Settings.By), base.series(r.Settings.By)); ratio.Rounds > 0 {
				e.Factor = &ratio
			}
		}
	}
}

// relativeTo is the strategy that was named, conditional, or the first.
func (s Settings) relativeTo(all []*Entry) string {
	for _, name := range []string{s.RelativeTo, "conditional"} {
		if slices.ContainsFunc(all, func(e *Entry) bool { return e.Strategy == name }) {
			return name
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[0].Strategy
}

// ExitStatus is the comparison's outcome for scripts, one of loadtest's. Of several
// that apply, the first counts.
func (r *Result) ExitStatus() int {
	has := func(so func(e *Entry) bool) bool {
		return slices.ContainsFunc(r.Entries, func(e *Entry) bool { return !e.Baseline && so(e) })
	}
	lacks := slices.ContainsFunc(r.NotRun, func(n NotRun) bool { return slices.Contains(r.Settings.Strategies, n.Strategy) }) // one that was named
	switch {
	case has(func(e *Entry) bool { return !e.Breaks && e.Verdict == ledger.Oversold }):
		return loadtest.ExitOversold
	case has(func(e *Entry) bool { return !e.Breaks && e.Verdict == ledger.Lost }):
		return loadtest.ExitLost
	case r.Interrupted, len(r.Of()) == 0, lacks, has(func(e *Entry) bool { return e.Verdict == ledger.NotValid || e.Verdict == "" }):
		return loadtest.ExitNotValid
	case has(func(e *Entry) bool { return e.Verdict == loadtest.Blocked }):
		return loadtest.ExitBlocked
	case slices.ContainsFunc(r.Of(), func(e *Entry) bool { return e.Breaks && e.Verdict == ledger.Held }):
		return loadtest.ExitMissed
	}
	return loadtest.ExitHeld
}

// A Tally counts the strategies of a result by outcome.
type Tally struct {
	Held   int `json:"held"`   // correct strategies
	Caught int `json:"caught"` // strategies that broke, as is known
	Other  int `json:"other"`  // not as known
	NotRun int `json:"not_run"`
}

// Tally counts the strategies by outcome.
func (r *Result) Tally() Tally {
	t := Tally{NotRun: len(r.NotRun)}
	for _, e := range r.Of() {
		switch {
		case e.Expected && e.Verdict == ledger.Held:
			t.Held++
		case e.Expected:
			t.Caught++
		default:
			t.Other++
		}
	}
	return t
}
