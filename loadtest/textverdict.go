package loadtest

import (
	"fmt"
	"strings"

	"seckill/internal/fault"
	"seckill/internal/ledger"
)

// verdict writes what nobody may overlook, and everything it rests on.
func (t *text) verdict(r *Result) {
	if a := r.Audit; a != nil {
		cancelled := ""
		if a.Cancelled > 0 {
			cancelled = fmt.Sprintf(", %d cancelled", a.Cancelled)
		}
		orders, from := " in "+count(a.Orders, "order"), fmt.Sprintf("%s, run %d", r.LedgerSource, a.Run)
		if r.LedgerSource == SourceQuery { // which knows sums only
			orders, from = "", r.LedgerSource
		}
		t.row("ledger", "%s sold%s%s, %s left of %s (from %s)", count(a.Sold, "unit"), orders,
			cancelled, thousands(a.Remaining), thousands(a.Initial), from)
	}
	if r.Audit != nil && len(r.Told) > 0 {
		least, most, unknown := int64(0), int64(0), int64(0)
		for _, told := range r.Told {
			least, most, unknown = least+told.Least(), most+told.Most(), unknown+told.Unknown
		}
		t.row("buyers say", "%s at least, %s at most (%s unknown)%s", thousands(least), thousands(most), thousands(unknown), r.historyNote())
	}
	if l := r.Linearizable; l.Answer == LinearYes || l.Answer == LinearNotChecked && r.History && l.Why != "" {
		t.row("answers", "%s", l) // not linearizable is a violation, below
	}
	fmt.Fprintf(t, "\n%s  %s\n", t.stamp(r.Verdict), r.summary())
	if r.Audit != nil {
		for _, v := range r.Audit.Violations {
			fmt.Fprintf(t, "  %-22s %s\n", v.Rule, v.Message)
			for _, example := range v.Examples {
				fmt.Fprintf(t, "  %-22s   %s\n", "", example)
			}
			if more := v.Count - len(v.Examples); more > 0 && len(v.Examples) > 0 {
				fmt.Fprintf(t, "  %-22s   … and %s more\n", "", thousands(more))
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
		fmt.Fprintf(t, "  %-22s %s: %s\n", met, c.Requirement, c)
	}
	switch r.Verdict {
	case ledger.Oversold, ledger.Lost:
		if r.Strategy.Broken {
			fmt.Fprintf(t, "\n%s is shipped to break like this: compare it with the strategies that hold.\n", r.Strategy.Name)
		}
	case ledger.Held:
		if known := fault.HeldThisTime(r.Strategy.Name, r.Known); known != "" {
			fmt.Fprintf(t, "\n%s\n", known)
		}
	}
}

var stamps = map[ledger.Verdict]struct{ word, color string }{
	ledger.Held:     {"HELD", "\x1b[1;97;42m"},
	ledger.Oversold: {"OVERSOLD", "\x1b[1;97;41m"},
	ledger.Lost:     {"LOST", "\x1b[1;97;41m"},
	Blocked:         {"BLOCKED", "\x1b[1;97;41m"},
	ledger.NotValid: {"NOT VALID", "\x1b[1;30;43m"},
}

func (t *text) stamp(v ledger.Verdict) string {
	s := stamps[v]
	if t.color {
		return s.color + " " + s.word + " \x1b[0m"
	}
	return s.word
}

// summary is the verdict in one sentence.
func (r *Result) summary() string {
	a := r.Audit
	switch r.Verdict {
	case ledger.Held:
		return r.right() + "; " + r.served()
	case Blocked:
		return r.blocked()
	case ledger.Oversold:
		if over := a.Sold - a.Initial; over > 0 {
			return fmt.Sprintf("%s sold of %s: %s too many", thousands(a.Sold), count(a.Initial, "unit"), thousands(over))
		}
		return fmt.Sprintf("the stock of %s went to %s", thousands(a.Initial), thousands(a.Remaining))
	case ledger.Lost:
		var broken []string
		for _, v := range a.Violations {
			broken = append(broken, strings.ReplaceAll(v.Rule, "_", " "))
		}
		return "not oversold, but the ledger or the buyers were wronged: " + strings.Join(broken, ", ")
	}
	return "this run proves nothing"
}

// refusals says why units stayed although they were wanted.
func (r *Result) refusals() string {
	var why []string
	for _, o := range outcomes {
		switch n := r.Counts[o]; {
		case n == 0 || o == ledger.OutcomeSold:
		case o == ledger.OutcomeUnknown:
			why = append(why, count(n, "buyer")+" without a certain answer")
		default:
			why = append(why, fmt.Sprintf("%s told %s", count(n, "buyer"), strings.ReplaceAll(string(o), "_", " ")))
		}
	}
	return strings.Join(why, ", ")
}

func (r *Result) historyNote() string {
	if r.History {
		return ""
	}
	return "; no history was kept: the verdict is from these sums and the ledger alone"
}

func (l Linearizability) String() string {
	switch l.Answer {
	case LinearYes:
		return fmt.Sprintf("linearizable: one buyer at a time explains all of %s", count(l.Checked, "answer"))
	case LinearNo:
		return "not linearizable: " + l.Why
	}
	return "not looked at: " + l.Why
}
