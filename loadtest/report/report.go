// Package report writes load runs for people: a line that shows how one goes, and
// its result.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/tables"
	"seckill/loadtest"
)

// Of is the result for people, and for programs.
func Of(r *loadtest.Result) tables.Report {
	report := tables.Report{JSON: r, Answer: answerLines(r), Facts: factRows(r), Tables: []tables.Table{findingsTable(r), requirementsTable(r)}, Name: Name}
	for _, p := range r.Problems {
		report.Problems = append(report.Problems, p.Text)
	}
	var servers []backend.Status
	if len(r.Targets) > 0 {
		servers = r.Targets[0].Backends
	}
	report.From = tables.Run{Command: r.Settings.Command(), Begun: r.Start, Machine: tables.ThisMachine(), Servers: backend.Versions(servers)}.String()
	return report
}

// Name is the name of the report's block in a Markdown file.
const Name = "load"

// answerLines is the verdict, and what is known of a strategy beyond this run.
func answerLines(r *loadtest.Result) []string {
	all := []string{strings.ToUpper(strings.ReplaceAll(string(r.Verdict), "_", " ")) + "  " + r.Summary()}
	switch {
	case !r.Strategy.Broken:
	case r.Verdict == judge.Held:
		all = append(all, r.Strategy.Name+" held this time, and is shipped to break: seckill prove shows a schedule that does it.")
	case r.Verdict == judge.Oversold, r.Verdict == judge.Lost:
		all = append(all, r.Strategy.Name+" is shipped to break like this: compare it with the strategies that hold.")
	}
	did, not := r.Exercised()
	return append(all, "Tried besides purchases: "+cmp.Or(strings.Join(did, ", "), "nothing")+". Not tried: "+strings.Join(not, ", ")+".")
}

// findingsTable are the rules that were violated.
func findingsTable(r *loadtest.Result) tables.Table {
	t := tables.Table{Title: "What the judge found", Head: []string{"rule", "what"}, Words: 2}
	if r.Audit == nil {
		return t
	}
	for _, v := range r.Audit.Violations {
		t.Rows = append(t.Rows, []string{v.Rule, v.Message})
		for _, example := range v.Examples {
			t.Rows = append(t.Rows, []string{"", example})
		}
		if more := v.Count - len(v.Examples); more > 0 && len(v.Examples) > 0 {
			t.Rows = append(t.Rows, []string{"", fmt.Sprintf("… and %s more", tables.Thousands(more))})
		}
	}
	return t
}

func requirementsTable(r *loadtest.Result) tables.Table {
	t := tables.Table{Title: "Requirements", Head: []string{"what", "came to (times in ms)", ""}, Words: 3}
	for _, c := range r.Checks {
		met := "met"
		if !c.Met {
			met = "NOT MET"
		}
		t.Rows = append(t.Rows, []string{c.Requirement, tables.Number(c.Actual), met})
	}
	return t
}

// rows are facts, by name.
type rows [][2]string

func (all *rows) addRow(name, format string, args ...any) {
	*all = append(*all, [2]string{name, fmt.Sprintf(format, args...)})
}

// factRows returns the figures that the verdict rests on.
func factRows(r *loadtest.Result) (all rows) {
	all.addRow("strategy", "%s", joinNonEmpty(" · ", r.Strategy.Name, r.Strategy.Title))
	all.addRow("sale", "%s", r.Settings.Command())
	for i, target := range r.Targets {
		all.addRow("target", "%s", target.URL)
		if i > 0 && slices.Equal(target.Backends, r.Targets[0].Backends) {
			continue
		}
		for _, b := range target.Backends {
			state := b.Version
			if !b.OK {
				state = joinNonEmpty(" ", state, "DOWN", b.Error)
			}
			all.addRow(b.Name, "%-9s %s", b.Tier, state)
		}
	}
	if r.Requests > 0 {
		all.addOutcomes(r)
		all.addSpeed(r)
	}
	if a := r.Audit; a != nil {
		cancelled := ""
		if a.Cancelled > 0 {
			cancelled = fmt.Sprintf(", %d cancelled", a.Cancelled)
		}
		if a.Restocked > 0 {
			cancelled += fmt.Sprintf(", %s added", tables.Count(a.Restocked, "unit"))
		}
		all.addRow("ledger", "%s sold in %s%s, %s left of %s (run %d)", tables.Count(a.Sold, "unit"), tables.Count(a.Orders, "order"),
			cancelled, tables.Thousands(a.Remaining), tables.Thousands(a.Initial), a.Run)
	}
	switch l := r.Linearizable; { // not linearizable is a violation
	case l.Answer == loadtest.LinearYes:
		all.addRow("answers", "linearizable: one buyer at a time explains all of %s", tables.Count(l.Checked, "answer"))
	case l.Answer == loadtest.LinearNotChecked && l.Why != "":
		all.addRow("answers", "not looked at: %s", l.Why)
	}
	return all
}

