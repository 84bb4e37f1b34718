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

// A Scenario says what load is sent to which sale. A scenario file sets the fields, flags override the
// file, and a Result repeats the fields. All random choices follow from Seed: the same Scenario sends the same
// purchases in the same order.
type Scenario struct {
	Strategy string  `json:"strategy,omitempty" kong:"-"`
	Stock    int64   `json:"stock" group:"sale" placeholder:"N" help:"${Stock}"`
	SKU      int64   `json:"sku_id" yaml:"sku" name:"sku" group:"rare" placeholder:"ID" help:"${SKU}"`
	SKUs     int     `json:"skus" name:"skus" group:"sale" placeholder:"N" help:"${SKUs}"` // the number of SKUs on sale
	Zipf     float64 `json:"zipf,omitempty" group:"sale" placeholder:"S" help:"${Zipf}"`
	// Plenty allows more stock than the buyers want. Such a run shows the speed and lost updates, but nothing
	// can be oversold.
	Plenty bool `json:"plenty,omitempty" group:"rare" help:"${Plenty}"`
	// Restock has texts such as 50@0.5s: add 50 units after half a second. parseRestock reads them.
	Restock []string `json:"restock,omitempty" group:"sale" placeholder:"UNITS@TIME" help:"${Restock}"`

	// Buyers is the number of requests. With the profile Constant, it follows from Rate and Duration. Each
	// request comes from a different user, except for duplicates.
	Buyers   int   `json:"buyers" group:"sale" placeholder:"N" help:"${Buyers}"`
	Quantity int64 `json:"quantity" group:"sale" placeholder:"N" help:"${Quantity}"`
	// Duplicates is the share of requests by a user who has already sent a request with another key. Only one
	// of a user's requests may succeed.
	Duplicates    float64 `json:"duplicates,omitempty" group:"rare" placeholder:"SHARE" help:"${Duplicates}"`
	Cancellations float64 `json:"cancellations,omitempty" group:"rare" placeholder:"SHARE" help:"${Cancellations}"`
	// Reserve is how long units are reserved for a buyer, who pays with a second call. Buyers who cancel do
	// not pay. If Reserve is 0, buyers do not reserve.
	Reserve time.Duration `json:"reserve_ns,omitempty" yaml:"reserve" group:"sale" placeholder:"D" help:"${Reserve}"`
	Forget  float64       `json:"forget,omitempty" group:"rare" placeholder:"SHARE" help:"${Forget}"`
	// Async asks services to accept a purchase first and to sell later. A strategy that cannot do so
	// gives its final answer at once.
	Async bool `json:"async,omitempty" group:"sale" help:"${Async}"`
	// Copies is the share of requests that are sent several times at once, to different targets.
	Copies float64 `json:"copies,omitempty" group:"rare" placeholder:"SHARE" help:"${Copies}"`
	// Cuts is the share of requests whose buyer hangs up during the first call and then sends the request again.
	Cuts  float64 `json:"cuts,omitempty" group:"rare" placeholder:"SHARE" help:"${Cuts}"`
	Retry int     `json:"retry,omitempty" group:"rare" placeholder:"N" help:"${Retry}"`

	Profile     Profile       `json:"profile" group:"time" placeholder:"NAME" help:"${Profile}"`
	Concurrency int           `json:"concurrency" group:"time" placeholder:"N" help:"${Concurrency}"`
	Rate        float64       `json:"rate,omitempty" group:"time" placeholder:"R" help:"${Rate}"`
	Duration    time.Duration `json:"duration_ns,omitempty" yaml:"duration" group:"time" help:"${Duration}"`
	Timeout     time.Duration `json:"timeout_ns" yaml:"timeout" group:"rare" placeholder:"D" help:"${Timeout}"`
	Seed        uint64        `json:"seed,string" yaml:"seed" group:"time" placeholder:"N" help:"${Seed}"`

	// Require has texts such as p99<50ms, which ParseRequirement reads.
	Require []string `json:"require,omitempty" group:"rare" placeholder:"METRIC<VALUE" help:"${Require}"`
}

