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
	Settings Scenario     `json:"settings"` // the settings of the run, with which it can be repeated
	Strategy StrategyInfo `json:"strategy"`
	Targets  []Target     `json:"targets"`

	Start       time.Time `json:"start"`
	Seconds     float64   `json:"seconds"` // the time from the first request to the last answer
	Interrupted bool      `json:"interrupted"`

	Requests int    `json:"requests"` // the number of requests that were sent
	Counts   Counts `json:"counts"`   // every outcome → number of requests with this outcome
	// Copies counts the further calls of requests that were sent several times at once. Retries counts the
	// calls that repeat a request after a reply.
	Copies         int      `json:"copies"`
	Retries        int      `json:"retries"`
	Cut            int      `json:"cut,omitempty"` // the number of calls during which the buyer hung up
	Restocks       int      `json:"restocks,omitempty"`
	Answers        []Answer `json:"answers"` // calls that were refused, failed or got no answer, counted by code
	RequestsPerSec float64  `json:"requests_per_second"`
	SalesPerSec    float64  `json:"sales_per_second"` // sales per second until the last sale
	SellingSeconds float64  `json:"selling_seconds"`  // seconds from the first request to the last sale; 0 if none
	// Latency counts from when a request was due. In a closed loop a request is due when it is sent.
	// ServiceTime always counts from when the request was sent. So ServiceTime hides how long requests
	// of an open loop waited to be sent.
	Latency     Latency `json:"latency_us"`      // the latency of all answers
	SoldLatency Latency `json:"sold_latency_us"` // the latency of sales and reservations
	// RefusedLatency is the latency of the answers sold out, busy, conflict and duplicate.
	RefusedLatency Latency `json:"refused_latency_us"`
	ServiceTime    Latency `json:"service_time_us"`
	// Late counts requests that were sent more than 1 ms after they were due, for any reason. Dropped
	// counts requests that were due and never sent. Lag is the delay with which the generator
	// sent requests although a connection was free.
	Late      int       `json:"late"`
	Dropped   int       `json:"dropped"`
	Lag       Latency   `json:"generator_lag_us"`
	Processor Processor `json:"processor,omitzero"`
	// Histogram has the latencies of all answers, in microseconds.
	Histogram     *hdrhistogram.Histogram `json:"-"`
	Cancellations Cancellations           `json:"cancellations"`
	// Accepted counts requests whose first answer said that they were accepted. Their Latency ends with that
	// first answer. Their SoldLatency ends when the buyer learns of the order. Buyers ask every 0.1 s, so
	// they learn of it up to 0.1 s after the commit.
	Accepted     int          `json:"accepted,omitempty"`
	Reservations Reservations `json:"reservations,omitzero"`

	// Commands counts the commands that services sent to the backends for the purchases. If the services do not
	// report these counts, CommandsMissing says why.
	Commands        []Commands `json:"commands"`
	CommandsMissing string     `json:"commands_missing,omitempty"`

	// Audit is the judge's report. If several SKUs were sold, it is the sum of their reports. It is nil
	// if the ledger could not be read.
	Audit        *judge.Report   `json:"audit"`
	Linearizable Linearizability `json:"linearizable"`
	// Settled is true if no purchase was running when the ledger was read.
	Settled bool           `json:"settled"`
	settled map[int64]bool // SKU → true if no purchase was running when the SKU's ledger was read
	// Problems are reasons why this run proves nothing.
	Problems []Problem `json:"problems"`

	// Fault describes the fault that was injected during the load. The caller of Run sets it.
	Fault string `json:"fault,omitempty"`

	// Verdict is the verdict of Audit in most runs. It is Blocked if the audit held but the sale stood still.
	// It is NotValid if a problem of the run makes the audit worthless.
	Verdict judge.Verdict `json:"verdict"`
	Signs   Signs         `json:"signs"`
	// Checks say which of the scenario's requirements the run met.
	Checks []Check `json:"requirements"`
}

// Sales returns the number of sales. A reservation counts when it is paid.
func (r *Result) Sales() float64 { return float64(r.Counts[judge.OutcomeSold] + r.Reservations.Paid) }

