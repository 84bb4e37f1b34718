package loadtest

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Result is the result of a run that has ended.
type Result struct {
	Settings Scenario     `json:"settings"` // settings of the run, with which it can be repeated
	Strategy StrategyInfo `json:"strategy"`
	Targets  []Target     `json:"targets"`

	Start       time.Time `json:"start"`
	Seconds     float64   `json:"seconds"` // time from the first request to the last answer
	Interrupted bool      `json:"interrupted"`

	Requests int    `json:"requests"` // requests that were sent
	Counts   Counts `json:"counts"`   // number of requests for each final outcome, also those with 0
	// Copies counts the calls beyond the first of requests that were sent several times at once.
	// Retries counts the calls that repeat a request after its answer.
	Copies         int      `json:"copies"`
	Retries        int      `json:"retries"`
	Cut            int      `json:"cut,omitempty"` // calls after which the buyer hung up
	Restocks       int      `json:"restocks,omitempty"`
	Answers        []Answer `json:"answers"` // calls that were refused, failed or had no answer, counted by code
	RequestsPerSec float64  `json:"requests_per_second"`
	SalesPerSec    float64  `json:"sales_per_second"` // sales a second, from the first request to the last sale
	SellingSeconds float64  `json:"selling_seconds"`  // time from the first request to the last sale; 0 without a sale
	// Latency counts from when a request was due. In a closed loop a request is due when it is
	// sent. ServiceTime always counts from when the request was sent. So it hides how long requests
	// of an open loop waited to be sent.
	Latency     Latency `json:"latency_us"`      // covers all answers
	SoldLatency Latency `json:"sold_latency_us"` // covers sales and reservations
	// RefusedLatency covers the answers sold out, busy, conflict and duplicate.
	RefusedLatency Latency `json:"refused_latency_us"`
	ServiceTime    Latency `json:"service_time_us"`
	// Late counts requests that were sent more than 1 ms after they were due, for any reason.
	// Dropped counts requests that were due and never sent. Lag says how late the generator sent
	// requests for which a connection was free.
	Late      int       `json:"late"`
	Dropped   int       `json:"dropped"`
	Lag       Latency   `json:"generator_lag_us"`
	Processor Processor `json:"processor,omitzero"`
	// Histogram has the latencies of all answers, in microseconds.
	Histogram     *hdrhistogram.Histogram `json:"-"`
	Cancellations Cancellations           `json:"cancellations"`
	// Accepted counts requests whose first answer said that they were accepted. Their Latency ends
	// with that first answer. Their SoldLatency ends when the buyer learns of the order. Buyers ask
	// every 0.1 s, so that may be up to 0.1 s after the commit.
	Accepted     int          `json:"accepted,omitempty"`
	Reservations Reservations `json:"reservations,omitzero"`

	// Commands counts the commands that the purchases sent to the backends, by the figures of the
	// services. CommandsMissing says why these figures are not known.
	Commands        []Commands `json:"commands"`
	CommandsMissing string     `json:"commands_missing,omitempty"`

	// Audit is the judge's report. With several SKUs it is the sum of their reports. It is nil if
	// the ledger could not be read.
	Audit        *judge.Report   `json:"audit"`
	Linearizable Linearizability `json:"linearizable"`
	// Settled is true if no purchase was running when the ledger was read.
	Settled bool           `json:"settled"`
	settled map[int64]bool // for each SKU, whether no purchase was running when its ledger was read
	// Problems are reasons why this run proves nothing.
	Problems []Problem `json:"problems"`

	// Fault describes the fault that was injected during the load. The caller of Run sets it.
	Fault string `json:"fault,omitempty"`

	// Verdict is normally the verdict of Audit. It is Blocked if the audit held and the sale stood
	// still. It is not_valid if a problem takes away what the audit seems to prove.
	Verdict judge.Verdict `json:"verdict"`
	Signs   Signs         `json:"signs"`
	// Checks are the scenario's requirements with the run's figures.
	Checks []Check `json:"requirements"`
}

// Sales counts sales. A reservation is sold when it is paid.
func (r *Result) Sales() float64 { return float64(r.Counts[judge.OutcomeSold] + r.Reservations.Paid) }

// Counts counts requests by the outcome of their last answer.
type Counts map[judge.Outcome]int

// Uncertain counts requests whose last answer does not say what the buyer got.
func (c Counts) Uncertain() int {
	return c[judge.OutcomeError] + c[judge.OutcomeUnknown] + c[judge.OutcomeInProgress] + c[judge.OutcomeAccepted]
}

