// Package compare runs the same seeded sale with one strategy after the other,
// beside baselines: the same work without a strategy, measured in the same
// rounds. Run returns a Result; its Write methods make text, Markdown, CSV and JSON of
// it.
package compare

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// Format is the version of Result's JSON form. Fields are added, never renamed.
const Format = 1

// A Result is one finished comparison. Its JSON form:
//
//	format       1
//	command      the command line, without passwords
//	version      of seckill
//	begun        RFC 3339; seconds: how long all of it took
//	interrupted  true: ended early; what is there was audited
//	machine      {os, arch, cpus, go}
//	servers      [{name, tier, address, version, ok, error}]
//	durability   [{backend, name, value}] as read from the servers
//	settings     the sale, as in the result of `seckill load`; strategy is empty
//	targets      addresses of the service processes
//	locks        {lease_ms, wait_ms, poll_ms} that these ran with, if that is known
//	repeats      rounds that were asked for; turn_seconds: the least that is measured
//	             of one strategy in one round
//	floors       the baselines, at each number of buyers at a time:
//	             [{id, title, concurrency, per_second: {median, low, high},
//	             rounds: [{round, per_second}], missing}]
//	strategies   [Entry], in the order in which they were named
//	sparse       [Entry]: some of them again, with few buyers at a time
//	crowds       [Entry]: all of them again, with other numbers of buyers at a time
//	not_run      [{strategy, why}]
//	claims       [{article, says, measured, command}]
//	problems     what else went wrong, in words
//	against      what changed since an older result; absent without one
//
// An Entry has strategy, title, family, breaks, concurrency, verdict, expected,
// and of its rounds the medians: sales_per_second, service_us_per_sale,
// requests_per_second, p50_ms, p99_ms, each {median, low, high}; ratios by the id
// of a baseline; lock_wait_ms, commands, sold_share, sell_out_s. asked,
// failed_share, busy_share, processor (milliseconds per request of services,
// servers and the generator) and latency (percentiles and a histogram) are of all
// rounds together. rounds has every round's figures; violations what the judge found, by rule; problems why a run by
// itself proves nothing.
type Result struct {
	Format      int       `json:"format"`
	Command     string    `json:"command"`
	Version     string    `json:"version"`
	Begun       time.Time `json:"begun"`
	Seconds     float64   `json:"seconds"`
	Interrupted bool      `json:"interrupted"`

	Machine    measure.Machine         `json:"machine"`
	Servers    []backend.Status        `json:"servers"`
	Durability []measure.ServerSetting `json:"durability"`

	Settings    loadtest.Scenario `json:"settings"`
	Targets     []string          `json:"targets"`
	Locks       *Locks            `json:"locks,omitempty"`
	Repeats     int               `json:"repeats"`
	TurnSeconds float64           `json:"turn_seconds"`

	Baselines  []*BaselineResult `json:"floors"`
	Strategies []*Entry          `json:"strategies"`
	Sparse     []*Entry          `json:"sparse"`
	Crowds     []*Entry          `json:"crowds,omitempty"`
	NotRun     []NotRun          `json:"not_run"`
	Claims     []Claim           `json:"claims"`
	Problems   []string          `json:"problems"`
	Against    *Against          `json:"against,omitempty"`
}

// Locks are the lock times of the service processes, in milliseconds.
type Locks struct {
	Lease int `json:"lease_ms"` // how long a lock lives unrenewed
	Wait  int `json:"wait_ms"`  // how long a buyer waits for one
	Poll  int `json:"poll_ms"`  // about how long a polling lock pauses
}

