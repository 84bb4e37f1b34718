// Package compare puts the same seeded sale on one strategy after the other,
// in rounds of alternating order, and beside them floors: the same work without
// a strategy, measured in the same rounds. Run returns a Result; the Write
// functions turn it into text, Markdown, CSV, JSON and one HTML page.
package compare

import (
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
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
//	floors       [{id, title, per_second: {median, low, high}, rounds: [{round, per_second}], missing}]
//	strategies   [Entry], in the order in which they were named
//	sparse       [Entry]: some of them again, with few buyers at a time
//	not_run      [{strategy, why}]
//	claims       [{article, says, measured, command}]
//	problems     what else went wrong, in words
//	against      what changed since an older result; absent without one
//
// An Entry has strategy, title, family, breaks, concurrency, verdict, expected,
// and of its rounds the medians: sales_per_second, requests_per_second, p50_ms,
// p99_ms, each {median, low, high}; ratios by the id of a floor; lock_wait_ms,
// commands, sold_share. latency_curve and course are those of its median round; rounds has
// every round's figures; violations what the judge found, by rule; problems why
// a run by itself proves nothing.
type Result struct {
	Format      int       `json:"format"`
	Command     string    `json:"command"`
	Version     string    `json:"version"`
	Begun       time.Time `json:"begun"`
	Seconds     float64   `json:"seconds"`
	Interrupted bool      `json:"interrupted"`

	Machine    Machine          `json:"machine"`
	Servers    []backend.Status `json:"servers"`
	Durability []Setting        `json:"durability"`

	Settings    loadtest.Settings `json:"settings"`
	Targets     []string          `json:"targets"`
	Locks       *Locks            `json:"locks,omitempty"`
	Repeats     int               `json:"repeats"`
	TurnSeconds float64           `json:"turn_seconds"`

	Floors     []FloorResult `json:"floors"`
	Strategies []*Entry      `json:"strategies"`
	Sparse     []*Entry      `json:"sparse"`
	NotRun     []NotRun      `json:"not_run"`
	Claims     []Claim       `json:"claims"`
	Problems   []string      `json:"problems"`
	Against    *Against      `json:"against,omitempty"`
}

// Locks are the times of the locks of the service processes, in milliseconds.
type Locks struct {
	Lease int `json:"lease_ms"` // how long one lives unrenewed
	Wait  int `json:"wait_ms"`  // how long a buyer waits for one
	Poll  int `json:"poll_ms"`  // about how long one that polls pauses
}

// A Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// A Setting of a server that decides what its answers are worth.
type Setting struct {
	Backend string `json:"backend"`
	Name    string `json:"name"`
	Value   string `json:"value"` // or why it could not be read
}

// An Entry is one strategy at one concurrency, over all rounds.
type Entry struct {
	Strategy    string `json:"strategy"`
	Title       string `json:"title"`
	Family      string `json:"family"`
	Breaks      bool   `json:"breaks"` // it is known to oversell with so many processes
	Concurrency int    `json:"concurrency"`

	// Verdict is the worst of all rounds; Expected: held, or broken and known
	// to be.
	Verdict    ledger.Verdict `json:"verdict"`
	Expected   bool           `json:"expected"`
	Violations []Violation    `json:"violations"`
	Problems   []string       `json:"problems"`

	// Sales count until the last one, requests until the last answer.
	Sales    Spread              `json:"sales_per_second"`
	Requests Spread              `json:"requests_per_second"`
	P50      Spread              `json:"p50_ms"`
	P99      Spread              `json:"p99_ms"`
	Ratios   map[string]Spread   `json:"ratios"` // by floor, round by round
	LockWait *Spread             `json:"lock_wait_ms,omitempty"`
	Commands []loadtest.Commands `json:"commands"` // of the median round
	// Sold is the share of the stock that was sold, by the ledger: less than 1
	// where buyers were told busy or conflict instead, more where it oversold.
	Sold float64 `json:"sold_share"`

	Curve  []loadtest.Percentile `json:"latency_curve"`
	Course []loadtest.Point      `json:"course"`
	Rounds []Round               `json:"rounds"`
}

// A Round is one strategy's turn in one round.
type Round struct {
	Round       int            `json:"round"` // from 1
	Sales       int            `json:"runs"`  // how often the sale was held
	Verdict     ledger.Verdict `json:"verdict"`
	Interrupted bool           `json:"interrupted,omitempty"`
	SalesRate   float64        `json:"sales_per_second"`
	RequestRate float64        `json:"requests_per_second"`
	P50         float64        `json:"p50_ms"`
	P99         float64        `json:"p99_ms"`
	Sold        int64          `json:"sold"` // units, by the ledger, in the last sale
	Over        int64          `json:"over"` // units more than there were, at worst
	LockWait    float64        `json:"lock_wait_ms,omitempty"`

	curve    []loadtest.Percentile
	course   []loadtest.Point
	commands []loadtest.Commands
}

// A Violation is one broken rule, as it was first seen.
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

// A FloorResult is a floor over all rounds.
type FloorResult struct {
	ID      string       `json:"id"`
	Title   string       `json:"title"`
	Rate    Spread       `json:"per_second"`
	Rounds  []FloorRound `json:"rounds"`
	Missing string       `json:"missing,omitempty"` // why there is none
}

// A FloorRound is a floor's turn in one round.
type FloorRound struct {
	Round int     `json:"round"`
	Rate  float64 `json:"per_second"`
}

// Oversold is how many units more than there were the worst sale sold.
func (e *Entry) Oversold() (most int64) {
	for _, r := range e.Rounds {
		most = max(most, r.Over)
	}
	return most
}
