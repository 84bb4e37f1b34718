package compare

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/stats"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// A Result is one finished comparison, or one as far as it came.
type Result struct {
	Command     string    `json:"command"` // without passwords
	Version     string    `json:"version"` // of seckill
	Begun       time.Time `json:"begun"`
	Seconds     float64   `json:"seconds"`
	Interrupted bool      `json:"interrupted"`

	Machine tables.Machine   `json:"machine"`
	Servers []backend.Status `json:"servers"`
	Targets []string         `json:"targets"` // the service processes

	Settings   Settings `json:"settings"`
	RelativeTo string   `json:"relative_to"` // what the factors are to; "": none was measured
	RatioBy    string   `json:"ratio_by"`    // the metric that ratios are of
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
	Breaks   bool   `json:"breaks"` // known to break with as many processes as there are targets
	// ProofBreaks are the questions of the proof in which it breaks, which no load shows.
	ProofBreaks string `json:"proof_breaks,omitempty"`
	Baseline    bool   `json:"baseline,omitempty"` // a bare handler: not judged
	Keyless     bool   `json:"keyless,omitempty"`  // its buyers send no Idempotency-Key

	target string // of a baseline
}

// competes reports that the candidate is a strategy under the comparison's own conditions.
func (k Candidate) isCompetitor() bool { return !k.Baseline && !k.Keyless }

// An Entry is one strategy with one number of buyers at a time, over all rounds.
type Entry struct {
	Candidate
	Concurrency int `json:"concurrency"`

	// Verdict is the worst of all rounds; empty: nothing was judged. Expected: it
	// held, or is known to break and did.
	Verdict    judge.Verdict     `json:"verdict"`
	Expected   bool              `json:"expected"`
	Served     loadtest.Sign     `json:"served"`     // the worst, too
	Over       int64             `json:"over"`       // units beyond the stock, at worst
	Violations []judge.Violation `json:"violations"` // each rule once
	Problems   []string          `json:"problems"`

	Figures map[string]stats.Spread `json:"figures"` // by metric
	// Factor is Settings.By beside that of Result.RelativeTo, with as many buyers at a time.
	Factor *stats.Ratio `json:"factor,omitempty"`
	// Ratios are RatioBy beside that of the baselines with as many buyers at a time, and
	// of the strategy without keys, under the name of WithoutKeys.
	Ratios  map[string]stats.Ratio `json:"ratios,omitempty"`
	Rounds  []Round                `json:"rounds"`
	Latency []loadtest.Percentile  `json:"latency_curve,omitempty"` // of all requests of all rounds

	histogram *hdrhistogram.Histogram // likewise
	rate      float64                 // requests a second, of the last sale
	accepted  bool                    // answers came in two steps, which they do not without keys
}

// WithoutKeys is the name of a strategy's ratio to itself without keys.
const WithoutKeys = "without_keys"