// Counts has the number of requests by the outcome of their last answer.
type Counts map[judge.Outcome]int

// Uncertain returns the number of requests whose last answer does not say what the buyer got.
func (c Counts) Uncertain() int {
	return c[judge.OutcomeError] + c[judge.OutcomeUnknown] + c[judge.OutcomeInProgress] + c[judge.OutcomeAccepted]
}

// Cancellations counts the orders and reservations that buyers tried to cancel, by the result.
type Cancellations struct {
	Done    int `json:"done"`
	Refused int `json:"refused"`
	Unknown int `json:"unknown"`
}

// Reservations counts, by result, the reservations that buyers did not cancel before the expiry.
type Reservations struct {
	Paid      int `json:"paid"`
	Forgotten int `json:"forgotten"`
	Expired   int `json:"expired"` // reservations that had expired when the buyer tried to pay
	Refused   int `json:"refused"` // payments that were refused for another reason
	Unknown   int `json:"unknown"`
	Returned  int `json:"returned,omitempty"` // unpaid reservations that the buyer cancelled after they had expired
}

// Processor has the processor times of one load, in seconds. A time is nil if it is not known.
type Processor struct {
	Services  *float64 `json:"services_s,omitempty"`  // processor time of all service processes
	Servers   *float64 `json:"servers_s,omitempty"`   // processor time of the database and the other servers
	Generator *float64 `json:"generator_s,omitempty"` // processor time of this process, which sends the load
}

// A Percentile is one point of a latency curve: Percent of all answers took Micros microseconds or less.
type Percentile struct {
	Percent float64 `json:"percent"`
	Micros  int64   `json:"us"`
}

// Linearizability says whether some sequence of purchases, one after the other, explains all answers of a run
// (see judge.CheckLinearizable).
type Linearizability struct {
	Answer  string `json:"answer"`
	Checked int    `json:"checked"` // the number of answers that were checked
	Why     string `json:"why,omitempty"`
}

// These are the values of Linearizability.Answer.
const (
	LinearYes        = "yes"
	LinearNo         = "no"
	LinearNotChecked = "not_checked"
)

// StrategyInfo describes a strategy. The first target reports it.
type StrategyInfo struct {
	Name       string             `json:"name"`
	Title      string             `json:"title"`
	StockStore seckill.StockStore `json:"stock"`  // where the strategy keeps the stock
	Broken     bool               `json:"broken"` // true if the strategy has a known flaw and is a bad example
	Reserves   bool               `json:"reserves,omitempty"`
}

// A Target is one service process, and the backends that it reports.
type Target struct {
	URL      string           `json:"url"`
	Backends []backend.Status `json:"backends"`
}

// An Answer counts the answers with one code. The code is the service's own. If the service gave no valid
// answer, the code is one of the client's (such as codeTimeout).
type Answer struct {
	Code    string        `json:"code"`
	Outcome judge.Outcome `json:"outcome"`
	Count   int           `json:"count"`
	Sample  string        `json:"sample"` // the message of the first answer with this code
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

// Commands counts the commands that services sent to one backend for the purchases.
type Commands struct {
	Backend     string  `json:"backend"`
	Count       int64   `json:"count"`
	PerPurchase float64 `json:"per_purchase"` // the mean number of commands per request that reached the strategy
}

// A Problem is a reason why a run proves nothing, or why its buyers were not served. Clients that write their own text
// use its code and parameters. The calls of newProblem and addProblem show which code has which parameters.
type Problem struct {
	Text   string `json:"text"`
	Code   string `json:"code"`
	Params params `json:"params,omitempty"`
}

func (p Problem) Error() string { return p.Text }

func newProblem(code string, params params, format string, args ...any) Problem {
	return Problem{fmt.Sprintf(format, args...), code, params}
}

func (r *run) addProblem(code string, params params, format string, args ...any) {
	r.result.Problems = append(r.result.Problems, newProblem(code, params, format, args...))
}

type params = map[string]any