// An Entry is one strategy at one concurrency, over all rounds.
type Entry struct {
	Strategy    string `json:"strategy"`
	Title       string `json:"title"`
	Family      string `json:"family"`
	Breaks      bool   `json:"breaks"`          // known to oversell with so many processes
	Hangs       bool   `json:"hangs,omitempty"` // known to stay locked when a reply is lost
	Concurrency int    `json:"concurrency"`

	// Verdict is the worst of all rounds. Expected: it held, or is known to
	// break and did, or is known to stay locked and did, when a request failed.
	Verdict    ledger.Verdict `json:"verdict"`
	Expected   bool           `json:"expected"`
	Violations []Violation    `json:"violations"`
	Problems   []string       `json:"problems"`

	// Sales are counted until the last one, requests until the last answer.
	Sales    measure.Spread            `json:"sales_per_second"`
	Service  measure.Spread            `json:"service_us_per_sale"` // processor time of the services; 0: not known
	Requests measure.Spread            `json:"requests_per_second"`
	P50      measure.Spread            `json:"p50_ms"`
	P99      measure.Spread            `json:"p99_ms"`
	Ratios   map[string]measure.Spread `json:"ratios"` // by baseline, within each round
	LockWait *measure.Spread           `json:"lock_wait_ms,omitempty"`
	Commands []loadtest.Commands       `json:"commands"` // of the median round
	// Sold is the share of the stock that was sold, by the ledger: less than 1
	// if buyers were told busy or conflict instead, more if it oversold.
	Sold float64 `json:"sold_share"`

	// SellOut is absent unless every sale of every round sold all of its stock.
	SellOut *measure.Spread `json:"sell_out_s,omitempty"`
	// Of all requests of all rounds.
	Asked     int        `json:"asked,omitempty"`
	Failed    float64    `json:"failed_share,omitempty"` // answered with an error, or unknown
	Busy      float64    `json:"busy_share,omitempty"`   // refused as busy or conflict
	Processor *Processor `json:"processor,omitempty"`
	Latency   *Latency   `json:"latency,omitempty"`

	Rounds []Round `json:"rounds"`

	times *hdrhistogram.Histogram // of all requests, in microseconds
}

// Processor is processor time in milliseconds per request. What is not known is
// left out.
type Processor struct {
	Services  *float64 `json:"services_ms,omitempty"`
	Servers   *float64 `json:"servers_ms,omitempty"`
	Generator *float64 `json:"generator_ms,omitempty"` // and engines embedded in its process
}

// Latency sums up every request of all rounds.
type Latency struct {
	Requests int64   `json:"requests"`
	P50      float64 `json:"p50_ms"`
	P90      float64 `json:"p90_ms"`
	P99      float64 `json:"p99_ms"`
	P999     float64 `json:"p99_9_ms,omitempty"` // absent with fewer than 1,000 requests
	Max      float64 `json:"max_ms"`
	// Buckets hold how many requests took no longer than Upto and longer than the
	// bucket before; each is a 20th of a decade wide. Empty ones are left out.
	Buckets []Bucket `json:"buckets"`
}

// A Bucket is one bar of a histogram.
type Bucket struct {
	Upto  float64 `json:"to_ms"`
	Count int64   `json:"count"`
}

// A Round is one strategy's turn in one round.
type Round struct {
	Round       int            `json:"round"` // from 1
	Sales       int            `json:"runs"`  // how often the sale was run
	Verdict     ledger.Verdict `json:"verdict"`
	Interrupted bool           `json:"interrupted,omitempty"`
	SalesRate   float64        `json:"sales_per_second"`
	RequestRate float64        `json:"requests_per_second"`
	Service     float64        `json:"service_us_per_sale,omitempty"`
	P50         float64        `json:"p50_ms"`
	P99         float64        `json:"p99_ms"`
	Sold        int64          `json:"sold"` // units, by the ledger, in the last sale
	Over        int64          `json:"over"` // units beyond the stock, at worst
	LockWait    float64        `json:"lock_wait_ms,omitempty"`
	// SellOut is how long a sale took from its first request to its last sale, on
	// average; 0: not every sale sold all of its stock.
	SellOut   float64    `json:"sell_out_s,omitempty"`
	Asked     int        `json:"asked,omitempty"`  // requests
	Failed    int        `json:"failed,omitempty"` // of them: an error, or an unknown outcome
	Busy      int        `json:"busy,omitempty"`   // of them: refused as busy or conflict
	Processor *Processor `json:"processor,omitempty"`

	commands []loadtest.Commands
}

// A Violation is one broken rule, as first seen.
type Violation struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Rounds  int    `json:"runs"` // sales in which it was seen
}

// A NotRun is a strategy that could not be run, and why.
type NotRun struct {
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// A BaselineResult is a baseline at one concurrency, over all rounds.
type BaselineResult struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Concurrency int             `json:"concurrency"`
	Rate        measure.Spread  `json:"per_second"`
	Rounds      []BaselineRound `json:"rounds"`
	Missing     string          `json:"missing,omitempty"` // why there is none

	measure func(ctx context.Context, buyers int, d time.Duration) (float64, error)
}

// A BaselineRound is a baseline's turn in one round.
type BaselineRound struct {
	Round int     `json:"round"`
	Rate  float64 `json:"per_second"`
}

// Oversold is how many units beyond the stock the worst sale sold.
func (e *Entry) Oversold() (most int64) {
	for _, r := range e.Rounds {
		most = max(most, r.Over)
	}
	return most
}
