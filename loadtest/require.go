package loadtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/ledger"
)

// A Requirement is a threshold that a run must meet, beside its verdict.
type Requirement struct {
	Metric string
	Op     string // <, <=, >, >=, ==
	Value  float64
	text   string
}

// A Check is a requirement and what the run came to.
type Check struct {
	Requirement string  `json:"requirement"`
	Actual      float64 `json:"actual"` // in the unit of Unit
	Unit        string  `json:"unit"`   // "us", "1/s", or empty: a number, or a share from 0 to 1
	Met         bool    `json:"met"`
}

// A metric is a number of a run that can be asked for.
type metric struct {
	name, unit string
	of         func(*Result) float64
}

// Units of a Check.
const (
	UnitMicros = "us"
	UnitRate   = "1/s"
)

var requirable = slices.Concat(
	latencies("", func(r *Result) Latency { return r.Latency }),
	latencies("service_", func(r *Result) Latency { return r.ServiceTime }),
	latencies("sold_", func(r *Result) Latency { return r.SoldLatency }),
	[]metric{
		{"rate", UnitRate, func(r *Result) float64 { return r.RequestsPerSec }},
		{"sales_rate", UnitRate, func(r *Result) float64 { return r.SalesPerSec }},
		{"sold", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeSold] + r.Reservations.Paid) }},
		{"sold_out", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeSoldOut]) }},
		{"busy", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeBusy]) }},
		{"conflict", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeConflict]) }},
		{"duplicate", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeDuplicate]) }},
		{"unknown", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeUnknown]) }},
		{"errors", "", func(r *Result) float64 { return float64(r.Counts[ledger.OutcomeError]) }},
		{"late", "", func(r *Result) float64 { return float64(r.Late) }},
		{"dropped", "", func(r *Result) float64 { return float64(r.Dropped) }},
		{"linearizable", "", func(r *Result) float64 {
			if r.Linearizable.Answer == LinearYes {
				return 1
			}
			return 0
		}},
	})

func latencies(prefix string, of func(*Result) Latency) []metric {
	return []metric{
		{prefix + "p50", UnitMicros, func(r *Result) float64 { return float64(of(r).P50) }},
		{prefix + "p90", UnitMicros, func(r *Result) float64 { return float64(of(r).P90) }},
		{prefix + "p99", UnitMicros, func(r *Result) float64 { return float64(of(r).P99) }},
		{prefix + "p99.9", UnitMicros, func(r *Result) float64 { return float64(of(r).P999) }},
		{prefix + "max", UnitMicros, func(r *Result) float64 { return float64(of(r).Max) }},
		{prefix + "mean", UnitMicros, func(r *Result) float64 { return of(r).Mean }},
	}
}

var comparison = regexp.MustCompile(`^\s*([a-z_0-9.]+)\s*(<=|>=|==|<|>)\s*(\S+)\s*$`)

// ParseRequirement reads a threshold: a metric, one of < <= > >= ==, and a
// value. The metrics are p50, p90, p99, p99.9, max and mean, counted from when
// a request was due; the same with service_ before it, counted from when it
// was sent, and with sold_, of sales alone; all with a duration such as 50ms;
// rate and sales_rate, a second; and the counts sold, sold_out, busy,
// conflict, duplicate, unknown, errors, late and dropped, as a number or as a
// share of all requests, such as 0.1%. linearizable==1 is met by a history that
// was looked at and is.
func ParseRequirement(text string) (Requirement, error) {
	m := comparison.FindStringSubmatch(text)
	if m == nil {
		return Requirement{}, fmt.Errorf("a requirement %q: write it like p99<50ms, rate>=1000 or errors==0", text)
	}
	r := Requirement{Metric: m[1], Op: m[2], text: strings.Join(m[1:], "")}
	i := slices.IndexFunc(requirable, func(k metric) bool { return k.name == r.Metric })
	if i < 0 {
		var names []string
		for _, k := range requirable {
			names = append(names, k.name)
		}
		return r, fmt.Errorf("a requirement on %q: there are %s", r.Metric, strings.Join(names, ", "))
	}
	var err error
	switch share, isShare := strings.CutSuffix(m[3], "%"); {
	case requirable[i].unit == UnitMicros:
		var d time.Duration
		d, err = time.ParseDuration(m[3])
		r.Value = float64(d) / float64(time.Microsecond)
		if err != nil {
			err = fmt.Errorf("a requirement %q: %q is no time such as 50ms or 1.5s", text, m[3])
		}
	case isShare && requirable[i].unit == "" && r.Metric != "linearizable":
		r.Value, err = number64(text, share)
		r.Metric, r.Value = r.Metric+"%", r.Value/100
	default:
		r.Value, err = number64(text, m[3])
	}
	if err == nil && !(r.Value >= 0) {
		err = fmt.Errorf("a requirement %q: a value below 0 says nothing", text)
	}
	return r, err
}

func number64(text, value string) (float64, error) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || v > 1e18 {
		return 0, fmt.Errorf("a requirement %q: %q is no number", text, value)
	}
	return v, nil
}

// check holds the requirement against a result.
func (q Requirement) check(r *Result) Check {
	name, isShare := strings.CutSuffix(q.Metric, "%")
	k := requirable[slices.IndexFunc(requirable, func(k metric) bool { return k.name == name })]
	c := Check{Requirement: q.text, Actual: k.of(r), Unit: k.unit}
	if isShare {
		c.Actual /= float64(max(1, r.Requests+r.Dropped))
	}
	switch q.Op {
	case "<":
		c.Met = c.Actual < q.Value
	case "<=":
		c.Met = c.Actual <= q.Value
	case ">":
		c.Met = c.Actual > q.Value
	case ">=":
		c.Met = c.Actual >= q.Value
	case "==":
		c.Met = c.Actual == q.Value
	}
	// A percentile of nothing is 0 and must not meet a limit.
	if r.Requests == 0 || strings.HasPrefix(name, "sold_") && k.unit == UnitMicros && r.Counts[ledger.OutcomeSold]+r.Counts[ledger.OutcomeReserved] == 0 {
		c.Met = false
	}
	return c
}
