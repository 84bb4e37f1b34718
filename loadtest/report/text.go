// Package report writes load runs for people: progress on a terminal, and the
// results as text.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Write writes a result, in colours if color is set.
func Write(w io.Writer, r *loadtest.Result, color bool) error {
	t := &text{color: color}
	t.header(r)
	if r.Requests > 0 {
		t.outcomes(r)
		t.speed(r)
	}
	t.verdict(r)
	_, err := io.WriteString(w, t.String())
	return err
}

// A text is a report being written: a name in the left column, its value in
// the right one.
type text struct {
	strings.Builder
	color bool
}

func (t *text) row(name, format string, args ...any) {
	fmt.Fprintf(t, "%-12s%s\n", name, fmt.Sprintf(format, args...))
}

func (t *text) header(r *loadtest.Result) {
	s := r.Settings
	t.row("strategy", "%s", join(" · ", r.Strategy.Name, r.Strategy.Title))
	t.row("sale", "%s", s.Command())
	for i, target := range r.Targets {
		t.row("target", "%s", target.URL)
		if i+1 < len(r.Targets) && slices.Equal(target.Backends, r.Targets[i+1].Backends) {
			continue // said once, below the last of them
		}
		for _, b := range target.Backends {
			state := b.Version
			if !b.OK {
				state = join(" ", state, "DOWN", b.Error)
			}
			t.row("", "%-10s %-9s %s", b.Name, b.Tier, state)
		}
	}
}

func (t *text) outcomes(r *loadtest.Result) {
	t.row("buyers", "%s", told(r.Counts))
	if r.Copies+r.Retries > 0 { // else each has one call
		t.row("  by call", "%s · of these %s and %s", told(r.Calls), numbers.CountOf(r.Copies, "copy", "copies"), numbers.CountOf(r.Retries, "retry", "retries"))
	}
	for _, a := range r.Answers { // the outcome alone does not explain these
		if a.Outcome == ledger.OutcomeUnknown || a.Outcome == ledger.OutcomeError {
			t.row("", "%s %s × %s: %s", a.Outcome, a.Code, numbers.Thousands(a.Count), a.Sample)
		}
	}
}

// told is how often each outcome was counted.
func told(counted map[ledger.Outcome]int) string {
	var counts []string
	for _, o := range loadtest.Outcomes {
		if n := counted[o]; n > 0 || o == ledger.OutcomeSold || o == ledger.OutcomeSoldOut {
			counts = append(counts, strings.ReplaceAll(string(o), "_", " ")+" "+numbers.Thousands(n))
		}
	}
	return strings.Join(counts, " · ")
}

func (t *text) speed(r *loadtest.Result) {
	t.row("speed", "%s requests/s · %s sales/s · %s in %s", numbers.Thousands(int64(r.RequestsPerSec+.5)), numbers.Thousands(int64(r.SalesPerSec+.5)),
		numbers.Count(r.Requests, "request"), (time.Duration(r.Seconds * float64(time.Second))).Round(time.Millisecond))
	t.row("latency", "%s", latency(r.Latency)) // with two steps: of the first
	if r.Counts[ledger.OutcomeSold] > 0 {
		t.row("  of sales", "%s", latency(r.SoldLatency))
	}
	if s := r.TwoSteps; s != nil {
		t.row("two steps", "%s accepted: %s ordered · %s refused afterwards · %s without a final answer", numbers.Thousands(s.Accepted),
			numbers.Thousands(s.Ordered), numbers.Thousands(s.Refused), numbers.Thousands(s.Open))
	}
	if r.Settings.Open() { // above: from when a request was due
		t.row("  once sent", "%s", latency(r.ServiceTime))
		t.row("lateness", "%s sent late · %s dropped · the generator's own p99 %s", numbers.Thousands(r.Late), numbers.Thousands(r.Dropped), numbers.Duration(r.Lag.P99))
	}
	if c := r.Cancellations; c != (loadtest.Cancellations{}) {
		t.row("cancelled", "%s · refused %s · unknown %s", numbers.Thousands(c.Done), numbers.Thousands(c.Refused), numbers.Thousands(c.Unknown))
	}
	if c := r.Reservations; c != (loadtest.Reservations{}) {
		t.row("reserved", "paid %s · forgotten %s · told expired %s · refused %s · unknown %s", numbers.Thousands(c.Paid),
			numbers.Thousands(c.Forgotten), numbers.Thousands(c.Expired), numbers.Thousands(c.Refused), numbers.Thousands(c.Unknown))
	}
	switch {
	case r.CommandsMissing != "":
		t.row("commands", "not known: %s", r.CommandsMissing)
	default:
		var sum float64
		var each []string
		for _, c := range r.Commands {
			sum += c.PerPurchase
			each = append(each, fmt.Sprintf("%s %.2f", c.Backend, c.PerPurchase))
		}
		t.row("commands", "%s", join(": ", fmt.Sprintf("%.2f a purchase", sum), strings.Join(each, " · ")))
	}
}

func latency(l loadtest.Latency) string {
	return fmt.Sprintf("p50 %s · p90 %s · p99 %s · p99.9 %s · max %s · mean %s",
		numbers.Duration(l.P50), numbers.Duration(l.P90), numbers.Duration(l.P99), numbers.Duration(l.P999), numbers.Duration(l.Max), numbers.Duration(int64(l.Mean)))
}

// join leaves out what is empty.
func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