// Cancellations counts the orders and reservations that buyers cancelled, by the outcome.
type Cancellations struct {
	Done    int `json:"done"`
	Refused int `json:"refused"`
	Unknown int `json:"unknown"`
}

// Reservations counts the reservations that buyers did not cancel, by the outcome.
type Reservations struct {
	Paid      int `json:"paid"`
	Forgotten int `json:"forgotten"`
	Expired   int `json:"expired"` // the reservation had expired when the buyer paid
	Refused   int `json:"refused"` // payments refused for another reason
	Unknown   int `json:"unknown"`
	Returned  int `json:"returned,omitempty"` // reservations not paid, and cancelled by the buyer after they had expired
}

// Processor is the processor time of one load, in seconds. A figure is nil if it is not known.
type Processor struct {
	Services  *float64 `json:"services_s,omitempty"`  // all service processes together
	Servers   *float64 `json:"servers_s,omitempty"`   // the servers behind the services
	Generator *float64 `json:"generator_s,omitempty"` // this process, which makes the load, with the engines embedded in it
}

// A Percentile is one point of a latency curve: Percent of the answers took at most Micros.
type Percentile struct {
	Percent float64 `json:"percent"`
	Micros  int64   `json:"us"`
}

// Linearizability says whether all answers of a run can be explained by the purchases taking place
// one after the other in some order (see internal/judge).
type Linearizability struct {
	Answer  string `json:"answer"`
	Checked int    `json:"checked"` // number of answers that were checked
	Why     string `json:"why,omitempty"`
}

// These are the values of Linearizability.Answer.
const (
	LinearYes        = "yes"
	LinearNo         = "no"
	LinearNotChecked = "not_checked"
)

// StrategyInfo describes a strategy as the first target reports it.
type StrategyInfo struct {
	Name       string             `json:"name"`
	Title      string             `json:"title"`
	StockStore seckill.StockStore `json:"stock"`  // where the strategy keeps the stock
	Broken     bool               `json:"broken"` // shipped as a bad example, with a known flaw
	Reserves   bool               `json:"reserves,omitempty"`
}

// A Target is one service process, with the backends that the process reports.
type Target struct {
	URL      string           `json:"url"`
	Backends []backend.Status `json:"backends"`
}

// An Answer counts the answers with one code. The code is the service's. Where the service gave no
// valid answer, the code is one of the client's own.
type Answer struct {
	Code    string        `json:"code"`
	Outcome judge.Outcome `json:"outcome"`
	Count   int           `json:"count"`
	Sample  string        `json:"sample"` // the first message with this code
}

// Latency has the percentiles of a time in microseconds, to three significant digits.
type Latency struct {
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p99_9"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// Commands counts the commands that purchases sent to one backend.
type Commands struct {
	Backend     string  `json:"backend"`
	Count       int64   `json:"count"`
	PerPurchase float64 `json:"per_purchase"` // per request that reached the strategy, sold or not
}

// A Problem has a text, and a code with parameters for clients that write their own text.
type Problem struct {
	Text   string `json:"text"`
	Code   string `json:"code"`
	Params params `json:"params,omitempty"`
}

func (p Problem) Error() string { return p.Text }

// These codes identify problems. The comment beside a code lists its parameters (Problem.Params).
// The parameter "error" is an error's text.
const (
	ProblemLedgerUnread  = "ledger_unread"    // parameters: error
	ProblemStillRunning  = "still_running"    // parameters: seconds
	ProblemOtherStrategy = "other_strategy"   // parameters: count, found, strategy
	ProblemUnusable      = "target_unusable"  // parameters: target, error
	ProblemDisagree      = "ledgers_disagree" // parameters: target, sku, stock, run, where, left, found, found_run
	ProblemInterrupted   = "interrupted"      // parameters: sent, of
	ProblemLate          = "generator_late"   // parameters: lag_ms, latency_ms
	ProblemProcessors    = "generator_full"   // parameters: used, of
	ProblemNeverSent     = "never_sent"       // parameters: count, seconds
	ProblemNoAnswer      = "no_answer"
	ProblemFewAnswers    = "few_answers"   // parameters: answered, of, stock
	ProblemNonsense      = "nonsense"      // parameters: count, sample
	ProblemNotRestocked  = "not_restocked" // parameters: units, error
)

func newProblem(code string, params params, format string, args ...any) Problem {
	return Problem{fmt.Sprintf(format, args...), code, params}
}

// addProblem adds a reason why the run proves nothing.
func (r *run) addProblem(code string, params params, format string, args ...any) {
	r.result.Problems = append(r.result.Problems, newProblem(code, params, format, args...))
}

type params = map[string]any
