package loadtest

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/numbers"
	"seckill/internal/seckill"
)

// A Range is what a number may be, both ends included.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Check refuses a number that is out of the range; the error is a *seckill.FieldError.
func (r Range) Check(field string, n float64) error {
	if n >= r.Min && n <= r.Max { // nor NaN
		return nil
	}
	told := digits
	if slices.Contains(durations, field) {
		told = func(seconds float64) string { return numbers.Span(time.Duration(seconds * float64(time.Second))) }
	}
	value := ""
	if math.Abs(n) < 1<<53 { // a larger one may not be what was typed, digit by digit
		value = told(n) + " is "
	}
	return &seckill.FieldError{Field: field, Code: "range", Params: params{"min": r.Min, "max": r.Max},
		Detail: fmt.Sprintf("%sout of range: give %s to %s", value, told(r.Min), told(r.Max))}
}

// durations are the fields whose ranges are in seconds.
var durations = []string{"duration", "timeout", "reserve", "turn"}

func digits(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Ranges of a scenario's numbers, durations in seconds. What is beyond is a typing
// error, and would exhaust the machine. The page checks the same.
var Ranges = map[string]Range{
	"sku": {1, maxSKU}, "skus": {1, 10_000}, "zipf": {0, 10}, // 0: all alike
	"stock": {1, seckill.MaxStock}, "quantity": {1, seckill.MaxQuantity}, "buyers": {1, maxRequests},
	"duplicates": {0, 1}, "cancellations": {0, 1}, "copies": {0, 1}, "retry": {0, 20}, "forget": {0, 1},
	"concurrency": {1, 50_000}, "rate": {1e-6, 1_000_000},
	"duration": wait, "timeout": wait,
	"reserve": {1, 60}, // a run waits for its last deadline
}

const maxSKU = 1<<53 - 1 // as of the service

const maxRequests = 10_000_000

// wait is what durations may be: less than a millisecond is a number without its unit.
var wait = Range{.001, (24 * time.Hour).Seconds()}

// numbers are the fields that this scenario uses.
func (s Scenario) numbers() map[string]float64 {
	used := map[string]float64{
		"sku": float64(s.SKU), "skus": float64(s.SKUs), "stock": float64(s.Stock), "quantity": float64(s.Quantity),
		"duplicates": s.Duplicates, "cancellations": s.Cancellations, "copies": s.Copies, "retry": float64(s.Retry),
		"forget": s.Forget, "timeout": s.Timeout.Seconds(),
	}
	if s.SKUs > 1 {
		used["zipf"] = s.Zipf
	}
	if s.Reserve != 0 {
		used["reserve"] = s.Reserve.Seconds()
	}
	if s.Profile == Constant {
		used["rate"], used["duration"] = s.Rate, s.Duration.Seconds()
	} else {
		used["buyers"] = float64(s.Buyers)
	}
	if s.Profile == Closed {
		used["concurrency"] = float64(s.Concurrency)
	}
	return used
}

// Beyond are the errors of the numbers that this scenario uses and that are out of
// their range, if there is one.
func (s Scenario) Beyond(ranges map[string]Range) (errs []error) {
	used := s.normal().numbers()
	for _, field := range slices.Sorted(maps.Keys(used)) {
		if limit, ok := ranges[field]; ok {
			if err := limit.Check(field, used[field]); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// Check finds what makes a run impossible or pointless, without calling any
// service; the error is an ErrConfig and a *seckill.FieldError.
func (s Scenario) Check() error { return Config{Scenario: s}.Check() }

// checkReset refuses a sale whose resets would end that of the lab's shop.
func (s Scenario) checkReset() error {
	if last := s.SKU + int64(s.normal().SKUs) - 1; s.SKU <= ShopSKU && ShopSKU <= last {
		return wrong("sku", "range", nil, "SKUs %d to %d include %d, the lab's shop, whose sale the run would reset: give others", s.SKU, last, int64(ShopSKU))
	}
	return nil
}

// possible finds what makes a run impossible.
func (s Scenario) possible() error {
	s = s.normal()
	if s.Strategy == "" {
		return wrong("strategy", "none", nil, "name one")
	}
	if !slices.Contains(profiles, s.Profile) {
		return wrong("profile", "one_of", params{"values": profiles}, "there is no profile %q, only %s", s.Profile, strings.Trim(fmt.Sprint(profiles), "[]"))
	}
	if errs := s.Beyond(Ranges); errs != nil {
		return fmt.Errorf("%w: %w", ErrConfig, errs[0])
	}
	if last := s.SKU + int64(s.SKUs) - 1; last > maxSKU {
		return wrong("skus", "range", params{"min": 1, "max": maxSKU - s.SKU + 1}, "the last of them would be SKU %d, and %d is the limit", last, int64(maxSKU))
	}
	if err := s.fits(); err != nil {
		return err
	}
	for _, text := range s.Require {
		if _, err := ParseRequirement(text); err != nil {
			return wrong("require", "require", nil, "%v", err)
		}
	}
	if n := s.Requests(); n > maxRequests || s.memory() > MaxMemory {
		return wrong(s.demandField(), "too_many_requests", params{"requests": n, "max": min(maxRequests, int(float64(n)*MaxMemory/s.memory()))}, "%s of %s units: what every buyer is told is kept and judged, "+
			"which would take about %.1f GB of memory, and %.1f GB is the limit; give fewer buyers, a lower rate or a shorter duration, or split the sale into several runs",
			numbers.Count(n, "buyer"), numbers.Thousands(s.Stock*int64(s.SKUs)), s.memory()/(1<<30), float64(MaxMemory)/(1<<30))
	}
	return nil
}

// fits finds fields that do not go together.
func (s Scenario) fits() error {
	for _, wrongly := range []struct {
		so               bool
		field, code, why string
	}{
		{s.Rate != 0 && s.Profile != Constant, "rate", "unused", fmt.Sprintf("it means nothing with the profile %q", s.Profile)},
		{s.Duration != 0 && s.Profile != Constant, "duration", "unused", fmt.Sprintf("it means nothing with the profile %q", s.Profile)},
		{s.Zipf != 0 && s.SKUs < 2, "zipf", "unused", "it means nothing with one SKU"},
		{s.Async && s.Reserve != 0, "async", "unused", "it means nothing with reservations: a reservation is answered at once"},
		{s.Reserve%time.Second != 0, "reserve", "range", "reservations for " + s.Reserve.String() + ": give whole seconds"},
		{s.Reserve == 0 && s.Forget != 0, "reserve", "missing", "only who reserves can forget to pay: give --reserve, such as 2s"},
	} {
		if wrongly.so {
			return wrong(wrongly.field, wrongly.code, nil, "%s", wrongly.why)
		}
	}
	return nil
}

// demandField is the field that says how many buyers there are.
func (s Scenario) demandField() string {
	if _, used := s.numbers()["buyers"]; used {
		return "buyers"
	}
	return "rate"
}

// checkDemand refuses a sale in which nothing can go wrong.
func (s Scenario) checkDemand() error {
	if s.Quantity > s.Stock {
		return wrong("quantity", "too_much", params{"stock": s.Stock}, "every buyer asks for %d units of a stock of %d: no buyer could buy anything", s.Quantity, s.Stock)
	}
	if s.Plenty {
		return nil
	}
	if demand := newPlan(s, nil).demand(); demand <= s.Stock {
		return wrong(s.demandField(), "no_demand", params{"least": s.Stock * int64(s.SKUs) / s.Quantity, "requests": s.Requests()},
			"at most %d units are wanted of any SKU, and each has a stock of %d: nothing could be oversold, so nothing would be proven; "+
				"give more buyers, or less stock (or --plenty)", demand, s.Stock)
	}
	return nil
}

// wrong is an ErrConfig that names the scenario's field as scenario files do.
func wrong(field, code string, params map[string]any, format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrConfig, &seckill.FieldError{Field: field, Detail: fmt.Sprintf(format, args...), Code: code, Params: params})
}

func checkTarget(t string) error {
	u, err := url.Parse(t)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return configError("target %q is not an address such as http://127.0.0.1:8081", t)
	}
	return nil
}