// FlagHelp returns the help texts of the flags of a Scenario, by their names in the tags.
func FlagHelp() map[string]string {
	d := DefaultScenario()
	inBoth := func(load any) string { return fmt.Sprintf(" (load: %v, compare: 0).", load) }
	return map[string]string{
		"Strategy": "How the stock is deducted (" + d.Strategy + ").",
		"Stock":    fmt.Sprintf("Units on sale of each SKU (%d).", d.Stock),
		"SKU":      fmt.Sprintf("Number of the SKU, or of the first of several (%d).", d.SKU),
		"SKUs":     fmt.Sprintf("How many SKUs are on sale, numbered from --sku on (%d).", d.SKUs),
		"Zipf":     "Make the k-th SKU wanted 1/k^S as often as the first: 1.5 makes one SKU hot (0: all alike).",
		"Plenty":   "Allow more stock than the buyers want. Then nothing can be oversold.",
		"Restock":  "Units to add to each SKU while it is sold, such as 50@0.5s; may be repeated.",

		"Buyers":        fmt.Sprintf("How many buyers come, each with one purchase (%d).", d.Buyers),
		"Quantity":      fmt.Sprintf("Units that each buyer wants (%d).", d.Quantity),
		"Duplicates":    "Share of buyers who try to buy a second time" + inBoth(d.Duplicates),
		"Cancellations": "Share of buyers who cancel at once" + inBoth(d.Cancellations),
		"Reserve":       "Buyers first reserve for this long (1s to 60s) and then pay.",
		"Forget":        "Share of buyers who never pay for what they reserved.",
		"Async":         "Ask the service to accept first and to decide later, if the strategy can.",
		"Copies":        "Share of purchases that are sent three times at once" + inBoth(d.Copies),
		"Cuts":          "Share of buyers who hang up before the answer comes (0).",
		"Retry": "How often a buyer repeats a call without a clear answer, under the same key" +
			inBoth(d.Retry),

		"Profile": "When buyers come: closed (the default): the next when one has an answer; spike: all at once; " +
			"constant: at --rate.",
		"Concurrency": fmt.Sprintf("Buyers at a time, for closed (%d).", d.Concurrency),
		"Rate":        "Buyers a second, for constant.",
		"Duration":    "How long buyers keep coming, for constant.",
		"Timeout":     "How long a buyer waits for an answer (" + tables.Span(d.Timeout) + ").",
		"Seed":        "Repeat the same buyers in the same order (default: a new seed).",
		"Require":     "A threshold that the run must meet, such as p99<50ms or errors==0; may be repeated.",
	}
}

// A Profile says when requests are sent.
type Profile string

const (
	// With Closed, each of Concurrency workers sends a request as soon as its last one is answered. While the
	// service stalls, the workers send nothing, so the latency does not show most of the stall.
	Closed Profile = "closed"
	// With Spike, all requests are sent at once, over connections that are open already.
	Spike Profile = "spike"
	// With Constant, Rate requests per second are sent for Duration, however slow the answers are.
	Constant Profile = "constant"
)

var profiles = []Profile{Closed, Spike, Constant}

// DefaultScenario returns the scenario of `seckill load` without flags. Some of its requests are sent several
// times, some users try to buy twice, and some orders are cancelled. So every run tests that a request takes effect
// once, that a user has one order, and that cancelled units return to the stock.
func DefaultScenario() Scenario {
	return Scenario{Strategy: "conditional", SKU: 1, SKUs: 1, Stock: 100, Buyers: 2000, Quantity: 1,
		Profile: Closed, Concurrency: 64, Timeout: 10 * time.Second,
		Duplicates: 0.05, Cancellations: 0.03, Copies: 0.01, Retry: 1}
}

// ThoroughScenario returns a scenario with everything that can go wrong in one sale. It has no reservations,
// because few strategies offer them.
func ThoroughScenario() Scenario {
	s := DefaultScenario()
	s.Stock, s.Buyers, s.Cancellations, s.Copies, s.Cuts, s.Retry = 300, 1000, 0.2, 0.1, 0.1, 6
	return s
}

// A run keeps every call and order in memory until it is judged. A run that would need more than
// MaxMemory bytes is not started.
const (
	MaxMemory   = 1 << 30
	bytesACall  = 480 // bytes for the record of a call and the judge's data about it
	bytesAnUnit = 550 // bytes for the order of a sold unit
)

