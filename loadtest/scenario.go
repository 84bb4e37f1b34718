package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"seckill/internal/seckill"
	"seckill/internal/tables"
)

// ShopSKU is what the shop of `seckill up` sells. A run that does not join the shop's
// sale leaves it out: it would reset it.
const ShopSKU = 1_000_000

// A Scenario says what load is sent to which sale. It is plain data, written by
// scenario files and flags, in this order, and repeated in results. Everything random follows from Seed:
// the same Scenario sends the same purchases in the same order.
type Scenario struct {
	Strategy string `json:"strategy,omitempty" yaml:"strategy" kong:"-"`
	Stock    int64  `json:"stock" yaml:"stock" group:"sale" placeholder:"N" help:"Units of each SKU (${LoadStock})."`
	SKU      int64  `json:"sku_id" yaml:"sku" name:"sku" group:"rare" placeholder:"ID" help:"The SKU that is sold, or the first of several (${LoadSKU})."`
	// SKUs 0 is 1.
	SKUs int     `json:"skus" yaml:"skus" name:"skus" group:"sale" placeholder:"N" help:"How many SKUs are sold, from --sku on (${LoadSKUs})."`
	Zipf float64 `json:"zipf,omitempty" yaml:"zipf" group:"sale" placeholder:"S" help:"Demand for the k-th SKU: 1/k^S; 1.5: one is hot (${LoadZipf}: even)."`
	// Plenty: nothing can be oversold, so that only the speed and lost updates show.
	Plenty bool `json:"plenty,omitempty" yaml:"plenty" group:"rare" help:"There may be more stock than buyers want."`

	// Buyers is how many requests are made, where no rate and duration say so.
	// But for duplicates each is of another user.
	Buyers   int   `json:"buyers" yaml:"buyers" group:"sale" placeholder:"N" help:"Purchases, each by another user (${LoadBuyers})."`
	Quantity int64 `json:"quantity" yaml:"quantity" group:"sale" placeholder:"N" help:"Units that each buyer asks for (${LoadQuantity})."`
	// Duplicates are asked with another request id. Only one may succeed.
	Duplicates    float64 `json:"duplicates,omitempty" yaml:"duplicates" group:"rare" placeholder:"SHARE" help:"Share of buyers who ask a second time (load: ${LoadDuplicates}, compare: none)."`
	Cancellations float64 `json:"cancellations,omitempty" yaml:"cancellations" group:"rare" placeholder:"SHARE" help:"Share of sales that are cancelled at once (load: ${LoadCancellations}, compare: none)."`
	// Reserve has buyers reserve, and pay by a second call; 0: they buy at once. Those
	// who cancel do not pay.
	Reserve time.Duration `json:"reserve_ns,omitempty" yaml:"reserve" group:"sale" placeholder:"D" help:"Buyers reserve for 1s to 60s, and pay later."`
	Forget  float64       `json:"forget,omitempty" yaml:"forget" group:"rare" placeholder:"SHARE" help:"Share of reservations that are never paid."`
	// Async: the strategy must be able to accept, or every answer is final as without.
	Async bool `json:"async,omitempty" yaml:"async" group:"sale" help:"Ask for answers in two steps."`
	// Copies go to different targets where there are several.
	Copies float64 `json:"copies,omitempty" yaml:"copies" group:"rare" placeholder:"SHARE" help:"Share of requests that are sent three times (load: ${LoadCopies}, compare: none)."`
	// Cuts: the buyer hangs up while a call is under way, and then makes it again.
	Cuts  float64 `json:"cuts,omitempty" yaml:"cuts" group:"rare" placeholder:"SHARE" help:"Share of buyers who hang up before the answer (${LoadCuts})."`
	Retry int     `json:"retry,omitempty" yaml:"retry" group:"rare" placeholder:"N" help:"Calls again, under the same key (load: ${LoadRetry}, compare: none)."`

	Profile     Profile       `json:"profile" yaml:"profile" group:"time" placeholder:"NAME" help:"closed (the default), or an open loop: spike, constant."` // empty: Closed
	Concurrency int           `json:"concurrency" yaml:"concurrency" group:"time" placeholder:"N" help:"Buyers at a time (${LoadConcurrency})."`
	Rate        float64       `json:"rate,omitempty" yaml:"rate" group:"time" placeholder:"R" help:"Requests a second."`
	Duration    time.Duration `json:"duration_ns,omitempty" yaml:"duration" group:"time" placeholder:"D" help:"How long requests are sent."`
	Timeout     time.Duration `json:"timeout_ns" yaml:"timeout" group:"rare" placeholder:"D" help:"A buyer gives up after this long (${LoadTimeout})."` // the outcome is unknown
	Seed        uint64        `json:"seed,string" yaml:"seed" group:"time" placeholder:"N" help:"The same seed sends the same buyers in the same order (random)."`

	// Require are read by ParseRequirement.
	Require []string `json:"require,omitempty" yaml:"require" group:"rare" placeholder:"METRIC<VALUE" help:"A threshold that must be met, too, such as p99<50ms or errors==0."`
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
)

