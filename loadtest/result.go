package loadtest

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Result is one finished run.
type Result struct {
	Settings Scenario     `json:"settings"` // what was asked for, so that it can be run again
	Strategy StrategyInfo `json:"strategy"`
	Targets  []Target     `json:"targets"`

	Start       time.Time `json:"start"`
	Seconds     float64   `json:"seconds"` // first request to last answer
	Interrupted bool      `json:"interrupted"`

	Requests int                   `json:"requests"` // that were sent
	Counts   map[judge.Outcome]int `json:"counts"`   // of requests by their final answer, every outcome, also those with 0
	// Copies and Retries are further calls of requests that were sent several times at
	// once, or again.
	Copies         int      `json:"copies"`
	Retries        int      `json:"retries"`
	Cut            int      `json:"cut,omitempty"` // calls whose buyer hung up before the answer
	Answers        []Answer `json:"answers"`       // every other answer to a call than a sale, by code
	RequestsPerSec float64  `json:"requests_per_second"`
	SalesPerSec    float64  `json:"sales_per_second"` // until the last sale
	SellingSeconds float64  `json:"selling_seconds"`  // first request to last sale; 0: none
	// Latency counts from when a request was due, which in a closed loop is
	// when it was sent; ServiceTime from when it was sent. Where they differ,
	// ServiceTime hides what buyers waited.
	Latency     Latency `json:"latency_us"`      // of all answers
	SoldLatency Latency `json:"sold_latency_us"` // of sales alone
	// RefusedLatency is of buyers who were told sold out, busy, conflict or duplicate.
	RefusedLatency Latency `json:"refused_latency_us"`
	ServiceTime    Latency `json:"service_time_us"`
	// Late requests were sent more than 1 ms after they were due, for whatever
	// reason; Dropped ones were due and never sent. Lag is what the generator
	// itself was late: requests that waited for a free connection are not in it.
	Late      int       `json:"late"`
	Dropped   int       `json:"dropped"`
	Lag       Latency   `json:"generator_lag_us"`
	Processor Processor `json:"processor,omitzero"`
	// Histogram has Latency's values, in microseconds, for those who add up runs.
	Histogram     *hdrhistogram.Histogram `json:"-"`
	Cancellations Cancellations           `json:"cancellations"`
	// Accepted counts requests whose first answer said so. Latency is then of the first
	// answers, and SoldLatency of the last: until the COMMIT of the order, and up to
	// 0.1 s until the buyer asked again.
	Accepted     int          `json:"accepted,omitempty"`
	Reservations Reservations `json:"reservations,omitzero"`

	// Commands is what the purchases cost the backends, as the services count
	// it; CommandsMissing says why it is not known.
	Commands        []Commands `json:"commands"`
	CommandsMissing string     `json:"commands_missing,omitempty"`

	// Audit is the judge's finding; nil when the ledger could not be read. Of
	// several SKUs it is their sum.
	Audit        *judge.Report   `json:"audit"`
	Linearizable Linearizability `json:"linearizable"`
	// Settled: no purchase was still running when the ledger was read.
	Settled bool           `json:"settled"`
	settled map[int64]bool // by SKU: what is proven of one does not depend on the others
	// Problems are the reasons why this run by itself proves nothing.
	Problems []Problem `json:"problems"`

	// Fault is what befell the services while buyers bought, set by the caller of Run; "": nothing that could matter.
	Fault string `json:"fault,omitempty"`

	// Verdict is Audit's, or Blocked where that is held and the sale stood still,
	// or not_valid where problems take away what the run seems to prove.
	Verdict judge.Verdict `json:"verdict"`
	Signs   Signs         `json:"signs"`
	// Checks are the scenario's requirements; ExitStatus has all of it.
	Checks []Check `json:"requirements"`
}

// Cancellations are what became of the orders that buyers gave back.
type Cancellations struct {
	Done    int `json:"done"`
	Refused int `json:"refused"`
	Unknown int `json:"unknown"`
}