// expectedMemory estimates how many bytes the judge needs if every call is answered.
func (s Scenario) expectedMemory() float64 {
	requests := float64(s.Requests())
	// This share of the sold units stays sold. All others are given back and sold again.
	kept := max(0, 1-s.Cancellations-s.Forget)
	sales := min(requests, float64(s.Stock)*float64(s.SKUs)/kept)
	calls := requests * (1 + s.Copies*(CopiesEach-1))
	// The buyer makes one more call, to pay, to cancel or to ask for the outcome.
	if s.Reserve > 0 || s.Async || s.Cancellations > 0 {
		calls += sales
	}
	return calls*bytesACall + sales*bytesAnUnit
}

// Open reports whether the load is an open loop, in which requests are sent when they are due, without
// waiting for answers.
func (s Scenario) Open() bool { return s.Profile != Closed }

// Requests returns how many requests the scenario makes. If there are more than maxRequests, it returns
// some number above maxRequests.
func (s Scenario) Requests() int {
	if s.Profile != Constant {
		return s.Buyers
	}
	// Rounding up must not add a request to a product such as 12.5 × 4.4 = 55.00000000000001.
	return int(min(math.Ceil(s.Rate*s.Duration.Seconds()-1e-9), maxRequests+1))
}

// dueAt returns when request i is due, as the time since the start of the load. It returns 0 for a spike,
// and for a closed loop, in which a worker sends a request when the worker is free.
func (s Scenario) dueAt(i int) time.Duration {
	if s.Profile != Constant {
		return 0
	}
	return time.Duration(float64(i) / s.Rate * float64(time.Second))
}

// ReadScenario reads a Scenario from a YAML file. Fields that are not in the file keep their value from base.
// A field that a Scenario does not have is an error. All errors are an ErrConfig.
func ReadScenario(path string, base Scenario) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return base, configError("%v", err)
	}
	s := base
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err = decodeYAML(d, &s); err == nil && !errors.Is(decodeYAML(d, new(any)), io.EOF) {
		err = errors.New("it has several YAML documents: keep one")
	}
	switch {
	case errors.Is(err, io.EOF):
		return base, configError("%s: the file is empty", path)
	// Only the first line of the library's error says what is wrong. The other lines quote the file.
	case err != nil:
		text, _, _ := strings.Cut(err.Error(), "\n")
		return base, configError("%s: %s", path, text)
	}
	return s, nil
}

// decodeYAML decodes one document. The library panics at some documents, such as a list that is only a tag.
// decodeYAML returns an error instead.
func decodeYAML(d *yaml.Decoder, into any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the file is not YAML that can be read")
		}
	}()
	return d.Decode(into)
}

// Command returns a command line that repeats the sale of s with the same buyers.
func (s Scenario) Command() string {
	defaults := DefaultScenario()
	if s.Open() { // The flag --concurrency is left out, because an open loop rejects it.
		s.Concurrency = defaults.Concurrency
	}
	if s.Profile == Constant {
		s.Buyers = defaults.Buyers
	}
	return "seckill load --strategy " + s.Strategy + Flags(s, defaults)
}

// Flags returns the flags that turn defaults into s, each after a space. The values s and defaults are
// structs of the same type. Fields whose tags describe no flag are left out.
func Flags(s, defaults any) string {
	is, was := reflect.ValueOf(s), reflect.ValueOf(defaults)
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
		// The text is quoted, because a shell gives these characters a special meaning.
		if strings.ContainsAny(text, "<>!") {
			text = "'" + text + "'"
		}
		b.WriteString(" --" + name + between + text)
	}
	return b.String()
}

// A Range has the least and the greatest value that a number may have, both included.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Check returns a *seckill.FieldError if n, the value of the field, is out of the range.
func (r Range) Check(field string, n float64) error {
	if n >= r.Min && n <= r.Max { // false for NaN
		return nil
	}
	format := formatNumber
	if slices.Contains(durationFields, field) {
		format = func(seconds float64) string { return tables.Span(time.Duration(seconds * float64(time.Second))) }
	}
	value := ""
	// A larger number is left out, because it may be printed with other digits than the user typed.
	if math.Abs(n) < 1<<53 {
		value = format(n) + " is "
	}
	return &seckill.FieldError{Field: field, Code: "range", Params: params{"min": r.Min, "max": r.Max},
		Detail: fmt.Sprintf("%sout of range: give %s to %s", value, format(r.Min), format(r.Max))}
}

