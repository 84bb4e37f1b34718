package report

import (
	"fmt"
	"strconv"
	"strings"

	"seckill/internal/numbers"
	"seckill/loadtest"
)

func skus(s loadtest.Scenario) string {
	if s.SKUs < 2 {
		return fmt.Sprintf("SKU %d", s.SKU)
	}
	return fmt.Sprintf("SKUs %d to %d, each", s.SKU, s.SKU+int64(s.SKUs)-1)
}

func quantity(s loadtest.Scenario) string {
	if len(s.Quantities) == 0 {
		return strconv.FormatInt(s.Quantity, 10)
	}
	var each []string
	for _, q := range s.Quantities {
		each = append(each, fmt.Sprintf("%d:%g", q.Quantity, q.Share))
	}
	return strings.Join(each, ",")
}

func pace(s loadtest.Scenario) string {
	switch s.Profile {
	case loadtest.Spike:
		return "all at once"
	case loadtest.Constant:
		return fmt.Sprintf("%g/s for %s", s.Rate, s.Duration)
	case loadtest.Ramp:
		return fmt.Sprintf("from %g/s to %g/s in %s", s.Rate, s.ToRate, s.Duration)
	case loadtest.Stepped:
		var each []string
		for _, step := range s.Steps {
			each = append(each, fmt.Sprintf("%g/s for %s", step.Rate, step.For))
		}
		return strings.Join(each, ", then ")
	}
	return numbers.Thousands(s.Concurrency) + " at a time"
}

// mix lists what buyers do besides buying once.
func mix(s loadtest.Scenario) string {
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
	if s.Reserve > 0 {
		parts = append(parts, fmt.Sprintf("reserved for %s, %s never paid, %s paid late", s.Reserve, s.Forget, s.PayLate))
	}
	if s.Copies > 0 {
		parts = append(parts, fmt.Sprintf("%s sent %d times at once", s.Copies, loadtest.CopiesEach))
	}
	if s.Retry > 0 {
		parts = append(parts, "up to "+numbers.CountOf(s.Retry, "retry", "retries"))
	}
	if s.Async {
		parts = append(parts, "answers in two steps")
	}
	if s.Open() {
		parts = append(parts, fmt.Sprintf("at most %s", numbers.Count(s.Connections, "connection")))
	}
	return strings.Join(parts, " · ")
}
