package loadtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"seckill/loadtest/adapter"
)

// A Scenario says what load is sent to which sale. It is plain data, written by
// flags and scenario files. Everything random follows from Seed: the same
// Scenario sends the same purchases in the same order.
type Scenario struct {
	Strategy string `yaml:"strategy"`
	// ByDefault names no strategy in the requests: Strategy must be the one
	// that the targets were started with, and every answer is checked for it.
	ByDefault bool `yaml:"by_default"`

	// SKUs SKUs, of which SKU is the first, are reset to Stock units each. The
	// k-th is wanted in proportion to 1/k^Zipf: 0 wants all alike, 1 is a sale
	// with one hot key.
	SKU   int64   `yaml:"sku"`
	SKUs  int     `yaml:"skus"` // 0: one
	Stock int64   `yaml:"stock"`
	Zipf  float64 `yaml:"zipf"`

	// Buyers is how many requests are made, where no rate and duration say so.
	// But for duplicates each is of another user.
	Buyers   int   `yaml:"buyers"`
	Quantity int64 `yaml:"quantity"` // units each buyer asks for
	// Quantities, if any, are asked for instead of Quantity.
	Quantities []Share `yaml:"quantities"`
	// Duplicates is the share of requests (0 to 1) in which a buyer who has just
	// asked asks again with another request id. Only one may succeed.
	Duplicates float64 `yaml:"duplicates"`
	// Cancellations is the share of sales whose buyer cancels at once.
	Cancellations float64 `yaml:"cancellations"`
	// Copies is the share of requests that are sent several times at once, under
	// one key and to different targets where there are several. Retry is how
	// often a call, also a cancellation, is made again after no answer, a 5xx,
	// or 409 in_progress.
	Copies Fraction `yaml:"copies"`
	Retry  int      `yaml:"retry"`

	Profile     Profile `yaml:"profile"`     // empty: Closed
	Concurrency int     `yaml:"concurrency"` // buyers at a time, of Closed
	// Connections is the most that all other profiles open; they open another
	// when a request is due and none is free. 0: 1000.
	Connections int           `yaml:"connections"`
	Rate        float64       `yaml:"rate"`    // requests a second: of Constant, and where Ramp begins
	ToRate      float64       `yaml:"to_rate"` // where Ramp ends
	Duration    time.Duration `yaml:"duration"`
	Steps       []Step        `yaml:"steps"`

	Timeout time.Duration `yaml:"timeout"` // a buyer gives up after this long: unknown
	// Drain is how long requests that are late may still be sent after the last
	// was due; the rest is dropped. 0: a minute.
	Drain time.Duration `yaml:"drain"`
	Seed  uint64        `yaml:"seed"`

	// NoHistory keeps no record of single requests: memory does not grow with
	// their number, and the verdict is from sums and the ledger alone.
	NoHistory bool `yaml:"no_history"`
	// Require are thresholds such as "p99<50ms"; see ParseRequirement.
	Require []string `yaml:"require"`

	// Service describes a service that is not ours; nil: ours.
	Service *adapter.Service `yaml:"service"`
}

// A Profile says when requests are sent.
type Profile string

const (
	// Closed: Concurrency workers, each sends when it has its answer. What a stall
	// keeps from being sent is not measured.
	Closed Profile = "closed"
	// Spike: all buyers start together, over connections that are open.
	Spike Profile = "spike"
	// Constant: Rate requests a second for Duration, whatever the answers do.
	Constant Profile = "constant"
	// Ramp: from Rate to ToRate evenly in Duration.
	Ramp Profile = "ramp"
	// Stepped: one constant rate after the other.
	Stepped Profile = "steps"
)

var profiles = []Profile{Closed, Spike, Constant, Ramp, Stepped}

// A Step is a rate, in requests a second, and for how long it is kept.
type Step struct {
	Rate float64       `yaml:"rate" json:"rate"`
	For  time.Duration `yaml:"for" json:"for_ns"`
}

// A Share is a quantity and how often it is asked for, in proportion to the
// other shares.
type Share struct {
	Quantity int64   `yaml:"quantity" json:"quantity"`
	Share    float64 `yaml:"share" json:"share"`
}

// A Fraction is a share from 0 to 1, written as such or in percent: 0.01 or 1%.
type Fraction float64

// UnmarshalText reads a flag or a scenario file.
func (f *Fraction) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.Trim(string(text), "\"' \t"), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is no share: give one from 0 to 1, or in percent: 0.01 or 1%%", text)
	}
	*f = Fraction(v)
	return nil
}

func (f Fraction) String() string { return strconv.FormatFloat(100*float64(f), 'g', 4, 64) + "%" }

// DefaultScenario is what `seckill load` runs when nothing else is asked for.
func DefaultScenario() Scenario {
	return Scenario{Strategy: "conditional", SKU: 1, SKUs: 1, Stock: 100, Buyers: 2000, Quantity: 1,
		Profile: Closed, Concurrency: 64, Timeout: 10 * time.Second, Copies: UsualCopies, Retry: UsualRetry}
}

// Defaults of a load run, so that every run tests exactly-once. Comparisons of
// rates use neither.
const (
	UsualCopies = Fraction(0.01)
	UsualRetry  = 1
)

// Limits of a scenario: what is beyond is a typing error, and would exhaust the
// machine.
const (
	maxBuyers      = 10_000_000 // distinct users, and requests
	maxSKUs        = 10_000
	maxConnections = 50_000
	maxRate        = 1_000_000
	maxDuration    = 24 * time.Hour
	maxRetry       = 20

	shortest         = time.Millisecond // less is a number without its unit
	usualConnections = 1000
	usualDrain       = time.Minute
)

// normal fills in what 0 stands for.
func (s Scenario) normal() Scenario {
	if s.SKUs == 0 {
		s.SKUs = 1
	}
	if s.Profile == "" {
		s.Profile = Closed
	}
	if s.Connections == 0 {
		s.Connections = usualConnections
	}
	if s.Drain == 0 {
		s.Drain = usualDrain
	}
	return s
}

// Open reports whether requests are sent when they are due, whatever becomes of
// those before them.
func (s Scenario) Open() bool { return s.Profile != Closed && s.Profile != "" }

// Requests is how many requests the scenario makes.
func (s Scenario) Requests() int { return s.pacing().requests }
