package loadtest

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"seckill/internal/judge"
	"seckill/internal/measure"
)

// Exit statuses of a run, and of runs with several strategies, where those that may
// break do not count.
const (
	ExitHeld     = 0
	ExitOversold = 10 // also when units or orders were lost besides
	ExitLost     = 11 // lost or undersold, or answers that cannot all be true
	ExitUnmet    = 12 // held, and a requirement was not met
	ExitBlocked  = 15 // nothing oversold, lost or invented, and the sale stood still
	ExitNotValid = 20 // the run itself proves nothing
)

// Worst is the verdict that counts of two: a proven violation outweighs a run that
// proves nothing. "" is none.
func Worst(a, b judge.Verdict) judge.Verdict {
	order := []judge.Verdict{"", judge.Held, Blocked, judge.NotValid, judge.Lost, judge.Oversold}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// ExitStatus is the verdict for scripts.
func (r *Result) ExitStatus() int {
	switch r.Verdict {
	case judge.Held:
		for _, c := range r.Checks {
			if !c.Met {
				return ExitUnmet
			}
		}
		return ExitHeld
	case Blocked:
		return ExitBlocked
	case judge.Oversold:
		return ExitOversold
	case judge.Lost:
		return ExitLost
	}
	return ExitNotValid
}

// conclude gives the verdict. A problem invalidates what the run seems to prove,
// but not what is proven regardless: units sold twice stay sold twice when the
// run is interrupted.
func (r *Result) writeVerdict(require []string) {
	r.Checks = []Check{}
	r.Linearizable.Answer = cmp.Or(r.Linearizable.Answer, LinearNotChecked)
	for _, text := range require {
		q, _ := ParseRequirement(text) // Check has refused what cannot be read
		r.Checks = append(r.Checks, q.checkResult(r))
	}
	r.setVerdict()
	r.Signs = r.findSigns()
}

// judged sets the verdict.
func (r *Result) setVerdict() {
	switch {
	case r.Audit == nil || r.Audit.Verdict == judge.NotValid:
		r.Verdict = judge.NotValid
	case len(r.Problems) == 0:
		r.Verdict = r.Audit.Verdict
		if r.Verdict == judge.Held && r.Audit.Served.Blocked() {
			r.Verdict = Blocked
		}
	default:
		r.Verdict = judge.NotValid
		for _, v := range r.Audit.Violations {
			switch {
			case !r.isProven(v):
			case v.Verdict == judge.Oversold:
				r.Verdict = judge.Oversold
			case r.Verdict == judge.NotValid:
				r.Verdict = v.Verdict
			}
		}
	}
}

// untried reports a run that held because its buyers did not get through: the stock never
// ran out, and those with a certain answer wanted no more than there was. It is what
// checkDemand refuses, found only afterwards.
func (r *Result) isUntried() bool {
	s := r.Settings
	return r.Verdict == judge.Held && !s.Plenty && s.SKUs == 1 && r.Audit.Sold < r.Audit.Initial &&
		int64(r.Requests-r.Uncertain())*s.Quantity <= r.Audit.Initial
}

// proven reports a violation that no problem of the run can explain.
func (r *Result) isProven(v judge.Violation) bool {
	sku, _ := v.Params["sku"].(int64) // of several
	switch {
	case v.Rule == judge.RuleNothingSold: // perhaps no request arrived
		return false
	case !r.Settled && !r.settled[sku]: // what still runs can take units, but not remove orders
		return v.Rule == judge.RuleOversold || v.Rule == judge.RuleInvented || v.Rule == judge.RuleUnacknowledged
	}
	return true
}

// Uncertain counts requests whose last answer does not say what the buyer got.
func (r *Result) Uncertain() int { return countUncertain(r.Counts) }

// Uncertain counts them while the run goes on.
func (p Progress) Uncertain() int { return countUncertain(p.Counts) }

// uncertain counts errors, and requests whose last answer is none, or that it is not decided.
func countUncertain(counts map[judge.Outcome]int) int {
	return counts[judge.OutcomeError] + counts[judge.OutcomeUnknown] + counts[judge.OutcomeInProgress] + counts[judge.OutcomeAccepted]
}

// Blocked is the verdict on a run in which nothing was oversold, lost or invented
// and the sale stood still: units were left, buyers asked for them, and none was
// sold for longer than Served.PatienceMs. The audit's own verdict does not know it.
const Blocked judge.Verdict = "blocked"

// longestStand is how long a sale may stand still: as long as a buyer waits for a
// lock and a dead holder keeps it, at the slowest of the services, plus faults.
// 0: no service says.
func (r *run) maxStandstill() time.Duration {
	longest := time.Duration(0)
	for _, l := range r.locks {
		longest = max(longest, time.Duration(l.Lease+l.Wait)*time.Millisecond)
	}
	if longest > 0 && r.Outage != nil {
		longest += r.Outage()
	}
	return longest
}

// lockTimes are the limits of a service's locks.
type lockTimes struct {
	Lease int64 `json:"lease_ms"` // how long one lives unrenewed
	Wait  int64 `json:"wait_ms"`  // how long a buyer waits for one
}

// Stood says how long the sale stood still; "" if it is not known.
func (r *Result) DescribeStandstill() string {
	if r.Audit == nil || r.Audit.Served == nil {
		return ""
	}
	s := r.Audit.Served
	return fmt.Sprintf("from %s on no sale for %s, with units left and buyers asking for them; allowed are %s", measure.Duration(int64(s.FromMs*1000)),
		measure.Duration(int64(s.LongestMs*1000)), measure.Duration(int64(s.PatienceMs*1000)))
}

// Summary is the verdict in one sentence.
func (r *Result) Summary() string {
	a := r.Audit
	right := "right: nothing oversold, lost or invented in " + measure.Count(r.Requests, "request")
	switch r.Verdict {
	case judge.Held:
		served := "served"
		if len(r.Signs.Short) > 0 {
			var short []string
			for _, s := range r.Signs.Short {
				short = append(short, s.Text)
			}
			served = fmt.Sprintf("not served as it should be (%s)", strings.Join(short, ", "))
		}
		return fmt.Sprintf("%s; %s: %s of %s in %s", right, served, measure.Thousands(a.Sold), measure.Count(a.Initial, "unit"),
			measure.Duration(int64(r.SellingSeconds*1e6)))
	case Blocked:
		return fmt.Sprintf("%s, but not served: %s. %s of %s sold", right, r.DescribeStandstill(), measure.Thousands(a.Sold), measure.Count(a.Initial, "unit"))
	case judge.Oversold:
		if a.Sold <= a.Initial { // others of several SKUs are left, or what is too much is only reserved
			return "more of a SKU was sold or reserved than there was"
		}
		return fmt.Sprintf("%s sold of %s: %s too many",
			measure.Thousands(a.Sold), measure.Count(a.Initial, "unit"), measure.Thousands(a.Sold-a.Initial))
	case judge.Lost:
		return "not oversold, but the ledger or the buyers were wronged"
	}
	return "this run proves nothing"
}

// Exercised says what a run has tried besides plain purchases, and what it has not.
func (r *Result) Exercised() (did, not []string) {
	none := "reservations"
	if !r.Strategy.Reserves {
		none += " (the strategy has none)"
	}
	held, cancels := r.Reservations, r.Cancellations
	for _, tried := range []struct {
		n              int
		one, many, not string
	}{
		{r.Counts[judge.OutcomeDuplicate], "second purchase of a buyer", "second purchases of a buyer", ""},
		{cancels.Done + cancels.Refused + cancels.Unknown, "cancellation", "cancellations", ""},
		{held.Paid + held.Forgotten + held.Expired + held.Refused + held.Unknown, "reservation", "reservations", none},
		{held.Returned, "expired reservation cancelled", "expired reservations cancelled", none},
		{r.Copies, "copy", "copies", ""},
		{r.Retries, "retry", "retries", ""},
		{r.Accepted, "answer in two steps", "answers in two steps", ""},
		{r.Cut, "connection cut", "connections cut", ""},
	} {
		if tried.n > 0 {
			did = append(did, measure.CountOf(tried.n, tried.one, tried.many))
		} else if why := cmp.Or(tried.not, tried.many); !slices.Contains(not, why) {
			not = append(not, why)
		}
	}
	if r.Fault != "" {
		return append(did, r.Fault), not
	}
	return did, append(not, "a fault of the servers")
}

// Signs are the two questions in a verdict, apart: is the ledger right, and were
// the buyers served? A sale can be right to the last unit and stand still, or
// answer at once and sell too much.
type Signs struct {
	// Right is yes if nothing was oversold, lost or invented.
	Right Sign `json:"right"`
	// Served is yes if all of this is so:
	//
	//   - The sale never stood still for longer than it may (judge.Served).
	//   - 99 of 100 answers came within Limits.LateMs of when the request was due.
	//   - At most Limits.Uncertain of the buyers ended with an error or without a
	//     certain answer.
	//   - At least Limits.Sold of the units were sold that were there and asked for.
	//     Only where that number is known: one SKU, nothing cancelled or
	//     expired.
	//
	// It is not known if the run is not valid, or if nothing says whether the sale
	// stood still and it fell short of nothing else.
	Served Sign      `json:"served"`
	Short  []Problem `json:"short"` // what Served fell short of, with its figures
	Limits Limits    `json:"limits"`
}

// A Sign answers one question of a verdict.
type Sign string

const (
	Yes      Sign = "yes"
	No       Sign = "no"
	NotKnown Sign = "not_known"
)

// Limits of what counts as served.
type Limits struct {
	LateMs    float64 `json:"late_ms"`
	Uncertain float64 `json:"uncertain"`
	Sold      float64 `json:"sold"`
}

var servedLimits = Limits{LateMs: 2000, Uncertain: 0.01, Sold: 0.99}

// Codes of shortfalls, with their parameters.
const (
	ShortStood     = "stood"     // ms, allowed_ms
	ShortLate      = "late"      // p99_ms
	ShortUncertain = "uncertain" // errors, unknown, of
	ShortUnsold    = "unsold"    // sold, of
)

// signs gives both signs of a run that has its verdict.
func (r *Result) findSigns() Signs {
	s := Signs{Right: NotKnown, Served: NotKnown, Short: []Problem{}, Limits: servedLimits}
	switch r.Verdict {
	case judge.Held, Blocked:
		s.Right = Yes
	case judge.Oversold, judge.Lost:
		s.Right = No
	default:
		return s
	}
	s.Short = r.findShortfalls()
	switch stood := r.Audit.Served; {
	case len(s.Short) > 0:
		s.Served = No
	case stood != nil && stood.State == judge.ServedYes:
		s.Served = Yes
	}
	return s
}

func (r *Result) findShortfalls() []Problem {
	short := []Problem{}
	add := func(code string, params params, format string, args ...any) {
		short = append(short, newProblem(code, params, format, args...))
	}
	if stood := r.Audit.Served; stood.Blocked() {
		add(ShortStood, params{"ms": stood.LongestMs, "allowed_ms": stood.PatienceMs}, "the sale stood still for %s", measure.Duration(int64(stood.LongestMs*1000)))
	}
	if late := r.Latency.P99; float64(late) > 1000*servedLimits.LateMs {
		add(ShortLate, params{"p99_ms": float64(late) / 1000}, "one answer in a hundred took longer than %s, and %s are allowed", measure.Duration(late), measure.Duration(int64(1000*servedLimits.LateMs)))
	}
	errs := r.Counts[judge.OutcomeError]
	failed, unknown := errs+r.Reservations.Refused, r.Uncertain()-errs+r.Reservations.Unknown
	if float64(failed+unknown) > servedLimits.Uncertain*float64(r.Requests) {
		add(ShortUncertain, params{"errors": failed, "unknown": unknown, "of": r.Requests}, "%s and %s of %s without a certain answer",
			measure.Count(failed, "error"), measure.Thousands(unknown), measure.Count(r.Requests, "buyer"))
	}
	if wanted := r.sellableUnits(); float64(r.Audit.Sold) < servedLimits.Sold*float64(wanted) {
		add(ShortUnsold, params{"sold": r.Audit.Sold, "of": wanted}, "only %s of %s sold", measure.Thousands(r.Audit.Sold), measure.Count(wanted, "unit"))
	}
	return short
}

// wanted is how many units could have been sold; 0: not known.
func (r *Result) sellableUnits() int64 {
	q := r.Settings.Quantity
	if r.Settings.SKUs > 1 || r.Audit.Cancelled+r.Audit.Expired > 0 || q < 1 {
		return 0
	}
	return min(r.Audit.Initial/q, int64(r.Requests-r.Counts[judge.OutcomeDuplicate])) * q
}

// A generator that is short of processor time measures itself. Either sign makes
// the run's numbers worthless, whatever the ledger says:
//
//   - requests left late although a connection was free, and that lateness is
//     most of the measured latency;
//   - in a closed loop, where nothing is due, this process used up all its
//     processors.
//
// Waiting for a free connection is no sign: every connection waits for the
// service.
const (
	lagMatters = 10 * time.Millisecond // less is ordinary scheduling
	lagShare   = 0.5                   // of the p99 latency
	cpuShare   = 0.9                   // of the processors
)

// bottleneck says why the generator, or a service that cannot keep up, was the
// bottleneck; nil when none was.
func (r *Result) findBottleneck() []Problem {
	const was = "the generator was the bottleneck: "
	late, latency := r.Lag.P99, r.Latency.P99
	used, most := 0.0, float64(runtime.GOMAXPROCS(0)) // processors on average; a short run does not tell
	if r.Processor.Generator != nil && r.Seconds >= 2 {
		used = *r.Processor.Generator / r.Seconds
	}
	switch {
	case r.Requests == 0:
	case r.Dropped > 0:
		return []Problem{newProblem(ProblemNeverSent, params{"count": r.Dropped, "seconds": defaultDrain.Seconds()}, "requests not sent %s after the last was due: %s; "+
			"the service cannot keep up, and the latencies lack the worst", defaultDrain, measure.Thousands(r.Dropped))}
	case late > lagMatters.Microseconds() && float64(late) > lagShare*float64(latency):
		return []Problem{newProblem(ProblemLate, params{"lag_ms": float64(late) / 1000, "latency_ms": float64(latency) / 1000},
			was+"it sent requests up to %s (p99) after they were due, with connections free, of a latency of %s: "+
				"give it a machine of its own, or a lower rate", measure.Duration(late), measure.Duration(latency))}
	case used > cpuShare*most:
		return []Problem{newProblem(ProblemProcessors, params{"used": used, "of": most},
			was+"it used %.1f of %.0f processors: give it more, or a slower service", used, most)}
	}
	return nil
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
