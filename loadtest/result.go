package loadtest

import (
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
)

// A Result is one finished run. Its JSON form is stable: fields are added,
// never renamed.
type Result struct {
	Settings Settings     `json:"settings"`
	Strategy StrategyInfo `json:"strategy"`
	Targets  []Target     `json:"targets"`

	Start       time.Time `json:"start"`
	Seconds     float64   `json:"seconds"` // first request to last answer
	Interrupted bool      `json:"interrupted"`

	Requests       int                    `json:"requests"` // buyers who sent theirs
	Counts         map[ledger.Outcome]int `json:"counts"`   // every outcome, also those with 0
	Units          int64                  `json:"units"`    // units that buyers were told they got
	Answers        []Answer               `json:"answers"`  // every other answer than a sale, by code
	RequestsPerSec float64                `json:"requests_per_second"`
	SalesPerSec    float64                `json:"sales_per_second"`
	Latency        Latency                `json:"latency_us"`      // of all answers
	SoldLatency    Latency                `json:"sold_latency_us"` // of sales alone

	// Commands is what the purchases cost the backends, as the services count
	// it; CommandsMissing says why it is not known.
	Commands        []Commands `json:"commands"`
	CommandsMissing string     `json:"commands_missing,omitempty"`

	// Audit is the judge's finding; nil when the ledger could not be read.
	Audit        *ledger.Report `json:"audit"`
	LedgerSource string         `json:"ledger_source"` // SourceSQL or SourceService
	// Settled: no purchase was still running when the ledger was read.
	Settled bool `json:"settled"`
	// Problems are the reasons why this run by itself proves nothing.
	Problems []string `json:"problems"`

	Verdict ledger.Verdict `json:"verdict"`
}

// Where the verdict was taken from.
const (
	SourceSQL     = "SQL"         // the database itself
	SourceService = "the service" // what the service says of its database
)

// Settings repeat what was asked for, so that a run can be run again.
type Settings struct {
	Strategy       string  `json:"strategy"`
	SKU            int64   `json:"sku_id"`
	Stock          int64   `json:"stock"`
	Buyers         int     `json:"buyers"`
	Concurrency    int     `json:"concurrency"`
	Quantity       int64   `json:"quantity"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	Seed           uint64  `json:"seed"`
}

// StrategyInfo is what the first target says of the strategy.
type StrategyInfo struct {
	Name   string      `json:"name"`
	Title  string      `json:"title"`
	Home   ledger.Home `json:"stock"`  // where it keeps the stock
	Broken bool        `json:"broken"` // shipped as a bad example
}

// A Target is one service process and what it runs on, by its own account.
type Target struct {
	URL      string           `json:"url"`
	Backends []backend.Status `json:"backends"`
}

// An Answer groups what buyers were told by its code: the service's own, or
// one of ours for what is no answer.
type Answer struct {
	Code    string         `json:"code"`
	Outcome ledger.Outcome `json:"outcome"`
	Count   int            `json:"count"`
	Sample  string         `json:"sample"` // the first message with this code
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