var profiles = []Profile{Closed, Spike, Constant}

// DefaultScenario is what `seckill load` runs when nothing else is asked for. With its
// copies, retries, duplicates and cancellations every run tests exactly-once, one order per
// user, and units that come back; comparisons of rates have none.
func DefaultScenario() Scenario {
	return Scenario{Strategy: "conditional", SKU: 1, SKUs: 1, Stock: 100, Buyers: 2000, Quantity: 1,
		Profile: Closed, Concurrency: 64, Timeout: 10 * time.Second, Duplicates: 0.05, Cancellations: 0.03, Copies: 0.01, Retry: 1}
}

// ThoroughScenario has all that can go wrong in one sale, but reservations, which few strategies have.
func ThoroughScenario() Scenario {
	s := DefaultScenario()
	s.Stock, s.Buyers, s.Cancellations, s.Copies, s.Cuts, s.Retry = 300, 1000, 0.2, 0.1, 0.1, 6
	return s
}

// Every call of a run is kept until it has been judged, in at most MaxMemory bytes.
// A run that would need more is not started.
const (
	MaxMemory   = 1 << 30
	bytesACall  = 480 // its record, and what the judge makes of it
	bytesAnUnit = 550 // of the orders in the ledger: one a unit
)

// memory is about what judging takes if every call is answered.
func (s Scenario) expectedMemory() float64 {
	requests := float64(s.Requests())
	sales := min(requests, float64(s.Stock)*float64(s.SKUs)/max(0, 1-s.Cancellations-s.Forget)) // what is given back is sold again
	calls := requests * (1 + s.Copies*(CopiesEach-1))
	if s.Reserve > 0 || s.Async || s.Cancellations > 0 { // a second call about what was sold
		calls += sales
	}
	return calls*bytesACall + sales*bytesAnUnit
}

// normal fills in what 0 stands for.
func (s Scenario) withDefaults() Scenario {
	if s.SKUs == 0 {
		s.SKUs = 1
	}
	if s.Profile == "" {
		s.Profile = Closed
	}
	return s
}

// Open reports whether requests are sent when they are due, whatever becomes of
// those before them.
func (s Scenario) Open() bool { return s.Profile != Closed && s.Profile != "" }

// Requests is how many requests the scenario makes; too many are some more than
// are allowed.
func (s Scenario) Requests() int {
	if s.Profile != Constant {
		return s.Buyers
	}
	// A product such as 0.1 × 30 must not lose its last request to rounding.
	return int(min(math.Ceil(s.Rate*s.Duration.Seconds()-1e-9), maxRequests+1))
}

// due is when request i should be sent, counted from the start of the run. In a
// closed loop no request has a time: a worker sends it when it is free.
func (s Scenario) dueAt(i int) time.Duration {
	if s.Profile != Constant {
		return 0
	}
	return time.Duration(float64(i) / s.Rate * float64(time.Second))
}

