package loadtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/tables"
)

// Report returns the result in its forms for people and for programs.
func (r *Result) Report() tables.Report {
	report := tables.Report{JSON: r, Answer: r.answerLines(), Facts: r.factRows(), Name: ReportName,
		Tables:   []tables.Table{r.findingsTable(), r.requirementsTable()},
		Problems: tables.Map(r.Problems, Problem.Error)}
	var servers []backend.Status
	if len(r.Targets) > 0 {
		servers = r.Targets[0].Backends
	}
	run := tables.Run{Command: r.Settings.Command(), Begun: r.Start, Machine: tables.ThisMachine(),
		Servers: backend.Versions(servers)}
	report.From = run.String()
	return report
}

// ReportName identifies the block of a Markdown file into which the report is written.
const ReportName = "load"

func (r *Result) answerLines() []string {
	all := []string{strings.ToUpper(strings.ReplaceAll(string(r.Verdict), "_", " ")) + "  " + r.Summary()}
	switch {
	case !r.Strategy.Broken:
	case r.Verdict == judge.Held:
		all = append(all, r.Strategy.Name+" held this time, and is shipped to break: "+
			"seckill prove shows a schedule that does it.")
	case r.Verdict == judge.Oversold, r.Verdict == judge.Lost:
		all = append(all, r.Strategy.Name+" is shipped to break like this: compare it with the strategies that hold.")
	}
	did, not := r.Exercised()
	return append(all, fmt.Sprintf("Tried besides purchases: %s. Not tried: %s.",
		cmp.Or(strings.Join(did, ", "), "nothing"), strings.Join(not, ", ")))
}

func (r *Result) findingsTable() tables.Table {
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

func (r *Result) requirementsTable() tables.Table {
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

type rows [][2]string

func (all *rows) addRow(name, format string, args ...any) {
	*all = append(*all, [2]string{name, formatFigures(format, args...)})
}

// formatFigures does what fmt.Sprintf does, but groups the digits of whole numbers in threes.
func formatFigures(format string, args ...any) string {
	for i, arg := range args {
		switch n := arg.(type) {
		case int:
			args[i] = tables.Thousands(n)
		case int64:
			args[i] = tables.Thousands(n)
		}
	}
	return fmt.Sprintf(format, args...)
}

func (r *Result) factRows() rows {
	var all rows
	all.addRow("strategy", "%v", joinNonEmpty(" · ", r.Strategy.Name, r.Strategy.Title))
	all.addRow("sale", "%v", r.Settings.Command())
	for i, target := range r.Targets {
		all.addRow("target", "%v", target.URL)
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
			cancelled = formatFigures(", %v cancelled", a.Cancelled)
		}
		if a.Restocked > 0 {
			cancelled += fmt.Sprintf(", %s added", tables.Count(a.Restocked, "unit"))
		}
		all.addRow("ledger", "%v sold in %v%v, %v left of %v (run %v)", tables.Count(a.Sold, "unit"),
			tables.Count(a.Orders, "order"), cancelled, a.Remaining, a.Initial, a.Run)
	}
	// The answer "no" has no row, because it is a violation, which findingsTable shows.
	switch l := r.Linearizable; {
	case l.Answer == LinearYes:
		all.addRow("answers", "linearizable: one buyer at a time explains all of %v", tables.Count(l.Checked, "answer"))
	case l.Answer == LinearNotChecked && l.Why != "":
		all.addRow("answers", "not looked at: %v", l.Why)
	}
	return all
}

func (all *rows) addOutcomes(r *Result) {
	var counts []string
	for _, o := range Outcomes {
		if n := r.Counts[o]; n > 0 || o == judge.OutcomeSold || o == judge.OutcomeSoldOut {
			counts = append(counts, formatFigures("%v %v", strings.ReplaceAll(string(o), "_", " "), n))
		}
	}
	all.addRow("buyers", "%v", strings.Join(counts, " · "))
	// This row is left out if each buyer has made only one call.
	if r.Copies+r.Retries > 0 {
		copies, retries := tables.CountOf(r.Copies, "copy", "copies"), tables.CountOf(r.Retries, "retry", "retries")
		all.addRow("  repeated", "%v and %v", copies, retries)
	}
	// The outcomes unknown and error have many causes, so each cause has a row.
	for _, a := range r.Answers {
		if a.Outcome == judge.OutcomeUnknown || a.Outcome == judge.OutcomeError {
			all.addRow(string(a.Outcome), "%v × %v: %v", a.Code, a.Count, a.Sample)
		}
	}
}

func (all *rows) addSpeed(r *Result) {
	took := time.Duration(r.Seconds * float64(time.Second)).Round(time.Millisecond)
	all.addRow("speed", "%v requests/s · %v sales/s · %v in %v", int64(r.RequestsPerSec+.5), int64(r.SalesPerSec+.5),
		tables.Count(r.Requests, "request"), took)
	// The latency of an accepted request ends with its first answer.
	all.addRow("latency", "%v", formatLatency(r.Latency))
	if r.Counts[judge.OutcomeSold] > 0 {
		all.addRow("  of sales", "%v", formatLatency(r.SoldLatency))
	}
	if r.Accepted > 0 {
		all.addRow("two steps", "%v accepted at first", r.Accepted)
	}
	// In an open loop, the latency in the rows above counts from the time when a request was due.
	if r.Settings.Open() {
		all.addRow("  once sent", "%v", formatLatency(r.ServiceTime))
		all.addRow("lateness", "%v sent late · %v dropped · the generator's own p99 %v",
			r.Late, r.Dropped, tables.Duration(r.Lag.P99))
	}
	if c := r.Cancellations; c != (Cancellations{}) {
		all.addRow("cancelled", "%v · refused %v · unknown %v", c.Done, c.Refused, c.Unknown)
	}
	if c := r.Reservations; c != (Reservations{}) {
		all.addRow("reserved", "paid %v · forgotten %v · told expired %v · refused %v · unknown %v",
			c.Paid, c.Forgotten, c.Expired, c.Refused, c.Unknown)
	}
	if r.CommandsMissing != "" {
		all.addRow("commands", "not known: %v", r.CommandsMissing)
		return
	}
	var sum float64
	var each []string
	for _, c := range r.Commands {
		sum += c.PerPurchase
		each = append(each, fmt.Sprintf("%s %.2f", c.Backend, c.PerPurchase))
	}
	perPurchase := fmt.Sprintf("%.2f a purchase", sum)
	all.addRow("commands", "%v", joinNonEmpty(": ", perPurchase, strings.Join(each, " · ")))
}

func formatLatency(l Latency) string {
	show := tables.Duration
	return fmt.Sprintf("p50 %s · p90 %s · p99 %s · p99.9 %s · max %s · mean %s",
		show(l.P50), show(l.P90), show(l.P99), show(l.P999), show(l.Max), show(int64(l.Mean)))
}

func joinNonEmpty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// Line returns the progress in one line. The parameter units is the initial stock of all SKUs together.
func (p Progress) Line(units int64) string {
	oversold, trouble := "", ""
	if p.Units > units {
		oversold = " OVERSOLD"
	}
	if n := p.Counts[judge.OutcomeError] + p.Counts[judge.OutcomeUnknown]; n > 0 {
		trouble = formatFigures(", %v without an answer", n)
	}
	return formatFigures("%v of %v buyers, sold %v of %v%v%v, %v/s, p99 %v, %v",
		p.Requests, p.Buyers, p.Units, units, oversold, trouble, int64(p.Rate), tables.Duration(int64(p.P99*1000)),
		p.Elapsed.Round(100*time.Millisecond))
}
