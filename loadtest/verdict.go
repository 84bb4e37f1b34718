package loadtest

import "seckill/internal/ledger"

// Exit statuses of a run.
const (
	ExitHeld     = 0
	ExitOversold = 10 // also when units or orders were lost besides
	ExitLost     = 11 // lost or undersold, or answers that cannot all be true
	ExitUnmet    = 12 // held, and a requirement was not met
	ExitBlocked  = 15 // nothing oversold, lost or invented, and the sale stood still
	ExitNotValid = 20 // the run itself proves nothing
)

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

// conclude gives the verdict. A problem with the run takes away what it seems
// to prove, but not what was proven in spite of it: units that were sold
// twice stay sold twice when somebody presses Ctrl-C.
func (r *Result) conclude(require []string) error {
	r.Checks = []Check{}
	for _, text := range require {
		q, err := ParseRequirement(text)
		if err != nil {
			return wrong("require", "%v", err)
		}
		r.Checks = append(r.Checks, q.check(r))
	}
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
	return nil
}

// proven: a violation that no problem of the run can explain.
func (r *Result) proven(v ledger.Violation) bool {
	switch {
	case v.Rule == ledger.RuleNothingSold: // nobody may have got through
		return false
	case !r.Settled: // what still runs can take units, but not make orders vanish
		return v.Rule == ledger.RuleOversold || v.Rule == ledger.RuleMoreThanTold
	}
	return true
}

// definite counts the buyers who know what they got.
func (r *Result) definite() int {
	return r.Requests - r.Counts[ledger.OutcomeUnknown] - r.Counts[ledger.OutcomeError]
}

// answered counts the answers with one code.
func (r *Result) answered(code string) int {
	for _, a := range r.Answers {
		if a.Code == code {
			return a.Count
		}
	}
	return 0
}