// Reservations are what became of the units that buyers reserved and did not
// cancel.
type Reservations struct {
	Paid      int `json:"paid"`
	Forgotten int `json:"forgotten"`
	Expired   int `json:"expired"` // payments that were told so
	Refused   int `json:"refused"` // … for another reason
	Unknown   int `json:"unknown"`
	Returned  int `json:"returned,omitempty"` // … and cancelled when they had been forgotten
}

// Processor is the processor time of one load, in seconds. What is not known is
// left out.
type Processor struct {
	Services  *float64 `json:"services_s,omitempty"`  // all service processes, as they count it
	Servers   *float64 `json:"servers_s,omitempty"`   // the servers behind them
	Generator *float64 `json:"generator_s,omitempty"` // this process, and engines embedded in it
}

// A Percentile is one point of a curve: so many percent took no longer.
type Percentile struct {
	Percent float64 `json:"percent"`
	Micros  int64   `json:"us"`
}

// Linearizability is what is known of the answers of a run taken together (see
// internal/linear).
type Linearizability struct {
	Answer  string `json:"answer"`
	Checked int    `json:"checked"` // answers that were looked at
	Why     string `json:"why,omitempty"`
}

// Answers to whether a history is linearizable.
const (
	LinearYes        = "yes"
	LinearNo         = "no"
	LinearNotChecked = "not_checked"
)

// StrategyInfo is what the first target says of the strategy.
type StrategyInfo struct {
	Name       string             `json:"name"`
	Title      string             `json:"title"`
	StockStore seckill.StockStore `json:"stock"`  // where it keeps the stock
	Broken     bool               `json:"broken"` // shipped as a bad example
	Reserves   bool               `json:"reserves,omitempty"`
}

// A Target is one service process and what it runs on, by its own account.
type Target struct {
	URL      string           `json:"url"`
	Backends []backend.Status `json:"backends"`
}

// An Answer groups what buyers were told by its code: the service's own, or
// one of ours for what is no answer.
type Answer struct {
	Code    string        `json:"code"`
	Outcome judge.Outcome `json:"outcome"`
	Count   int           `json:"count"`
	Sample  string        `json:"sample"` // the first message with this code
}

// Latency in microseconds, from an HDR histogram of three significant digits.
type Latency struct {
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p99_9"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// Commands counts what purchases sent to one backend.
type Commands struct {
	Backend     string  `json:"backend"`
	Count       int64   `json:"count"`
	PerPurchase float64 `json:"per_purchase"` // per request that reached the strategy, sold or not
}

// A Problem is in words, and as a code with parameters for clients that word it
// themselves.
type Problem struct {
	Text   string `json:"text"`
	Code   string `json:"code"`
	Params params `json:"params,omitempty"`
}

func (p Problem) Error() string { return p.Text }

// Codes of Problems, with their parameters. An error is the system's text.
const (
	ProblemLedgerUnread  = "ledger_unread"    // error
	ProblemStillRunning  = "still_running"    // seconds
	ProblemOtherStrategy = "other_strategy"   // count, found, strategy
	ProblemUnusable      = "target_unusable"  // target, error
	ProblemDisagree      = "ledgers_disagree" // target, sku, stock, run, where, left, found, found_run
	ProblemInterrupted   = "interrupted"      // sent, of
	ProblemLate          = "generator_late"   // lag_ms, latency_ms
	ProblemProcessors    = "generator_full"   // used, of
	ProblemNeverSent     = "never_sent"       // count, seconds
	ProblemNoAnswer      = "no_answer"
	ProblemFewAnswers    = "few_answers" // answered, of, stock
	ProblemNonsense      = "nonsense"    // count, sample
)

func newProblem(code string, params params, format string, args ...any) Problem {
	return Problem{fmt.Sprintf(format, args...), code, params}
}

// problem adds a reason why the run proves nothing, with its code.
func (r *run) addProblem(code string, params params, format string, args ...any) {
	r.result.Problems = append(r.result.Problems, newProblem(code, params, format, args...))
}

type params = map[string]any
