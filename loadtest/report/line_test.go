package report

import (
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// What matters most comes first, and what goes wrong is in the line.
func TestLine(t *testing.T) {
	p := loadtest.Progress{Elapsed: 1500 * time.Millisecond, Requests: 1234, Buyers: 20_000, Units: 480, Left: 20, Rate: 2310, P50: 1.2, P99: 31,
		Counts: map[ledger.Outcome]int{ledger.OutcomeSold: 480}}
	if want := " 1,234 of 20,000 buyers  sold 480 of 500  left  20"; !strings.HasPrefix(Line(p, 500), want) {
		t.Errorf("%q, want %q first", Line(p, 500), want)
	}
	p.Units, p.Settling, p.Counts[ledger.OutcomeUnknown] = 501, true, 3
	for _, want := range []string{"501 of 500 OVERSOLD", "unknown 3", "waiting for 3 answers", "2,310/s"} {
		if !strings.Contains(Line(p, 500), want) {
			t.Errorf("%q, want %q in it", Line(p, 500), want)
		}
	}
}
