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

// A Result is the result of a comparison. The comparison may have been interrupted.
type Result struct {
	Origin
	Seconds     float64 `json:"seconds"`
	Interrupted bool    `json:"interrupted"`

	Settings   Settings `json:"settings"`
	RelativeTo string   `json:"relative_to"` // the strategy by whose figure Entry.Factor divides; may be empty
	RatioBy    string   `json:"ratio_by"`    // the metric whose figures Entry.Ratios compare
	// Entries are in the order in which their strategies were named. First come the entries with
	// Settings.Concurrency buyers at a time, then those with other numbers of buyers. Among entries with the
	// same number, baselines come last.
	Entries  []*Entry `json:"entries"`
	NotRun   []NotRun `json:"not_run"`
	Problems []string `json:"problems"`

	// references has the figure of the metric Settings.By in each turn of the reference (see groupSize).
	references []float64
}

// An Origin says where and how a comparison was run.
type Origin struct {
	Command string           `json:"command"` // the command line, without passwords
	Version string           `json:"version"` // version of seckill
	Begun   time.Time        `json:"begun"`
	Machine tables.Machine   `json:"machine"`
	Servers []backend.Status `json:"servers"`
	Targets []string         `json:"targets"` // the URLs of the service processes
}

// A NotRun is a strategy that could not be run, and why.
type NotRun struct {
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// A Candidate is a strategy or a baseline that takes part in a comparison.
type Candidate struct {
	Strategy string `json:"strategy"` // name of the strategy
	Title    string `json:"title"`
	Breaks   bool   `json:"breaks"` // true if known to break under load with this number of service processes
	// ProofBreaks names the questions of the proof (seckill prove) in which the strategy breaks. Most of
	// these failures need a fault or a rare order of commands, so a comparison does not show them.
	ProofBreaks string `json:"proof_breaks,omitempty"`
	Baseline    bool   `json:"baseline,omitempty"` // true for a baseline, which is not judged
	Keyless     bool   `json:"keyless,omitempty"`  // true if the buyers send no Idempotency-Key

	target string // URL of a baseline
}

// isCompetitor reports whether the candidate is a strategy whose buyers send Idempotency-Keys.
func (k Candidate) isCompetitor() bool { return !k.Baseline && !k.Keyless }

// An Entry has the results of one strategy with one number of buyers at a time, over all rounds.
type Entry struct {
	Candidate
	Concurrency int `json:"concurrency"`

	Findings

	Figures map[string]stats.Spread `json:"figures"` // metric → the median, lowest and highest figure of all rounds
	// Factor is a ratio: the figure of this entry divided by the figure of the strategy that Result.RelativeTo names.
	// Both are figures of the metric Settings.By, measured with the same number of buyers at a time.
	Factor *stats.Ratio `json:"factor,omitempty"`
	// Ratios are the figure of this entry divided by the figures of other entries: of each baseline, and of
	// the same strategy without keys (WithoutKeys). All are figures of the metric Result.RatioBy, measured
	// with the same number of buyers at a time.
	Ratios  map[string]stats.Ratio `json:"ratios,omitempty"`
	Rounds  []Round                `json:"rounds"`
	Latency []loadtest.Percentile  `json:"latency_curve,omitempty"` // latencies of all requests of all rounds

	measuring
}

// Findings are what the judge found in the sales of an Entry.
type Findings struct {
	// Verdict is the worst verdict of all rounds. It is empty if nothing was judged. Expected is true if a
	// correct strategy held, or if a strategy that is known to break has broken.
	Verdict    judge.Verdict     `json:"verdict"`
	Expected   bool              `json:"expected"`
	Served     loadtest.Sign     `json:"served"`     // whether buyers were served in the worst of all sales
	Over       int64             `json:"over"`       // the units sold beyond the stock in the worst sale
	Violations []judge.Violation `json:"violations"` // the first violation of each rule
	// Problems has each reason why sales of the entry prove nothing. Files of earlier versions have plain texts under
	// the name "problems".
	Problems []loadtest.Problem `json:"reasons"`
}

// measuring has the data of an Entry that are needed only while it is measured.
type measuring struct {
	histogram *hdrhistogram.Histogram // the latencies of all requests of all rounds
	rate      float64                 // the requests per second of the last sale
	accepted  bool                    // true if an answer was 202, so no ratio to the entry without keys is computed
	reference bool                    // true for the reference strategy of a long comparison (see groupSize)
	turns     int                     // the number of turns in the last round
}

// WithoutKeys is a key of Entry.Ratios. Its value compares a strategy with the same strategy without
// Idempotency-Keys.
const WithoutKeys = "without_keys"

// A Round has the results of one entry in one round. If the entry had several turns in the round, the figures
// are means.
type Round struct {
	Round       int                `json:"round"` // the number of the round, from 1
	Sales       int                `json:"sales"` // the number of sales that were measured
	Verdict     judge.Verdict      `json:"verdict"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Figures     map[string]float64 `json:"figures"`

	references int // the number of turns of the reference before this round
}

// addRound adds the results t of a turn. If the entry already has results of the same round, the figures of the
// round become the means of all its turns.
func (e *Entry) addRound(t Round) {
	last := len(e.Rounds) - 1
	if last < 0 || e.Rounds[last].Round != t.Round {
		e.Rounds = append(e.Rounds, t)
		e.turns = 1
		return
	}
	of := &e.Rounds[last]
	e.turns++
	for id, figure := range t.Figures {
		of.Figures[id] += (figure - of.Figures[id]) / float64(e.turns)
	}
	of.Sales += t.Sales
	of.Verdict, of.Interrupted = loadtest.Worst(of.Verdict, t.Verdict), of.Interrupted || t.Interrupted
}

// nearbyReferences returns a series with a figure for each round of e: the mean of the reference's turns directly
// before and after e was measured. In a short comparison, nearbyReferences returns nil, because the reference has
// only one turn in each round.
func (r *Result) nearbyReferences(e *Entry) stats.Series {
	if r.references == nil || e.reference {
		return nil
	}
	s := stats.Series{}
	for _, round := range e.Rounds {
		near := r.references[max(0, round.references-1):min(len(r.references), round.references+1)]
		for _, figure := range near {
			s[round.Round] += figure / float64(len(near))
		}
	}
	return s
}

// MainEntries returns the strategies' entries that were measured with Settings.Concurrency concurrent buyers who
// send idempotency keys. It leaves out baselines.
func (r *Result) MainEntries() []*Entry {
	var all []*Entry
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

// Broken reports whether the strategy oversold, lost or invented something.
func (e *Entry) Broken() bool { return e.Verdict == judge.Oversold || e.Verdict == judge.Lost }

func (r *Result) setRatios() {
	// RelativeTo is the strategy "conditional". If it was not measured, RelativeTo is the first strategy.
	for _, e := range r.MainEntries() {
		if r.RelativeTo == "" || e.Strategy == "conditional" {
			r.RelativeTo = e.Strategy
		}
	}
	r.RatioBy = r.Settings.By
	if r.Settings.Async {
		// With Async, services accept requests at once and sell later, so the ratios compare answers.
		r.RatioBy = Answers
	}
	for _, e := range r.Entries {
		for _, base := range r.Entries {
			if base == e || base.Concurrency != e.Concurrency {
				continue
			}
			figures := base.seriesOf(r.Settings.By)
			if nearby := r.nearbyReferences(e); nearby != nil && base.reference {
				figures = nearby
			}
			isReference := base.isCompetitor() && base.Strategy == r.RelativeTo
			if factor := stats.RatioOf(e.seriesOf(r.Settings.By), figures); factor.Rounds > 0 && isReference {
				e.Factor = &factor
			}
			name, compared := base.Strategy, base.Baseline
			if base.Keyless {
				name, compared = WithoutKeys, base.Strategy == e.Strategy && !e.accepted
			}
			ratio := stats.RatioOf(e.seriesOf(r.RatioBy), base.seriesOf(r.RatioBy))
			if ratio.Rounds > 0 && compared && e.isCompetitor() {
				e.Ratios[name] = ratio
			}
		}
	}
}

// ExitStatus returns the exit status that a load run with the worst verdict of all strategies would have. A strategy
// that broke as expected does not count.
func (r *Result) ExitStatus() int {
	worst := judge.Held
	isNamed := func(n NotRun) bool { return slices.Contains(r.Settings.Strategies, n.Strategy) }
	if r.Interrupted || len(r.MainEntries()) == 0 || slices.ContainsFunc(r.NotRun, isNamed) {
		worst = judge.NotValid
	}
	for _, e := range r.Entries {
		if !e.Baseline && !(e.Breaks && e.Broken()) {
			worst = loadtest.Worst(worst, e.Verdict)
		}
	}
	return (&loadtest.Result{Verdict: worst}).ExitStatus()
}

// A Tally counts the strategies of a comparison by their results.
type Tally struct {
	Held   int `json:"held"`   // correct strategies that held
	Caught int `json:"caught"` // strategies known to break that did break
	Other  int `json:"other"`  // strategies with a result that was not expected
	NotRun int `json:"not_run"`
}

// Tally counts the strategies by their results.
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

// These metrics are measured in each turn. Times are in milliseconds, except that SellOut is in seconds.
const (
	Answers    = "answers"     // definite answers per second (each says what the buyer got)
	Sales      = "sales"       // sales per second, from the first request to the last sale
	SellOut    = "sell_out"    // time to the last sale; known only if all units were sold
	BoughtP50  = "bought_p50"  // the median latency of sales
	BoughtP99  = "bought_p99"  //
	RefusedP50 = "refused_p50" // the median latency of the answers sold out, busy, conflict and duplicate
	RefusedP99 = "refused_p99" //
	Commands   = "commands"    // the number of commands to the backends per purchase
	Services   = "services"    // the processor time of the service processes per request
	Servers    = "servers"     // the processor time of the backend servers per request
)

type metric struct {
	id     string
	column string // the name of the figure in the lessons, with its unit
	// compute returns the figure, and false if the figure is not known.
	compute func(sales []*loadtest.Result) (float64, bool)
}

var metrics = []metric{
	{Answers, "answers_per_second", rateOf(answersOf, func(r *loadtest.Result) float64 { return r.Seconds })},
	{Sales, "sales_per_second", rateOf((*loadtest.Result).Sales, func(r *loadtest.Result) float64 { return r.SellingSeconds })},
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
	}, func(r *loadtest.Result) float64 { // 1 for a sale whose commands are known, otherwise 0
		return float64(min(1, len(r.Commands)))
	})},
	{Services, "services_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Services })},
	{Servers, "servers_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Servers })},
}

func answersOf(r *loadtest.Result) float64 { return float64(r.Requests - r.Counts.Uncertain()) }

// rateOf returns a function that computes a metric from several sales. This function calls the functions part
// and whole for each sale, and divides the sum of the parts by the sum of the wholes. If one of the sums is 0,
// the metric is not known.
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

// medianOf returns a function that computes the median of a latency over several sales. Sales without this
// latency are left out.
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
		return rateOf(func(r *loadtest.Result) float64 { return 1000 * *of(r.Processor) },
			func(r *loadtest.Result) float64 { return float64(r.Requests) })(sales)
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