// ReadScenario reads a Scenario from a YAML file over base, with the fields' names
// from their tags. Unknown fields are refused; missing ones keep base's value. The
// error is an ErrConfig.
func ReadScenario(path string, base Scenario) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return base, configError("%v", err)
	}
	s := base
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err = d.Decode(&s); err == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
		err = errors.New("there are several documents in it: keep one")
	}
	switch {
	case errors.Is(err, io.EOF):
		return base, configError("%s: there is nothing in it", path)
	case err != nil: // the library shows a page of source below its line
		text, _, _ := strings.Cut(err.Error(), "\n")
		return base, configError("%s: %s", path, text)
	}
	return s, nil
}

// Command is the command line that holds the sale of s again, with the same
// buyers.
func (s Scenario) Command() string {
	usual := DefaultScenario().withDefaults()
	if s.Open() { // what the profile does not use is refused
		s.Concurrency = usual.Concurrency
	}
	if s.Profile == Constant {
		s.Buyers = usual.Buyers
	}
	return "seckill load --strategy " + s.Strategy + Flags(s.withDefaults(), usual)
}

// Flags are those that make usual into s, a struct whose fields have them, each
// after a space. What only files can say is left out.
func Flags(s, usual any) string {
	is, was := reflect.ValueOf(s), reflect.ValueOf(usual)
	var b strings.Builder
	for _, f := range reflect.VisibleFields(is.Type()) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("kong") == "-" || f.Tag.Get("help") == "" {
			continue
		}
		v := is.FieldByIndex(f.Index)
		if reflect.DeepEqual(v.Interface(), was.FieldByIndex(f.Index).Interface()) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, "_ns"), "_id"), "_", "-")
		text, between := fmt.Sprint(v.Interface()), " "
		switch v.Kind() {
		case reflect.Bool:
			between = "="
		case reflect.Slice:
			text = strings.ReplaceAll(strings.Trim(text, "[]"), " ", ",")
		}
		if strings.ContainsAny(text, "<>!") { // requirements
			text = "'" + text + "'"
		}
		b.WriteString(" --" + name + between + text)
	}
	return b.String()
}

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
	told := formatNumber
	if slices.Contains(durationFields, field) {
		told = func(seconds float64) string { return tables.Span(time.Duration(seconds * float64(time.Second))) }
	}
	value := ""
	if math.Abs(n) < 1<<53 { // a larger one may not be what was typed, digit by digit
		value = told(n) + " is "
	}
	return &seckill.FieldError{Field: field, Code: "range", Params: params{"min": r.Min, "max": r.Max},
		Detail: fmt.Sprintf("%sout of range: give %s to %s", value, told(r.Min), told(r.Max))}
}

// durations are the fields whose ranges are in seconds.
var durationFields = []string{"duration", "timeout", "reserve", "turn"}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Ranges of a scenario's numbers, durations in seconds. What is beyond is a typing
// error, and would exhaust the machine. The page checks the same.
var Ranges = map[string]Range{
	"sku": {1, maxSKU}, "skus": {1, 10_000}, "zipf": {0, 10}, // 0: all alike
	"stock": {1, seckill.MaxStock}, "quantity": {1, seckill.MaxQuantity}, "buyers": {1, maxRequests},
	"duplicates": {0, 1}, "cancellations": {0, 1}, "copies": {0, 1}, "cuts": {0, 1}, "retry": {0, 20}, "forget": {0, 1},
	"concurrency": {1, 50_000}, "rate": {1e-6, 1_000_000},
	"duration": durationRange, "timeout": durationRange,
	"reserve": {1, 60}, // a run waits for its last deadline
}

const maxSKU = 1<<53 - 1 // as of the service

const maxRequests = 10_000_000

// wait is what durations may be: less than a millisecond is a number without its unit.
var durationRange = Range{.001, (24 * time.Hour).Seconds()}

