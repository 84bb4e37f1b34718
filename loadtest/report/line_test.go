package report

import (
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

func TestLine(t *testing.T) {
	p := loadtest.Progress{Elapsed: 1500 * time.Millisecond, Requests: 1234, Buyers: 20_000, Units: 501, Rate: 2310, P99: 31,
		Counts: map[ledger.Outcome]int{ledger.OutcomeSold: 501, ledger.OutcomeUnknown: 3}}
	if got, want := Line(p, 500), "1,234 of 20,000 buyers, sold 501 of 500 OVERSOLD, 3 without an answer, 2,310/s, p99 31.0 ms, 1.5s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
