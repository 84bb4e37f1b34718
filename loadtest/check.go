package loadtest

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"seckill/internal/numbers"
	"seckill/internal/seckill"
)

// Check finds what makes a run impossible or pointless, without calling any
// service; the error is an ErrConfig and an *FieldError.
func (s Scenario) Check() error {
	if err := s.possible(); err != nil {
		return err
	}
	return s.normal().checkDemand()
}

// possible finds what makes a run impossible.
func (s Scenario) possible() error {
	s = s.normal()
	if err := s.checkProfile(); err != nil {
		return err
	}
	if err := s.checkMix(); err != nil {
		return err
	}
	switch n := s.Requests(); {
	case s.Strategy == "":
		return wrong("strategy", "no strategy: name one")
	case s.SKU < 1:
		return wrong("sku", "SKU %d: ids start at 1", s.SKU)
	case s.SKUs < 1 || s.SKUs > maxSKUs:
		return wrong("skus", "%d SKUs: give 1 to %d", s.SKUs, maxSKUs)
	case s.Stock < 1 || s.Stock > seckill.MaxStock:
		return wrong("stock", "a stock of %d: give 1 to %d units", s.Stock, seckill.MaxStock)
	case s.Quantity < 1 || s.Quantity > seckill.MaxQuantity:
		return wrong("quantity", "a quantity of %d: give 1 to %d units", s.Quantity, seckill.MaxQuantity)
	case n < 1 || n > maxRequests:
		return wrong("buyers", "%d buyers: give 1 to %d", n, maxRequests)
	case s.memory() > MaxMemory:
		return wrong("buyers", "%s of %s units: what every buyer is told is kept and judged, which would take about %.1f GB of memory, "+
			"and %.1f GB is the limit; give fewer buyers, a lower rate or a shorter duration, or split the sale into several runs",
			numbers.Count(n, "buyer"), numbers.Thousands(s.Stock*int64(s.SKUs)), s.memory()/(1<<30), float64(MaxMemory)/(1<<30))
	case s.Timeout < shortest:
		return wrong("timeout", "a time-out of %s: give the buyers some time, with its unit: 10s", s.Timeout)
	case s.Timeout > maxDuration:
		return wrong("timeout", "a time-out of %s: give at most %s", s.Timeout, maxDuration)
	case s.FinalWithin < shortest || s.FinalWithin > maxDuration:
		return wrong("final_within", "%s to ask for the final answer: give 1ms to %s", s.FinalWithin, maxDuration)
	case s.Drain < shortest || s.Drain > maxDuration:
		return wrong("drain", "%s for late requests: give 1ms to %s", s.Drain, maxDuration)
	}
	for _, text := range s.Require {
		if _, err := ParseRequirement(text); err != nil {
			return wrong("require", "%v", err)
		}
	}
	return nil
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
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if s.Profile == p {
			return nil
		}
		names[i] = string(p)
	}
	return wrong("profile", "a profile %q: there are %s", s.Profile, strings.Join(names, ", "))
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
	switch {
	case s.Reserve != 0 && (s.Reserve < time.Second || s.Reserve > maxReserve || s.Reserve%time.Second != 0):
		return wrong("reserve", "reservations for %s: give whole seconds, 1s to %s", s.Reserve, maxReserve)
	case s.Reserve == 0 && s.Forget != 0:
		return wrong("forget", "only who reserves can forget to pay: give --reserve, such as 2s")
	case s.Reserve == 0 && s.PayLate != 0:
		return wrong("pay_late", "only a reservation is paid late: give --reserve, such as 2s")
	case s.Forget+s.PayLate > 1:
		return wrong("pay_late", "%s forget and %s pay late: both together are 100%% at most", s.Forget, s.PayLate)
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
		return wrong("quantity", "every buyer asks for %d units of a stock of %d: no buyer could buy anything", least, s.Stock)
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

func (e *FieldError) Error() string { return e.Text }

// wrong is an ErrConfig that names the scenario's field.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrConfig, &FieldError{field, fmt.Sprintf(format, args...)})
}

func checkTarget(t string) error {
	u, err := url.Parse(t)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return configError("target %q is not an address such as http://127.0.0.1:8081", t)
	}
	return nil
}