// numbers are the fields that this scenario uses.
func (s Scenario) numericFields() map[string]float64 {
	used := map[string]float64{
		"sku": float64(s.SKU), "skus": float64(s.SKUs), "stock": float64(s.Stock), "quantity": float64(s.Quantity),
		"duplicates": s.Duplicates, "cancellations": s.Cancellations, "copies": s.Copies, "cuts": s.Cuts, "retry": float64(s.Retry),
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
func (s Scenario) CheckRanges(ranges map[string]Range) (errs []error) {
	used := s.withDefaults().numericFields()
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
	if last := s.SKU + int64(s.withDefaults().SKUs) - 1; s.SKU <= ShopSKU && ShopSKU <= last {
		return fieldError("sku", "range", nil, "SKUs %d to %d include %d, the lab's shop, whose sale the run would reset: give others", s.SKU, last, int64(ShopSKU))
	}
	return nil
}

// possible finds what makes a run impossible.
func (s Scenario) checkPossible() error {
	s = s.withDefaults()
	if s.Strategy == "" {
		return fieldError("strategy", "none", nil, "name one")
	}
	if !slices.Contains(profiles, s.Profile) {
		return fieldError("profile", "one_of", params{"values": profiles}, "there is no profile %q, only %s", s.Profile, strings.Trim(fmt.Sprint(profiles), "[]"))
	}
	if errs := s.CheckRanges(Ranges); errs != nil {
		return fmt.Errorf("%w: %w", ErrConfig, errs[0])
	}
	if last := s.SKU + int64(s.SKUs) - 1; last > maxSKU {
		return fieldError("skus", "range", params{"min": 1, "max": maxSKU - s.SKU + 1}, "the last of them would be SKU %d, and %d is the limit", last, int64(maxSKU))
	}
	if err := s.checkFields(); err != nil {
		return err
	}
	for _, text := range s.Require {
		if _, err := ParseRequirement(text); err != nil {
			return fieldError("require", "require", nil, "%v", err)
		}
	}
	if n := s.Requests(); n > maxRequests || s.expectedMemory() > MaxMemory {
		return fieldError(s.demandField(), "too_many_requests", params{"requests": n, "max": min(maxRequests, int(float64(n)*MaxMemory/s.expectedMemory()))}, "%s of %s units: what every buyer is told is kept and judged, "+
			"which would take about %.1f GB of memory, and %.1f GB is the limit; give fewer buyers, a lower rate or a shorter duration, or split the sale into several runs",
			tables.Count(n, "buyer"), tables.Thousands(s.Stock*int64(s.SKUs)), s.expectedMemory()/(1<<30), float64(MaxMemory)/(1<<30))
	}
	return nil
}

// fits finds fields that do not go together.
func (s Scenario) checkFields() error {
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
			return fieldError(wrongly.field, wrongly.code, nil, "%s", wrongly.why)
		}
	}
	return nil
}

// demandField is the field that says how many buyers there are.
func (s Scenario) demandField() string {
	if _, used := s.numericFields()["buyers"]; used {
		return "buyers"
	}
	return "rate"
}

// checkDemand refuses a sale in which nothing can go wrong.
func (s Scenario) checkDemand() error {
	if s.Quantity > s.Stock {
		return fieldError("quantity", "too_much", params{"stock": s.Stock}, "every buyer asks for %d units of a stock of %d: no buyer could buy anything", s.Quantity, s.Stock)
	}
	if s.Plenty {
		return nil
	}
	if demand := newPlan(s, nil).maxDemand(); demand <= s.Stock {
		return fieldError(s.demandField(), "no_demand", params{"least": s.Stock * int64(s.SKUs) / s.Quantity, "requests": s.Requests()},
			"at most %d units are wanted of any SKU, and each has a stock of %d: nothing could be oversold, so nothing would be proven; "+
				"give more buyers, or less stock (or --plenty)", demand, s.Stock)
	}
	return nil
}

// wrong is an ErrConfig that names the scenario's field as scenario files do.
func fieldError(field, code string, params map[string]any, format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrConfig, &seckill.FieldError{Field: field, Detail: fmt.Sprintf(format, args...), Code: code, Params: params})
}

func checkTarget(t string) error {
	u, err := url.Parse(t)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return configError("target %q is not an address such as http://127.0.0.1:8081", t)
	}
	return nil
}
