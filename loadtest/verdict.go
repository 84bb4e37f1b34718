package loadtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
)

// Exit statuses of a run, and of runs with several strategies, where those that may
// break do not count.
const (
	ExitHeld     = 0  // of several: what must hold held, and what is broken was caught
	ExitOversold = 10 // also when units or orders were lost besides
	ExitLost     = 11 // lost or undersold, or answers that cannot all be true
	ExitUnmet    = 12 // held, and a requirement was not met
	ExitMissed   = 13 // of several: a broken strategy was not caught
	ExitBlocked  = 15 // nothing oversold, lost or invented, and the sale stood still
	ExitNotValid = 20 // the run itself proves nothing
)

// Worst is the verdict that counts of two: a proven violation outweighs a run that
// proves nothing. "" is none.
func Worst(a, b ledger.Verdict) ledger.Verdict {
	order := []ledger.Verdict{"", ledger.Held, Blocked, ledger.NotValid, ledger.Lost, ledger.Oversold}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// ExitStatus is the verdict for scripts.
func (r *Result) ExitStatus() int {
	switch r.Verdict {
	case ledger.Held:
		for _, c := range r.Checks {
			if !c.Met {
				return ExitUnmet
			}
		}
		return ExitHeld
	case Blocked:
		return ExitBlocked
	case ledger.Oversold:
		return ExitOversold
	case ledger.Lost:
		return ExitLost
	}
	return ExitNotValid
}

// conclude gives the verdict. A problem invalidates what the run seems to prove,
// but not what is proven regardless: units sold twice stay sold twice when the
// run is interrupted.
func (r *Result) conclude(require []string) {
	r.Checks = []Check{}
	for _, text := range require {
		q, _ := ParseRequirement(text) // Check has refused what cannot be read
		r.Checks = append(r.Checks, q.check(r))
	}
	r.judged()
	r.Signs = r.signs()
}

// judged sets the verdict.
func (r *Result) judged() {
	switch {
	case r.Audit == nil || r.Audit.Verdict == ledger.NotValid:
		r.Verdict = ledger.NotValid
	case len(r.Problems) == 0:
		r.Verdict = r.Audit.Verdict
		if r.Verdict == ledger.Held && r.Audit.Served.Blocked() {
			r.Verdict = Blocked
		}
	default:
		r.Verdict = ledger.NotValid
		for _, v := range r.Audit.Violations {
			switch {
			case !r.proven(v):
			case v.Verdict == ledger.Oversold:
				r.Verdict = ledger.Oversold
			case r.Verdict == ledger.NotValid:
				r.Verdict = v.Verdict
			}
		}
	}
}

// untried reports a run that held because its buyers did not get through: the stock never
// ran out, and those with a certain answer wanted no more than there was. It is what
// checkDemand refuses, found only afterwards.
func (r *Result) untried() bool {
	s := r.Settings
	return r.Verdict == ledger.Held && !s.Plenty && s.SKUs == 1 && r.Audit.Sold < r.Audit.Initial &&
		int64(r.Requests-r.Uncertain())*s.Quantity <= r.Audit.Initial
}

// proven reports a violation that no problem of the run can explain.
func (r *Result) proven(v ledger.Violation) bool {
	sku, several := v.Params["sku"].(int64)
	if !several {
		sku = r.Audit.SKU
	}
	switch {
	case v.Rule == ledger.RuleNothingSold: // perhaps no request arrived
		return false
	case !r.Settled && !r.settled[sku]: // what still runs can take units, but not remove orders
		return v.Rule == ledger.RuleOversold || v.Rule == ledger.RuleInvented || v.Rule == ledger.RuleUnacknowledged
	}
	return true
}

// Uncertain counts requests whose last answer does not say what the buyer got.
func (r *Result) Uncertain() int { return uncertain(r.Counts) }

// Uncertain counts them while the run goes on.
func (p Progress) Uncertain() int { return uncertain(p.Counts) }

// uncertain counts errors, and requests whose last answer is none, or that it is not decided.
func uncertain(counts map[ledger.Outcome]int) int {
	return counts[ledger.OutcomeError] + counts[ledger.OutcomeUnknown] + counts[ledger.OutcomeInProgress] + counts[ledger.OutcomeAccepted]
}

// Blocked is the verdict on a run in which nothing was oversold, lost or invented
// and the sale stood still: units were left, buyers asked for them, and none was
// sold for longer than Served.PatienceMs. The audit's own verdict does not know it.
const Blocked ledger.Verdict = "blocked"

// longestStand is how long a sale may stand still: as long as a buyer waits for a
// lock and a dead holder keeps it, at the slowest of the services, plus faults.
// 0: no service says.
func (r *run) longestStand() time.Duration {
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
func (r *Result) Stood() string {
	if r.Audit == nil || r.Audit.Served == nil {
		return ""
	}
	s := r.Audit.Served
	return fmt.Sprintf("from %s on no sale for %s, with units left and buyers asking for them; allowed are %s", numbers.Duration(int64(s.FromMs*1000)),
		numbers.Duration(int64(s.LongestMs*1000)), numbers.Duration(int64(s.PatienceMs*1000)))
}

// Summary is the verdict in one sentence.
func (r *Result) Summary() string {
	a := r.Audit
	right := "right: nothing oversold, lost or invented in " + numbers.Count(r.Requests, "request")
	switch r.Verdict {
	case ledger.Held:
		served := "served"
		if len(r.Signs.Short) > 0 {
			var short []string
			for _, s := range r.Signs.Short {
				short = append(short, s.String())
			}
			served = fmt.Sprintf("not served as it should be (%s)", strings.Join(short, ", "))
		}
		return fmt.Sprintf("%s; %s: %s of %s in %s", right, served, numbers.Thousands(a.Sold), numbers.Count(a.Initial, "unit"),
			numbers.Duration(int64(r.SellingSeconds*1e6)))
	case Blocked:
		return fmt.Sprintf("%s, but not served: %s. %s of %s sold", right, r.Stood(), numbers.Thousands(a.Sold), numbers.Count(a.Initial, "unit"))
	case ledger.Oversold:
		if a.Sold <= a.Initial { // others of several SKUs are left, or what is too much is only reserved
			return "more of a SKU was sold or reserved than there was"
		}
		return fmt.Sprintf("%s sold of %s: %s too many",
			numbers.Thousands(a.Sold), numbers.Count(a.Initial, "unit"), numbers.Thousands(a.Sold-a.Initial))
	case ledger.Lost:
		return "not oversold, but the ledger or the buyers were wronged"
	}
	return "this run proves nothing"
}