func (all *rows) addOutcomes(r *loadtest.Result) {
	var counts []string
	for _, o := range loadtest.Outcomes {
		if n := r.Counts[o]; n > 0 || o == judge.OutcomeSold || o == judge.OutcomeSoldOut {
			counts = append(counts, strings.ReplaceAll(string(o), "_", " ")+" "+tables.Thousands(n))
		}
	}
	all.addRow("buyers", "%s", strings.Join(counts, " · "))
	if r.Copies+r.Retries > 0 { // else each has one call
		all.addRow("  repeated", "%s and %s", tables.CountOf(r.Copies, "copy", "copies"), tables.CountOf(r.Retries, "retry", "retries"))
	}
	for _, a := range r.Answers { // the outcome alone does not explain these
		if a.Outcome == judge.OutcomeUnknown || a.Outcome == judge.OutcomeError {
			all.addRow(string(a.Outcome), "%s × %s: %s", a.Code, tables.Thousands(a.Count), a.Sample)
		}
	}
}

func (all *rows) addSpeed(r *loadtest.Result) {
	all.addRow("speed", "%s requests/s · %s sales/s · %s in %s", tables.Thousands(int64(r.RequestsPerSec+.5)), tables.Thousands(int64(r.SalesPerSec+.5)),
		tables.Count(r.Requests, "request"), (time.Duration(r.Seconds * float64(time.Second))).Round(time.Millisecond))
	all.addRow("latency", "%s", formatLatency(r.Latency)) // with two steps: of the first
	if r.Counts[judge.OutcomeSold] > 0 {
		all.addRow("  of sales", "%s", formatLatency(r.SoldLatency))
	}
	if r.Accepted > 0 {
		all.addRow("two steps", "%s accepted at first", tables.Thousands(r.Accepted))
	}
	if r.Settings.Open() { // above: from when a request was due
		all.addRow("  once sent", "%s", formatLatency(r.ServiceTime))
		all.addRow("lateness", "%s sent late · %s dropped · the generator's own p99 %s", tables.Thousands(r.Late), tables.Thousands(r.Dropped), tables.Duration(r.Lag.P99))
	}
	if c := r.Cancellations; c != (loadtest.Cancellations{}) {
		all.addRow("cancelled", "%s · refused %s · unknown %s", tables.Thousands(c.Done), tables.Thousands(c.Refused), tables.Thousands(c.Unknown))
	}
	if c := r.Reservations; c != (loadtest.Reservations{}) {
		all.addRow("reserved", "paid %s · forgotten %s · told expired %s · refused %s · unknown %s", tables.Thousands(c.Paid),
			tables.Thousands(c.Forgotten), tables.Thousands(c.Expired), tables.Thousands(c.Refused), tables.Thousands(c.Unknown))
	}
	switch {
	case r.CommandsMissing != "":
		all.addRow("commands", "not known: %s", r.CommandsMissing)
	default:
		var sum float64
		var each []string
		for _, c := range r.Commands {
			sum += c.PerPurchase
			each = append(each, fmt.Sprintf("%s %.2f", c.Backend, c.PerPurchase))
		}
		all.addRow("commands", "%s", joinNonEmpty(": ", fmt.Sprintf("%.2f a purchase", sum), strings.Join(each, " · ")))
	}
}

func formatLatency(l loadtest.Latency) string {
	return fmt.Sprintf("p50 %s · p90 %s · p99 %s · p99.9 %s · max %s · mean %s",
		tables.Duration(l.P50), tables.Duration(l.P90), tables.Duration(l.P99), tables.Duration(l.P999), tables.Duration(l.Max), tables.Duration(int64(l.Mean)))
}

// joinNonEmpty joins the texts that are not empty.
func joinNonEmpty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// Line shows how a run goes, in one line; units are those for sale in all.
func Line(p loadtest.Progress, units int64) string {
	oversold, trouble := "", ""
	if p.Units > units {
		oversold = " OVERSOLD"
	}
	if n := p.Counts[judge.OutcomeError] + p.Counts[judge.OutcomeUnknown]; n > 0 {
		trouble = ", " + tables.Thousands(n) + " without an answer"
	}
	return fmt.Sprintf("%s of %s buyers, sold %s of %s%s%s, %s/s, p99 %s, %s", tables.Thousands(p.Requests), tables.Thousands(p.Buyers),
		tables.Thousands(p.Units), tables.Thousands(units), oversold, trouble, tables.Thousands(int64(p.Rate)), tables.Duration(int64(p.P99*1000)),
		p.Elapsed.Round(100*time.Millisecond))
}
