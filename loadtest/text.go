package loadtest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
)

// WriteText writes the report for people, in colours if color is set.
func (r *Result) WriteText(w io.Writer, color bool) error {
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

func (t *text) header(r *Result) {
	s := r.Settings
	t.row("strategy", "%s", join(" · ", cmp.Or(r.Strategy.Name, "a foreign service's own"), r.Strategy.Title))
	t.row("sale", "%s · %s · %s × %s, %s · seed %d", s.skus(), count(s.Stock, "unit"),
		count(s.Buyers, "buyer"), s.quantity(), s.pace(), s.Seed)
	if mix := s.mix(); mix != "" {
		t.row("", "%s", mix)
	}
	for i, target := range r.Targets {
		t.row("target", "%s", target.URL)
		if i+1 < len(r.Targets) && sameBackends(target.Backends, r.Targets[i+1].Backends) {
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

func (t *text) outcomes(r *Result) {
	t.row("buyers", "%s", told(r.Counts))
	if r.Copies+r.Retries > 0 { // else each has one call
		t.row("  by call", "%s · of these %s and %s", told(r.Calls), countOf(r.Copies, "copy", "copies"), countOf(r.Retries, "retry", "retries"))
	}
	for _, a := range r.Answers { // the outcome alone does not explain these
		if a.Outcome == ledger.OutcomeUnknown || a.Outcome == ledger.OutcomeError {
			t.row("", "%s %s × %s: %s", a.Outcome, a.Code, thousands(a.Count), a.Sample)
		}
	}
}

// told is how often each outcome was counted.
func told(counted map[ledger.Outcome]int) string {
	var counts []string
	for _, o := range outcomes {
		if n := counted[o]; n > 0 || o == ledger.OutcomeSold || o == ledger.OutcomeSoldOut {
			counts = append(counts, strings.ReplaceAll(string(o), "_", " ")+" "+thousands(n))
		}
	}
	return strings.Join(counts, " · ")
}

func (t *text) speed(r *Result) {
	t.row("speed", "%s requests/s · %s sales/s · %s in %s", thousands(int64(r.RequestsPerSec+.5)), thousands(int64(r.SalesPerSec+.5)),
		count(r.Requests, "request"), (time.Duration(r.Seconds * float64(time.Second))).Round(time.Millisecond))
	t.row("latency", "%s", r.Latency)
	if r.Counts[ledger.OutcomeSold] > 0 {
		t.row("  of sales", "%s", r.SoldLatency)
	}
	if r.Settings.open() { // above: from when a request was due
		t.row("  once sent", "%s", r.ServiceTime)
		t.row("lateness", "%s sent late · %s dropped · the generator's own p99 %s", thousands(r.Late), thousands(r.Dropped), millis(r.Lag.P99))
	}
	if c := r.Cancellations; c != (Cancellations{}) {
		again := ""
		if c.Retries > 0 {
			again = " · " + countOf(c.Retries, "retry", "retries")
		}
		t.row("cancelled", "%s · refused %s · unknown %s%s", thousands(c.Done), thousands(c.Refused), thousands(c.Unknown), again)
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
		t.row("commands", "%.2f a purchase%s", sum, prefix(": ", strings.Join(each, " · ")))
	}
}

func (l Latency) String() string {
	return fmt.Sprintf("p50 %s · p90 %s · p99 %s · p99.9 %s · max %s · mean %s",
		millis(l.P50), millis(l.P90), millis(l.P99), millis(l.P999), millis(l.Max), millis(int64(l.Mean)))
}

// millis shows microseconds with three significant digits.
func millis(us int64) string {
	ms := float64(us) / 1000
	switch {
	case ms >= 999.5:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	case ms >= 100:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms >= 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
}

// thousands shows a number in groups of three digits.
func thousands[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// count is a number of things.
func count[N int | int64](n N, thing string) string { return countOf(n, thing, thing+"s") }

func countOf[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

func wasOrWere(n int, thing string) string {
	if n == 1 {
		return count(n, thing) + " was"
	}
	return count(n, thing) + " were"
}

// join leaves out what is empty.
func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

func prefix(with, s string) string {
	if s == "" {
		return ""
	}
	return with + s
}

func sameBackends(a, b []backend.Status) bool { return slices.Equal(a, b) }
