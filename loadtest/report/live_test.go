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

// What goes wrong is in the line.
func TestProgressInTrouble(t *testing.T) {
	var b strings.Builder
	at := progress()
	at.Units, at.Settling, at.Counts[ledger.OutcomeUnknown] = 501, true, 3
	(&Progress{W: &b, Stock: 500, Width: func() int { return 200 }}).Show(at)
	for _, want := range []string{"501 of 500 OVERSOLD", "unknown 3", "waiting for 3 answers", "2,310/s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q, want %q in it", b.String(), want)
		}
	}
}
