package report

import (
	"fmt"
	"strconv"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// verdict writes the verdict and everything it rests on.
func (t *text) verdict(r *loadtest.Result) {
	if a := r.Audit; a != nil {
		cancelled := ""
		if a.Cancelled > 0 {
			cancelled = fmt.Sprintf(", %d cancelled", a.Cancelled)
		}
		t.row("ledger", "%s sold in %s%s, %s left of %s (from %s, run %d)", numbers.Count(a.Sold, "unit"), numbers.Count(a.Orders, "order"),
			cancelled, numbers.Thousands(a.Remaining), numbers.Thousands(a.Initial), r.LedgerSource, a.Run)
	}
	switch l := r.Linearizable; { // not linearizable is a violation, below
	case l.Answer == loadtest.LinearYes:
		t.row("answers", "linearizable: one buyer at a time explains all of %s", numbers.Count(l.Checked, "answer"))
	case l.Answer == loadtest.LinearNotChecked && l.Why != "":
		t.row("answers", "not looked at: %s", l.Why)
	}
	fmt.Fprintf(t, "\n%s  %s\n", t.stamp(r.Verdict), r.Summary())
	if r.Audit != nil {
		for _, v := range r.Audit.Violations {
			fmt.Fprintf(t, "  %-22s %s\n", v.Rule, v.Message)
			for _, example := range v.Examples {
				fmt.Fprintf(t, "  %-22s   %s\n", "", example)
			}
			if more := v.Count - len(v.Examples); more > 0 && len(v.Examples) > 0 {
				fmt.Fprintf(t, "  %-22s   … and %s more\n", "", numbers.Thousands(more))
			}
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(t, "  %-22s %s\n", "problem", p)
	}
	for _, c := range r.Checks {
		met := "met"
		if !c.Met {
			met = "NOT MET"
		}
		fmt.Fprintf(t, "  %-22s %s: %s\n", met, c.Requirement, actual(c))
	}
	switch r.Verdict {
	case ledger.Oversold, ledger.Lost:
		if r.Strategy.Broken {
			fmt.Fprintf(t, "\n%s is shipped to break like this: compare it with the strategies that hold.\n", r.Strategy.Name)
		}
	case ledger.Held:
		if known := loadtest.HeldThisTime(r.Strategy.Name, r.Known); known != "" {
			fmt.Fprintf(t, "\n%s\n", known)
		}
	}
}

var stamps = map[ledger.Verdict]struct{ word, color string }{
	ledger.Held:      {"HELD", "\x1b[1;97;42m"},
	ledger.Oversold:  {"OVERSOLD", "\x1b[1;97;41m"},
	ledger.Lost:      {"LOST", "\x1b[1;97;41m"},
	loadtest.Blocked: {"BLOCKED", "\x1b[1;97;41m"},
	ledger.NotValid:  {"NOT VALID", "\x1b[1;30;43m"},
}

func (t *text) stamp(v ledger.Verdict) string {
	s := stamps[v]
	if t.color {
		return s.color + " " + s.word + " \x1b[0m"
	}
	return s.word
}

// actual is what a requirement was compared with.
func actual(c loadtest.Check) string {
	switch c.Unit {
	case loadtest.UnitMicros:
		return numbers.Duration(int64(c.Actual))
	case loadtest.UnitRate:
		return numbers.Thousands(int64(c.Actual+.5)) + "/s"
	}
	return strconv.FormatFloat(c.Actual, 'g', 4, 64)
}
