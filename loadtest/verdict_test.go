package loadtest

import (
	"testing"

	"seckill/internal/ledger"
)

func TestConclude(t *testing.T) {
	oversold := ledger.Violation{Rule: ledger.RuleOversold, Verdict: ledger.Oversold}
	negative := ledger.Violation{Rule: ledger.RuleNegative, Verdict: ledger.Lost}
	missing := ledger.Violation{Rule: ledger.RuleMissingOrder, Verdict: ledger.Lost}
	nothing := ledger.Violation{Rule: ledger.RuleNothingSold, Verdict: ledger.Lost}
	for _, test := range []struct {
		name       string
		violations []ledger.Violation
		audit      ledger.Verdict
		problem    bool
		unsettled  bool
		want       int
	}{
		{name: "clean", audit: ledger.Held, want: ExitHeld},
		{name: "oversold", audit: ledger.Oversold, violations: []ledger.Violation{oversold}, want: ExitOversold},
		{name: "both", audit: ledger.Oversold, violations: []ledger.Violation{missing, oversold}, want: ExitOversold},
		{name: "lost", audit: ledger.Lost, violations: []ledger.Violation{missing}, want: ExitLost},
		{name: "nothing sold", audit: ledger.Lost, violations: []ledger.Violation{nothing}, want: ExitLost},
		{name: "no ledger", problem: true, want: ExitNotValid},
		{name: "judge says not valid", audit: ledger.NotValid, violations: []ledger.Violation{oversold}, want: ExitNotValid},
		{name: "clean with a problem", audit: ledger.Held, problem: true, want: ExitNotValid},
		{name: "oversold with a problem", audit: ledger.Oversold, violations: []ledger.Violation{oversold}, problem: true, want: ExitOversold},
		{name: "both with a problem", audit: ledger.Oversold, violations: []ledger.Violation{missing, oversold, missing}, problem: true, want: ExitOversold},
		{name: "lost with a problem", audit: ledger.Lost, violations: []ledger.Violation{missing}, problem: true, want: ExitLost},
		{name: "nothing sold with a problem", audit: ledger.Lost, violations: []ledger.Violation{nothing}, problem: true, want: ExitNotValid},
		{name: "oversold, unsettled", audit: ledger.Oversold, violations: []ledger.Violation{oversold}, problem: true, unsettled: true, want: ExitOversold},
		{name: "negative, unsettled", audit: ledger.Lost, violations: []ledger.Violation{negative}, problem: true, unsettled: true, want: ExitNotValid},
		{name: "lost, unsettled", audit: ledger.Lost, violations: []ledger.Violation{missing}, problem: true, unsettled: true, want: ExitNotValid},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &Result{Settled: !test.unsettled}
			if test.audit != "" {
				r.Audit = &ledger.Report{Verdict: test.audit, Violations: test.violations}
			}
			if test.problem {
				r.Problems = []Problem{{Text: "something"}}
			}
			r.conclude(nil)
			if r.ExitStatus() != test.want {
				t.Errorf("verdict %s, exit status %d, want %d", r.Verdict, r.ExitStatus(), test.want)
			}
		})
	}
}
