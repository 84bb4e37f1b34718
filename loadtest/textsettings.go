package loadtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The settings in words.

func (s Settings) open() bool { return s.Profile != "" && s.Profile != Closed }

func (s Settings) skus() string {
	if s.SKUs < 2 {
		return fmt.Sprintf("SKU %d", s.SKU)
	}
	return fmt.Sprintf("SKUs %d to %d, each", s.SKU, s.SKU+int64(s.SKUs)-1)
}

func (s Settings) quantity() string {
	if len(s.Quantities) == 0 {
		return strconv.FormatInt(s.Quantity, 10)
	}
	var each []string
	for _, q := range s.Quantities {
		each = append(each, fmt.Sprintf("%d:%g", q.Quantity, q.Share))
	}
	return strings.Join(each, ",")
}

func (s Settings) pace() string {
	took := time.Duration(s.DurationSeconds * float64(time.Second))
	switch s.Profile {
	case Spike:
		return "all at once"
	case Constant:
		return fmt.Sprintf("%g/s for %s", s.Rate, took)
	case Ramp:
		return fmt.Sprintf("from %g/s to %g/s in %s", s.Rate, s.ToRate, took)
	case Stepped:
		var each []string
		for _, step := range s.Steps {
			each = append(each, fmt.Sprintf("%g/s for %s", step.Rate, step.For))
		}
		return strings.Join(each, ", then ")
	}
	return thousands(s.Concurrency) + " at a time"
}

// mix is what makes a sale less plain.
func (s Settings) mix() string {
	var parts []string
	if s.SKUs > 1 {
		parts = append(parts, fmt.Sprintf("Zipf %g", s.Zipf))
	}
	if s.Duplicates > 0 {
		parts = append(parts, fmt.Sprintf("%g%% ask once more", 100*s.Duplicates))
	}
	if s.Cancellations > 0 {
		parts = append(parts, fmt.Sprintf("%g%% of sales are cancelled", 100*s.Cancellations))
	}
	if s.Copies > 0 {
		parts = append(parts, fmt.Sprintf("%s sent %d times at once", Fraction(s.Copies), copiesEach))
	}
	if s.Retry > 0 {
		parts = append(parts, "up to "+countOf(s.Retry, "retry", "retries"))
	}
	if s.open() {
		parts = append(parts, fmt.Sprintf("at most %s", count(s.Connections, "connection")))
	}
	return strings.Join(parts, " · ")
}
