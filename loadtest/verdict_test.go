package loadtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
)

func TestConclude(t *testing.T) {
	oversold := judge.Violation{Rule: judge.RuleOversold, Verdict: judge.Oversold}
	negative := judge.Violation{Rule: judge.RuleNegative, Verdict: judge.Lost}
	missing := judge.Violation{Rule: judge.RuleMissingOrder, Verdict: judge.Lost}
	nothing := judge.Violation{Rule: judge.RuleNothingSold, Verdict: judge.Lost}
	invented := judge.Violation{Rule: judge.RuleInvented, Verdict: judge.Lost}
	unacknowledged := judge.Violation{Rule: judge.RuleUnacknowledged, Verdict: judge.Lost}
	for _, test := range []struct {
		name       string
		violations []judge.Violation
		audit      judge.Verdict
		problem    bool
		unsettled  bool
		still      bool     // true if the sale stood still
		require    []string // requirements, none of which is met
		want       int
	}{
		{name: "clean", audit: judge.Held, want: ExitHeld},
		{name: "clean, and a threshold is not met", audit: judge.Held, require: []string{"errors==0"}, want: ExitUnmet},
		{name: "stood still", audit: judge.Held, still: true, require: []string{"errors==0"}, want: ExitBlocked},
		{name: "stood still, and lost", audit: judge.Lost, violations: []judge.Violation{missing}, still: true,
			want: ExitLost},
		{name: "stood still, with a problem", audit: judge.Held, still: true, problem: true, want: ExitNotValid},
		{name: "oversold", audit: judge.Oversold, violations: []judge.Violation{oversold}, want: ExitOversold},
		{name: "lost", audit: judge.Lost, violations: []judge.Violation{missing}, want: ExitLost},
		{name: "nothing sold", audit: judge.Lost, violations: []judge.Violation{nothing}, want: ExitLost},
		{name: "no ledger", problem: true, want: ExitNotValid},
		{name: "judge says not valid", audit: judge.NotValid, violations: []judge.Violation{oversold},
			want: ExitNotValid},
		{name: "clean with a problem", audit: judge.Held, problem: true, want: ExitNotValid},
		{name: "oversold with a problem", audit: judge.Oversold, violations: []judge.Violation{oversold}, problem: true,
			want: ExitOversold},
		{name: "lost with a problem", audit: judge.Lost, violations: []judge.Violation{missing}, problem: true,
			want: ExitLost},
		{name: "nothing sold with a problem", audit: judge.Lost, violations: []judge.Violation{nothing}, problem: true,
			want: ExitNotValid},
		{name: "oversold, unsettled", audit: judge.Oversold, violations: []judge.Violation{oversold}, problem: true,
			unsettled: true, want: ExitOversold},
		{name: "negative, unsettled", audit: judge.Lost, violations: []judge.Violation{negative}, problem: true,
			unsettled: true, want: ExitNotValid},
		{name: "lost, unsettled", audit: judge.Lost, violations: []judge.Violation{missing}, problem: true,
			unsettled: true, want: ExitNotValid},
		{name: "invented, unsettled", audit: judge.Lost, violations: []judge.Violation{invented}, problem: true,
			unsettled: true, want: ExitLost},
		{name: "unacknowledged, unsettled", audit: judge.Lost, violations: []judge.Violation{unacknowledged},
			problem: true, unsettled: true, want: ExitLost},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &Result{Settled: !test.unsettled}
			if test.audit != "" {
				r.Audit = &judge.Report{Verdict: test.audit, Violations: test.violations}
			}
			if test.still {
				r.Audit.Served = &judge.Served{State: judge.ServedBlocked}
			}
			if test.problem {
				r.Problems = []Problem{{Text: "something"}}
			}
			r.writeVerdict(test.require)
			labtest.Same(t, r.ExitStatus(), test.want, "verdict %s, exit status", r.Verdict)
		})
	}
}