// durationFields are the fields whose ranges are in seconds.
var durationFields = []string{"duration", "timeout", "reserve", "turn"}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Ranges has the allowed range of each number of a scenario; durations are in seconds. A number out of its
// range is probably a typing error, and would exhaust the machine. The page checks the same ranges.
var Ranges = map[string]Range{
	"sku": {1, maxSKU}, "skus": {1, 10_000}, "zipf": {0, 10},
	"stock": {1, seckill.MaxStock}, "quantity": {1, seckill.MaxQuantity}, "buyers": {1, maxRequests},
	"duplicates": {0, 1}, "cancellations": {0, 1}, "copies": {0, 1}, "cuts": {0, 1}, "retry": {0, 20}, "forget": {0, 1},
	"concurrency": {1, 50_000}, "rate": {1e-6, 1_000_000},
	"duration": durationRange, "timeout": durationRange,
	"reserve": {1, 60}, // a run waits until its last reservation has expired
}

const maxSKU = 1<<53 - 1 // the largest SKU that the service accepts

const maxRequests = 10_000_000

// durationRange is the allowed range of durations, in seconds. A duration below a millisecond is probably a
// number that was typed without its unit.
var durationRange = Range{.001, (24 * time.Hour).Seconds()}

// numericFields returns the numbers that this scenario uses: name of the field → number.
func (s Scenario) numericFields() map[string]float64 {
	used := map[string]float64{
		"sku": float64(s.SKU), "skus": float64(s.SKUs), "stock": float64(s.Stock), "quantity": float64(s.Quantity),
		"duplicates": s.Duplicates, "cancellations": s.Cancellations, "copies": s.Copies, "cuts": s.Cuts,
		"retry": float64(s.Retry), "forget": s.Forget, "timeout": s.Timeout.Seconds(),
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

// CheckRanges returns an error for each number of this scenario that is out of its range. It checks only the
// numbers that the scenario uses and for which ranges has a range.
func (s Scenario) CheckRanges(ranges map[string]Range) []error {
	var errs []error
	used := s.numericFields()
	for _, field := range slices.Sorted(maps.Keys(used)) {
		if limit, ok := ranges[field]; ok {
			if err := limit.Check(field, used[field]); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// Check returns an error if a run is impossible or pointless. It calls no service. Each error wraps
// ErrConfig and a *seckill.FieldError.
func (s Scenario) Check() error { return Config{Scenario: s}.Check() }

func (s Scenario) checkReset() error {
	if last := s.SKU + int64(s.SKUs) - 1; s.SKU <= seckill.ShopSKU && seckill.ShopSKU <= last {
		return fieldError("sku", "range", nil, "SKUs %d to %d include %d, the lab's shop, "+
			"whose sale the run would reset: give others", s.SKU, last, int64(seckill.ShopSKU))
	}
	return nil
}

func (s Scenario) checkPossible() error {
	if s.Strategy == "" {
		return fieldError("strategy", "none", nil, "give the name of a strategy")
	}
	if !slices.Contains(profiles, s.Profile) {
		return fieldError("profile", "one_of", params{"values": profiles},
			"there is no profile %q; there are %s, %s, %s", s.Profile, Closed, Spike, Constant)
	}
	if err := s.checkFields(); err != nil {
		return err
	}
	if errs := s.CheckRanges(Ranges); errs != nil {
		return fmt.Errorf("%w: %w", ErrConfig, errs[0])
	}
	if last := s.SKU + int64(s.SKUs) - 1; last > maxSKU {
		return fieldError("skus", "range", params{"min": 1, "max": maxSKU - s.SKU + 1},
			"the last would be SKU %d, and %d is the limit", last, int64(maxSKU))
	}
	for _, text := range s.Restock {
		if _, _, err := parseRestock(text); err != nil {
			return fieldError("restock", "restock", nil, "%v", err)
		}
	}
	for _, text := range s.Require {
		if _, err := ParseRequirement(text); err != nil {
			return fieldError("require", "require", nil, "%v", err)
		}
	}
	if n := s.Requests(); n > maxRequests || s.expectedMemory() > MaxMemory {
		possible := min(maxRequests, int(float64(n)*MaxMemory/s.expectedMemory()))
		return fieldError(s.demandField(), "too_many_requests", params{"requests": n, "max": possible},
			"%s of %s units: every answer is kept until it is judged, which would take about %.1f GB of memory, "+
				"and %.1f GB is the limit; give fewer buyers, a lower rate or a shorter duration, "+
				"or split the sale into several runs", tables.Count(n, "buyer"),
			tables.Thousands(s.Stock*int64(s.SKUs)), s.expectedMemory()/(1<<30), float64(MaxMemory)/(1<<30))
	}
	return nil
}

// checkFields returns an error if a field is set that other fields make useless or wrong, or if they need a field.
func (s Scenario) checkFields() error {
	notUsed := fmt.Sprintf("the profile %q does not use it", s.Profile)
	needed := fmt.Sprintf("the profile %s needs --rate and --duration, such as 100 and 10s", Constant)
	for _, rule := range []struct {
		broken           bool
		field, code, why string
	}{
		{s.Rate != 0 && s.Profile != Constant, "rate", "unused", notUsed},
		{s.Duration != 0 && s.Profile != Constant, "duration", "unused", notUsed},
		{s.Rate == 0 && s.Profile == Constant, "rate", "missing", needed},
		{s.Duration == 0 && s.Profile == Constant, "duration", "missing", needed},
		{s.Zipf != 0 && s.SKUs < 2, "zipf", "unused", "a sale of one SKU does not use it"},
		{s.Async && s.Reserve != 0, "async", "unused", "reservations do not use it: they are answered at once"},
		{s.Reserve%time.Second != 0, "reserve", "range", s.Reserve.String() + ": give whole seconds"},
		{s.Reserve == 0 && s.Forget != 0, "reserve", "missing",
			"only buyers who reserve can forget to pay: give --reserve, such as 2s"},
	} {
		if rule.broken {
			return fieldError(rule.field, rule.code, nil, "%s", rule.why)
		}
	}
	return nil
}

func (s Scenario) demandField() string {
	if s.Profile == Constant {
		return "rate"
	}
	return "buyers"
}

// checkDemand returns an error if the buyers want so few units that nothing can be oversold, or each
// wants more units than there are.
func (s Scenario) checkDemand() error {
	if s.Quantity > s.Stock {
		return fieldError("quantity", "too_much", params{"stock": s.Stock},
			"every buyer asks for %d units of a stock of %d: no buyer could buy anything", s.Quantity, s.Stock)
	}
	if s.Plenty {
		return nil
	}
	if demand := newPlan(s, nil).maxDemand(); demand <= s.Stock {
		least := s.Stock * int64(s.SKUs) / s.Quantity
		return fieldError(s.demandField(), "no_demand", params{"least": least, "requests": s.Requests()},
			"the buyers want at most %d units of any SKU, and each has a stock of %d: nothing could be oversold, "+
				"so the run would prove nothing; give more buyers, less stock, or --plenty", demand, s.Stock)
	}
	return nil
}

// parseRestock reads a text such as 50@0.5s. It returns how many units each SKU gets, and how long after the
// start of the load.
func parseRestock(text string) (int64, time.Duration, error) {
	number, at, _ := strings.Cut(text, "@")
	units, notNumber := strconv.ParseInt(number, 10, 64)
	due, notTime := time.ParseDuration(at)
	if notNumber != nil || notTime != nil || units < 1 || units > seckill.MaxStock || due < 0 || due > time.Hour {
		return 0, 0, fmt.Errorf("%q is not UNITS@TIME, such as 50@0.5s, within an hour", text)
	}
	return units, due, nil
}

// fieldError returns an ErrConfig about a field. The parameter field is the name of that field in scenario files.
func fieldError(field, code string, params map[string]any, format string, args ...any) error {
	wrong := &seckill.FieldError{Field: field, Detail: fmt.Sprintf(format, args...), Code: code, Params: params}
	return fmt.Errorf("%w: %w", ErrConfig, wrong)
}

func checkTarget(t string) error {
	u, err := url.Parse(t)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return configError("target %q is not a URL such as http://127.0.0.1:8081", t)
	}
	return nil
}
