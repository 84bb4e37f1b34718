package report

import (
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

func progress() loadtest.Progress {
	return loadtest.Progress{Elapsed: 1500 * time.Millisecond, Requests: 1234, Buyers: 20_000, Units: 480, Left: 20, Rate: 2310, P50: 1.2, P99: 31,
		Counts: map[ledger.Outcome]int{ledger.OutcomeSold: 480}}
}

// On a terminal the line is written over and never wraps.
func TestProgressOnATerminal(t *testing.T) {
	for _, width := range []int{1, 40, 200} {
		var b strings.Builder
		p := &Progress{W: &b, Stock: 500, Width: func() int { return width }}
		p.Show(progress())
		line, found := strings.CutPrefix(strings.TrimSuffix(b.String(), "\x1b[K"), "\r")
		if !found || len([]rune(line)) >= width {
			t.Errorf("%d columns: %q", width, b.String())
		}
		if want := " 1,234 of 20,000 buyers  sold 480 of 500  left  20"; width == 200 && !strings.HasPrefix(line, want) {
			t.Errorf("%q, want %q first", line, want)
		}
	}
}

// In a log there is a line about every second, with the rate since the last, and one
// when the load has ended; what went wrong is in it.
func TestProgressInALog(t *testing.T) {
	var b strings.Builder
	p := &Progress{W: &b, Stock: 500}
	at := progress()
	for _, ms := range []int{100, 900, 1000, 1500, 2000, 2100} {
		at.Elapsed, at.Requests = time.Duration(ms)*time.Millisecond, ms
		at.Settling = ms == 2100
		if ms == 2000 {
			at.Units, at.Counts[ledger.OutcomeUnknown] = 501, 3
		}
		p.Show(at)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], "1,000/s") || !strings.Contains(lines[1], "501 of 500 OVERSOLD") ||
		!strings.Contains(lines[1], "unknown 3") || !strings.Contains(lines[2], "waiting for 3 answers") {
		t.Errorf("the log is\n%s", b.String())
	}
}