// The test tries each limit of what counts as served with a value inside it and one outside.
func TestRightAndServedAreTwoSigns(t *testing.T) {
	good := func() *Result {
		return &Result{Settled: true, Requests: 1000, Settings: Scenario{Quantity: 1, SKUs: 1},
			Counts:  map[judge.Outcome]int{judge.OutcomeSold: 100, judge.OutcomeSoldOut: 900},
			Latency: Latency{P99: 2_000_000},
			Audit: &judge.Report{Verdict: judge.Held, Initial: 100, Totals: judge.Totals{Sold: 100},
				Served: &judge.Served{State: judge.ServedYes}}}
	}
	for _, c := range []struct {
		name          string
		change        func(*Result)
		right, served Sign
		short         []string
	}{
		{"all well", func(*Result) {}, Yes, Yes, nil},
		{"late", func(r *Result) { r.Latency.P99++ }, Yes, No, []string{"late"}},
		{"1 in 100 uncertain", func(r *Result) { r.Counts[judge.OutcomeUnknown], r.Counts[judge.OutcomeError] = 4, 6 },
			Yes, Yes, nil},
		{"more", func(r *Result) { r.Counts[judge.OutcomeUnknown], r.Counts[judge.OutcomeError] = 5, 6 }, Yes, No,
			[]string{"uncertain"}},
		{"payments without an answer, or refused", func(r *Result) { r.Reservations = Reservations{Refused: 6, Unknown: 5} }, Yes, No, []string{"uncertain"}},
		{"without a final answer", func(r *Result) { r.Counts[judge.OutcomeAccepted], r.Counts[judge.OutcomeInProgress] = 6, 5 }, Yes, No, []string{"uncertain"}},
		{"99 of 100 sold", func(r *Result) { r.Audit.Sold = 99 }, Yes, Yes, nil},
		{"fewer", func(r *Result) { r.Audit.Sold = 98 }, Yes, No, []string{"unsold"}},
		{"as many as fit", func(r *Result) { r.Settings.Quantity, r.Audit.Sold = 7, 98 }, Yes, Yes, nil},
		{"as many as were asked for", func(r *Result) { r.Requests, r.Audit.Sold = 50, 50 }, Yes, Yes, nil},
		{"as many as were asked for, of two SKUs", func(r *Result) { r.Requests, r.Audit.Sold, r.Settings.SKUs = 50, 50, 2 }, Yes, Yes, nil},
		{"as many as different buyers asked for", func(r *Result) { r.Requests, r.Counts[judge.OutcomeDuplicate], r.Audit.Sold = 50, 10, 40 }, Yes, Yes, nil},
		{"some not paid in time", func(r *Result) { r.Audit.Sold, r.Audit.Expired = 60, 1 }, Yes, Yes, nil},
		{"some cancelled", func(r *Result) { r.Audit.Sold, r.Audit.Cancelled = 60, 1 }, Yes, Yes, nil},
		{"blocked", func(r *Result) { r.Audit.Served.State, r.Audit.Sold = judge.ServedBlocked, 5 }, Yes, No,
			[]string{"stood", "unsold"}},
		{"pauses not known", func(r *Result) { r.Audit.Served.State = judge.ServedNotKnown }, Yes, NotKnown, nil},
		{"pauses not known, and late", func(r *Result) { r.Audit.Served, r.Latency.P99 = nil, 9_000_000 }, Yes, No,
			[]string{"late"}},
		{"oversold to all at once", func(r *Result) { r.Audit.Verdict, r.Audit.Sold = judge.Oversold, 131 }, No,
			Yes, nil},
		{"oversold, and others of several SKUs are left",
			func(r *Result) { r.Audit.Verdict, r.Audit.Sold, r.Settings.SKUs = judge.Oversold, 90, 2 }, No, Yes, nil},
		{"lost", func(r *Result) { r.Audit.Verdict, r.Audit.Sold = judge.Lost, 60 }, No, No, []string{"unsold"}},
		{"not valid", func(r *Result) { r.Problems, r.Latency.P99 = []Problem{{Text: "interrupted"}}, 9_000_000 },
			NotKnown, NotKnown, nil},
	} {
		r := good()
		c.change(r)
		r.writeVerdict(nil)
		var short []string
		for _, s := range r.Signs.Short {
			short = append(short, s.Code)
			if s.Text == "" {
				t.Errorf("%s: %s has no words", c.name, s.Code)
			}
		}
		// A run of two SKUs is not untried, because one of them may have been oversold.
		if untried := r.Requests == 50 && r.Settings.SKUs == 1; r.isUntried() != untried {
			t.Errorf("%s: it is said to be untried: %t", c.name, !untried)
		}
		if strings.Contains(r.Summary(), "-") {
			t.Errorf("%s: a negative number in %q", c.name, r.Summary())
		}
		if s := r.Signs; s.Right != c.right || s.Served != c.served || !slices.Equal(short, c.short) {
			t.Errorf("%s: %+v, want right %s, served %s, short %v", c.name, s, c.right, c.served, c.short)
		}
	}
}

