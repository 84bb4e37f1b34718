package loadtest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/judge"
)

// A Requirement is a limit for one figure that a run must keep, in addition to its verdict.
type Requirement struct {
	Metric string
	Op     string // one of <, <=, >, >=, ==
	Value  float64
	text   string
}

// A Check says whether a run met a requirement.
type Check struct {
	Requirement string  `json:"requirement"`
	Actual      float64 `json:"actual"` // the figure of the run; a time is in milliseconds
	Met         bool    `json:"met"`
}

// metricsByName has the figures of a run that a requirement can name. Times are in milliseconds.
var metricsByName = map[string]func(*Result) float64{
	"p50":      func(r *Result) float64 { return toMillis(r.Latency.P50) },
	"p90":      func(r *Result) float64 { return toMillis(r.Latency.P90) },
	"p99":      func(r *Result) float64 { return toMillis(r.Latency.P99) },
	"p99.9":    func(r *Result) float64 { return toMillis(r.Latency.P999) },
	"max":      func(r *Result) float64 { return toMillis(r.Latency.Max) },
	"sold_p99": func(r *Result) float64 { return toMillis(r.SoldLatency.P99) },
	// These are rates per second, of answered requests and of sales.
	"rate":       func(r *Result) float64 { return r.RequestsPerSec },
	"sales_rate": func(r *Result) float64 { return r.SalesPerSec },
	// These are numbers of requests with the named outcome.
	"sold":     (*Result).Sales,
	"sold_out": countOf(judge.OutcomeSoldOut),
	"busy":     countOf(judge.OutcomeBusy),
	"conflict": countOf(judge.OutcomeConflict),
	"unknown":  countOf(judge.OutcomeUnknown),
	"errors":   countOf(judge.OutcomeError),
	"late":     func(r *Result) float64 { return float64(r.Late) },
	"dropped":  func(r *Result) float64 { return float64(r.Dropped) },
}

var timeMetrics = []string{"p50", "p90", "p99", "p99.9", "max", "sold_p99"}

func toMillis(micros int64) float64 { return float64(micros) / 1000 }

func countOf(o judge.Outcome) func(*Result) float64 {
	return func(r *Result) float64 { return float64(r.Counts[o]) }
}

var comparison = regexp.MustCompile(`^\s*([a-z_0-9.]+)\s*(<=|>=|==|<|>)\s*(\S+)\s*$`)

// ParseRequirement parses a requirement: a metric, one of < <= > >= ==, and a value. The value is a duration
// such as 50ms if the metric is a time, otherwise a number.
func ParseRequirement(text string) (Requirement, error) {
	m := comparison.FindStringSubmatch(text)
	if m == nil {
		return Requirement{}, fmt.Errorf("requirement %q: write it like p99<50ms, rate>=1000 or errors==0", text)
	}
	r := Requirement{Metric: m[1], Op: m[2], text: strings.Join(m[1:], "")}
	if metricsByName[r.Metric] == nil {
		known := strings.Join(slices.Sorted(maps.Keys(metricsByName)), ", ")
		return r, fmt.Errorf("requirement on %q: there is no such metric; there are %s", r.Metric, known)
	}
	if slices.Contains(timeMetrics, r.Metric) {
		d, err := time.ParseDuration(m[3])
		r.Value = float64(d) / float64(time.Millisecond)
		if err != nil || d < 0 {
			return r, fmt.Errorf("requirement %q: %q is not a time such as 50ms or 1.5s", text, m[3])
		}
		return r, nil
	}
	var err error
	if r.Value, err = strconv.ParseFloat(m[3], 64); err != nil || !(r.Value >= 0 && r.Value <= 1e18) {
		return r, fmt.Errorf("requirement %q: %q is not a number ≥ 0", text, m[3])
	}
	return r, nil
}

func (q Requirement) checkResult(r *Result) Check {
	c := Check{Requirement: q.text, Actual: metricsByName[q.Metric](r)}
	order := cmp.Compare(c.Actual, q.Value)
	c.Met = strings.ContainsRune(q.Op, rune("<=>"[order+1]))
	// Without answers every percentile is 0, which must not pass as a latency below a limit.
	if r.Requests == 0 || q.Metric == "sold_p99" && r.Counts[judge.OutcomeSold]+r.Counts[judge.OutcomeReserved] == 0 {
		c.Met = false
	}
	return c
}