// A Round is one strategy's turn in one round.
type Round struct {
	Round       int                `json:"round"` // from 1
	Sales       int                `json:"sales"` // how often the sale was run
	Verdict     judge.Verdict      `json:"verdict"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Figures     map[string]float64 `json:"figures"`
}

// Of are the strategies' entries with the comparison's own number of buyers.
func (r *Result) MainEntries() (all []*Entry) {
	for _, e := range r.Entries {
		if e.Concurrency == r.Settings.Concurrency && e.isCompetitor() {
			all = append(all, e)
		}
	}
	return all
}

func (e *Entry) seriesOf(id string) stats.Series {
	s := stats.Series{}
	for _, r := range e.Rounds {
		if figure, ok := r.Figures[id]; ok {
			s[r.Round] = figure
		}
	}
	return s
}

// conclude sums up the rounds so far.
func (e *Entry) summarizeRounds() {
	e.Figures = map[string]stats.Spread{}
	for _, m := range metrics {
		if s := e.seriesOf(m.id); len(s) > 0 {
			e.Figures[m.id] = s.Spread()
		}
	}
	for _, round := range e.Rounds {
		e.Verdict = loadtest.Worst(e.Verdict, round.Verdict)
	}
	e.Expected = e.Baseline || e.Verdict == judge.Held && !e.Breaks || e.Broken() && e.Breaks
	if e.histogram != nil && e.histogram.TotalCount() > 0 {
		e.Latency = loadtest.Curve(e.histogram)
	}
}

// Broken reports that it was seen to oversell, or to lose.
func (e *Entry) Broken() bool { return e.Verdict == judge.Oversold || e.Verdict == judge.Lost }

// right reports that its speed counts for something.
func (e *Entry) isRight() bool { return e.Verdict == judge.Held && !e.Breaks }

// compare sets every entry's factor to RelativeTo, and its ratios.
func (r *Result) setRatios() {
	for _, e := range r.MainEntries() { // conditional, or else the first
		if r.RelativeTo == "" || e.Strategy == "conditional" {
			r.RelativeTo = e.Strategy
		}
	}
	if r.RatioBy = r.Settings.By; r.Settings.Async {
		r.RatioBy = Answers // what is accepted was answered, and is sold later
	}
	for _, e := range r.Entries {
		for _, base := range r.Entries {
			if base == e || base.Concurrency != e.Concurrency {
				continue
			}
			if factor := stats.RatioOf(e.seriesOf(r.Settings.By), base.seriesOf(r.Settings.By)); factor.Rounds > 0 && base.isCompetitor() && base.Strategy == r.RelativeTo {
				e.Factor = &factor
			}
			name, compared := base.Strategy, base.Baseline
			if base.Keyless {
				name, compared = WithoutKeys, base.Strategy == e.Strategy && !e.accepted
			}
			if ratio := stats.RatioOf(e.seriesOf(r.RatioBy), base.seriesOf(r.RatioBy)); ratio.Rounds > 0 && compared && e.isCompetitor() {
				e.Ratios[name] = ratio
			}
		}
	}
}

// ExitStatus is the comparison's outcome for scripts, one of loadtest's. Of several
// that apply, the first counts.
func (r *Result) ExitStatus() int {
	has := func(so func(e *Entry) bool) bool {
		return slices.ContainsFunc(r.Entries, func(e *Entry) bool { return !e.Baseline && so(e) })
	}
	lacks := slices.ContainsFunc(r.NotRun, func(n NotRun) bool { return slices.Contains(r.Settings.Strategies, n.Strategy) }) // one that was named
	switch {
	case has(func(e *Entry) bool { return !e.Breaks && e.Verdict == judge.Oversold }):
		return loadtest.ExitOversold
	case has(func(e *Entry) bool { return !e.Breaks && e.Verdict == judge.Lost }):
		return loadtest.ExitLost
	case r.Interrupted, len(r.MainEntries()) == 0, lacks, has(func(e *Entry) bool { return e.Verdict == judge.NotValid || e.Verdict == "" }):
		return loadtest.ExitNotValid
	case has(func(e *Entry) bool { return e.Verdict == loadtest.Blocked }):
		return loadtest.ExitBlocked
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
	for _, e := range r.MainEntries() {
		switch {
		case e.Expected && e.Verdict == judge.Held:
			t.Held++
		case e.Expected:
			t.Caught++
		default:
			t.Other++
		}
	}
	return t
}

// Metrics of a turn, by name. Times are in milliseconds but for SellOut.
const (
	Answers    = "answers"     // certain ones a second, of all buyers
	Sales      = "sales"       // a second, until a sale's last one
	SellOut    = "sell_out"    // seconds from the first request to the last sale, if all was sold
	BoughtP50  = "bought_p50"  // of buyers who got a unit
	BoughtP99  = "bought_p99"  //
	RefusedP50 = "refused_p50" // of buyers who were told sold out, busy, conflict or duplicate
	RefusedP99 = "refused_p99" //
	Commands   = "commands"    // to the backends, for each purchase
	Services   = "services"    // processor time of a request: of the service processes,
	Servers    = "servers"     // and of the servers behind them
)

// A metric sums up the sales of one turn; false: it is not known.
type metric struct {
	id     string
	column string // its name in the lessons, with the unit
	of     func(sales []*loadtest.Result) (float64, bool)
}

var metrics = []metric{
	{Answers, "answers_per_second", rateOf(func(r *loadtest.Result) float64 { return float64(r.Requests - r.Uncertain()) },
		func(r *loadtest.Result) float64 { return r.Seconds })},
	{Sales, "sales_per_second", rateOf(salesOf, func(r *loadtest.Result) float64 { return r.SellingSeconds })},
	{SellOut, "sell_out_s", sellOut},
	{BoughtP50, "bought_p50_ms", medianOf(func(r *loadtest.Result) int64 { return r.SoldLatency.P50 })},
	{BoughtP99, "bought_p99_ms", medianOf(func(r *loadtest.Result) int64 { return r.SoldLatency.P99 })},
	{RefusedP50, "refused_p50_ms", medianOf(func(r *loadtest.Result) int64 { return r.RefusedLatency.P50 })},
	{RefusedP99, "refused_p99_ms", medianOf(func(r *loadtest.Result) int64 { return r.RefusedLatency.P99 })},
	{Commands, "commands_per_purchase", rateOf(func(r *loadtest.Result) (n float64) {
		for _, c := range r.Commands {
			n += c.PerPurchase
		}
		return n
	}, func(r *loadtest.Result) float64 { // sales of which it is known
		return float64(min(1, len(r.Commands)))
	})},
	{Services, "services_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Services })},
	{Servers, "servers_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Servers })},
}

func requestsOf(r *loadtest.Result) float64 { return float64(r.Requests) }

// sold counts sales; what is reserved is sold when it is paid.
func salesOf(r *loadtest.Result) float64 {
	return float64(r.Counts[judge.OutcomeSold] + r.Reservations.Paid)
}

// rate divides sums over all sales; nothing is not known.
func rateOf(part, whole func(*loadtest.Result) float64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		a, b := 0.0, 0.0
		for _, r := range sales {
			a, b = a+part(r), b+whole(r)
		}
		if a == 0 || b == 0 {
			return 0, false
		}
		return a / b, true
	}
}

// percentile is the median over the sales that have one.
func medianOf(of func(*loadtest.Result) int64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		var all []float64
		for _, r := range sales {
			if us := of(r); us > 0 {
				all = append(all, float64(us)/1000)
			}
		}
		return stats.SpreadOf(all).Median(), all != nil
	}
}

func perRequest(of func(loadtest.Processor) *float64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		if slices.ContainsFunc(sales, func(r *loadtest.Result) bool { return of(r.Processor) == nil }) {
			return 0, false
		}
		return rateOf(func(r *loadtest.Result) float64 { return 1000 * *of(r.Processor) }, requestsOf)(sales)
	}
}

func sellOut(sales []*loadtest.Result) (float64, bool) {
	took := 0.0
	for _, r := range sales {
		if r.Audit == nil || r.Audit.Sold < r.Audit.Initial {
			return 0, false
		}
		took += r.SellingSeconds
	}
	return took / float64(len(sales)), true
}