// A sale may stand still for the lock times of the slowest service, plus the time of planned
// faults. If no service reports lock times, the result is 0.
func TestHowLongASaleMayStandStill(t *testing.T) {
	for _, c := range []struct {
		locks []time.Duration // the lock times of each service
		want  time.Duration
	}{{nil, 0}, {[]time.Duration{0}, 0}, {[]time.Duration{6 * time.Second, 11e9, 0}, 11*time.Second + time.Minute}} {
		r := run{result: &Result{}, config: Config{Scenario: Scenario{Strategy: testStrategy},
			Hooks: Hooks{Outage: func() time.Duration { return time.Minute }}}}
		for _, wait := range c.locks {
			s := service{base: serve(t, &fake{wait: wait}).Targets[0], http: http.DefaultClient}
			labtest.Must(t, r.readStrategies(t.Context(), s))
		}
		labtest.Same(t, r.maxStandstill(), c.want, "%v", c.locks)
	}
}

func TestRequirements(t *testing.T) {
	r := &Result{Requests: 1000, RequestsPerSec: 500, Latency: Latency{P50: 900, P99: 50_000, P999: 60_000},
		Counts: map[judge.Outcome]int{judge.OutcomeSold: 10, judge.OutcomeUnknown: 1}, Late: 7}
	for text, met := range map[string]bool{
		"p99<50ms": false, "p99<=50ms": true, " p99.9 < 61ms ": true, "p50<1ms": true, "p99>50ms": false,
		"rate>=500": true, "rate>500": false, "errors==0": true, "unknown==0": false, "unknown<=1": true,
		"late<8": true, "sold>=10": true, "sold_p99<1s": true,
	} {
		q := labtest.Value(ParseRequirement(text)).Must(t)
		labtest.Same(t, q.checkResult(r).Met, met, "%s is met", text)
	}
	for text, want := range map[string]string{
		"": "write it like", "p99": "write it like", "p99=50ms": "write it like", "p98<1ms": "there are busy, conflict",
		"p99<50": "is not a time", "rate>fast": "is not a number", "errors<-1": "is not a number ≥ 0",
		"p99<-1ms": "is not a time", "rate<NaN": "is not a number", "rate>5%": "is not a number",
		"rate<1e300": "is not a number",
	} {
		labtest.Value(ParseRequirement(text)).Fails(t, want, "%q", text)
	}
	// Without answers, every percentile is 0. That meets no requirement.
	for text, r := range map[string]*Result{"p99<1s": {}, "errors==0": {}, "sold_p99<1s": {Requests: 9}} {
		q, _ := ParseRequirement(text)
		if q.checkResult(r).Met {
			t.Errorf("%s is met by a run without requests, or without sales", text)
		}
	}
}

func TestBottleneck(t *testing.T) {
	const ms = int64(time.Millisecond / time.Microsecond)
	for _, test := range []struct {
		name    string
		r       Result
		spoiled bool
	}{
		{"nothing was sent", Result{Seconds: 2, Processor: Processor{Generator: new(2000.0)}}, false},
		{"in time", Result{Requests: 1, Lag: Latency{P99: 1}, Latency: Latency{P99: 100 * ms}}, false},
		{"a little late, and so is everything", Result{Requests: 1, Lag: Latency{P99: 9 * ms},
			Latency: Latency{P99: 10 * ms}}, false},
		{"late, of a service that is slow", Result{Requests: 1, Lag: Latency{P99: 40 * ms},
			Latency: Latency{P99: 100 * ms}}, false},
		{"late, and that is most of it", Result{Requests: 1, Lag: Latency{P99: 60 * ms},
			Latency: Latency{P99: 100 * ms}}, true},
		{"all processors, for a moment", Result{Requests: 1, Seconds: 1,
			Processor: Processor{Generator: new(2000.0)}}, false},
		{"requests that were never sent", Result{Requests: 1, Dropped: 1}, true},
		{"all processors", Result{Requests: 1, Seconds: 2, Processor: Processor{Generator: new(2000.0)}}, true},
	} {
		why := test.r.findBottleneck()
		labtest.Same(t, why != nil, test.spoiled, "%s: %q", test.name, why)
	}
}
