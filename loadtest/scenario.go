package loadtest

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"seckill/internal/seckill"
)

// A Scenario says what load is put on which sale. It is plain data: flags and
// scenario files are two ways of writing one. Everything that is random in a
// run follows from Seed, so that the same Scenario sends the same purchases in
// the same order.
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
	// Duplicates is the share of requests (0 to 1) in which somebody who has
	// just asked asks once more, with another request id. Only one may succeed.
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

	// Service describes somebody else's service; nil: ours.
	Service *Adapter `yaml:"service"`
}

// A Profile says when requests are sent.
type Profile string

const (
	// Closed: Concurrency workers, each sends when it has its answer. What
	// a stall keeps from being sent is not measured.
	Closed Profile = "closed"
	// Spike: all buyers are released together, over connections that are open.
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

// DefaultScenario is what `seckill load` runs when nothing else is asked for.
func DefaultScenario() Scenario {
	return Scenario{Strategy: "conditional", SKU: 1, SKUs: 1, Stock: 100, Buyers: 2000, Quantity: 1,
		Profile: Closed, Concurrency: 64, Timeout: 10 * time.Second, Copies: UsualCopies, Retry: UsualRetry}
}

// What a load test does by default, so that exactly-once is tested in every
// run. Where rates are compared, neither is done.
const (
	UsualCopies = Fraction(0.01)
	UsualRetry  = 1
)

// Limits of a scenario: what is beyond is a slip of the pen, and would exhaust
// the machine before it told anything.
const (
	maxBuyers      = 10_000_000 // distinct users, and requests
	maxSKUs        = 10_000
	maxConnections = 50_000
	maxRate        = 1_000_000
	maxDuration    = 24 * time.Hour
	maxRetry       = 20

	shortest         = time.Millisecond // less is a number whose unit was forgotten
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

// Open reports whether requests are sent when they are due, whatever becomes
// of those before them.
func (s Scenario) Open() bool { return s.Profile != Closed && s.Profile != "" }

// Requests is how many requests the scenario makes.
func (s Scenario) Requests() int { return s.schedule().requests }

// Check finds what makes a run impossible or pointless, without touching any
// service; the error is an ErrConfig and a *FieldError.
func (s Scenario) Check() error {
	s = s.normal()
	if err := s.checkProfile(); err != nil {
		return err
	}
	if err := s.checkMix(); err != nil {
		return err
	}
	switch n := s.Requests(); {
	case s.Strategy == "" && s.Service == nil:
		return wrong("strategy", "no strategy: name one")
	case s.Strategy != "" && s.Service != nil:
		return wrong("strategy", "a foreign service has no strategies of ours: leave it out")
	case s.SKU < 1:
		return wrong("sku", "SKU %d: ids start at 1", s.SKU)
	case s.SKUs < 1 || s.SKUs > maxSKUs:
		return wrong("skus", "%d SKUs: give 1 to %d", s.SKUs, maxSKUs)
	case s.Stock < 1 || s.Stock > seckill.MaxStock:
		return wrong("stock", "a stock of %d: give 1 to %d units", s.Stock, seckill.MaxStock)
	case s.Quantity < 1 || s.Quantity > seckill.MaxQuantity:
		return wrong("quantity", "a quantity of %d: give 1 to %d units", s.Quantity, seckill.MaxQuantity)
	case n < 1 || n > maxBuyers:
		return wrong("buyers", "%d buyers: give 1 to %d", n, maxBuyers)
	case s.Timeout < shortest:
		return wrong("timeout", "a time-out of %s: give the buyers some time, with its unit: 10s", s.Timeout)
	case s.Timeout > maxDuration:
		return wrong("timeout", "a time-out of %s: give at most %s", s.Timeout, maxDuration)
	case s.Drain < shortest || s.Drain > maxDuration:
		return wrong("drain", "%s for late requests: give 1ms to %s", s.Drain, maxDuration)
	}
	for _, text := range s.Require {
		if _, err := ParseRequirement(text); err != nil {
			return wrong("require", "%v", err)
		}
	}
	if s.Service != nil {
		if _, err := s.Service.protocol(s.Cancellations > 0); err != nil {
			return err
		}
		if err := s.checkKeyed(); err != nil {
			return err
		}
	}
	return s.checkDemand()
}

func (s Scenario) checkProfile() error {
	rated := s.Profile == Constant || s.Profile == Ramp
	switch {
	case s.Profile == Closed && s.Concurrency < 1:
		return wrong("concurrency", "a concurrency of %d: let at least one buyer in at a time", s.Concurrency)
	case s.Profile == Closed && s.Concurrency > maxConnections:
		return wrong("concurrency", "a concurrency of %d: give at most %d", s.Concurrency, maxConnections)
	case s.Connections < 1 || s.Connections > maxConnections:
		return wrong("connections", "%d connections: give 1 to %d", s.Connections, maxConnections)
	case rated && !within(s.Rate, maxRate):
		return wrong("rate", "a rate of %g: give more than 0 and at most %d requests a second", s.Rate, maxRate)
	case s.Profile == Ramp && !within(s.ToRate, maxRate):
		return wrong("to_rate", "a ramp to %g: give more than 0 and at most %d requests a second", s.ToRate, maxRate)
	case rated && (s.Duration < shortest || s.Duration > maxDuration):
		return wrong("duration", "a duration of %s: give 1ms to %s, with its unit: 10s", s.Duration, maxDuration)
	case s.Profile == Stepped && len(s.Steps) == 0:
		return wrong("steps", "no steps: give at least one, such as 100x10s")
	}
	for i, step := range s.Steps {
		if !within(step.Rate, maxRate) || step.For < shortest || step.For > maxDuration {
			return wrong(fmt.Sprintf("steps[%d]", i), "%g requests a second for %s: give more than 0 and at most %d, for at most %s",
				step.Rate, step.For, maxRate, maxDuration)
		}
	}
	for _, unused := range []struct {
		field string
		given bool
	}{
		{"rate", s.Rate != 0 && !rated}, {"to_rate", s.ToRate != 0 && s.Profile != Ramp},
		{"duration", s.Duration != 0 && !rated}, {"steps", s.Steps != nil && s.Profile != Stepped},
	} {
		if unused.given {
			return wrong(unused.field, "%s means nothing with the profile %q", unused.field, s.Profile)
		}
	}
	for _, p := range profiles {
		if s.Profile == p {
			return nil
		}
	}
	return wrong("profile", "a profile %q: there are %s", s.Profile, strings.Join(strs(profiles), ", "))
}

func (s Scenario) checkMix() error {
	for _, share := range []struct {
		field string
		value float64
	}{{"duplicates", s.Duplicates}, {"cancellations", s.Cancellations}, {"copies", float64(s.Copies)}} {
		if !(share.value >= 0 && share.value <= 1) {
			return wrong(share.field, "%s of %g: give a share from 0 to 1", share.field, share.value)
		}
	}
	if s.Retry < 0 || s.Retry > maxRetry {
		return wrong("retry", "%d retries: give 0 to %d", s.Retry, maxRetry)
	}
	if !(s.Zipf >= 0 && s.Zipf <= 10) {
		return wrong("zipf", "a Zipf exponent of %g: give 0 (all alike) to 10", s.Zipf)
	}
	for i, q := range s.Quantities {
		if q.Quantity < 1 || q.Quantity > seckill.MaxQuantity || !within(q.Share, math.MaxInt32) {
			return wrong(fmt.Sprintf("quantities[%d]", i), "a quantity of %d in the share %g: give 1 to %d units, and a share above 0",
				q.Quantity, q.Share, seckill.MaxQuantity)
		}
	}
	return nil
}

func within(v, most float64) bool { return v > 0 && v <= most } // neither is NaN

// checkDemand refuses a sale in which nothing can go wrong.
func (s Scenario) checkDemand() error {
	least := s.Quantity
	if len(s.Quantities) > 0 {
		least = s.Quantities[0].Quantity
		for _, q := range s.Quantities {
			least = min(least, q.Quantity)
		}
	}
	if least > s.Stock {
		return wrong("quantity", "every buyer asks for %d units of a stock of %d: nobody could buy anything", least, s.Stock)
	}
	n := s.Requests()
	if s.SKUs == 1 && s.Duplicates == 0 && len(s.Quantities) == 0 {
		if demand := int64(n) * s.Quantity; demand <= s.Stock {
			return wrong("buyers", "%d buyers × %d = %d units wanted of a stock of %d: nothing could be oversold, so nothing would be proven; "+
				"give more than %d buyers, or less stock", n, s.Quantity, demand, s.Stock, s.Stock/s.Quantity)
		}
		return nil
	}
	if demand := newPlan(s, nil).demand(); demand <= s.Stock {
		return wrong("buyers", "at most %d units are wanted of any SKU, and each has a stock of %d: nothing could be oversold, "+
			"so nothing would be proven; give more buyers, or less stock", demand, s.Stock)
	}
	return nil
}

// A FieldError says which field of a scenario is wrong, and how.
type FieldError struct {
	Field string // as scenario files name it
	Text  string
}

func (e *FieldError) Error() string { return ErrConfig.Error() + ": " + e.Text }

func (e *FieldError) Unwrap() error { return ErrConfig }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

func checkTarget(t string) error {
	u, err := url.Parse(t)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return configError("target %q is not an address such as http://127.0.0.1:8081", t)
	}
	return nil
}

func strs[S ~string](all []S) (texts []string) {
	for _, s := range all {
		texts = append(texts, string(s))
	}
	return texts
}
