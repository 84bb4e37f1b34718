package report

import (
	"fmt"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Line shows how a run goes, in one line; units are those for sale in all. It has
// what matters most first. Numbers are padded so that they keep their places.
func Line(p loadtest.Progress, units int64) string {
	state, buyers, stock := "", numbers.Thousands(p.Buyers), numbers.Thousands(units)
	switch n := p.Counts[ledger.OutcomeUnknown]; {
	case p.Settling && n > 0:
		state = ", waiting for " + numbers.Count(n, "answer")
	case p.Settling:
		state = ", reading the ledger"
	}
	oversold := ""
	if p.Units > units {
		oversold = " OVERSOLD"
	}
	text := fmt.Sprintf("%*s of %s buyers%s  sold %*s of %s%s  left %*s", len(buyers), numbers.Thousands(p.Requests), buyers, state,
		len(stock), numbers.Thousands(p.Units), stock, oversold, len(stock), numbers.Thousands(p.Left))
	for _, trouble := range []struct {
		what string
		n    int
	}{{"error", p.Counts[ledger.OutcomeError]}, {"unknown", p.Counts[ledger.OutcomeUnknown]}, {"late", p.Late}} {
		if trouble.n > 0 {
			text += fmt.Sprintf("  %s %s", trouble.what, numbers.Thousands(trouble.n))
		}
	}
	return text + fmt.Sprintf("  %7s/s  p50 %7s  p99 %7s  %s", numbers.Thousands(int64(p.Rate)), numbers.Duration(int64(p.P50*1000)),
		numbers.Duration(int64(p.P99*1000)), p.Elapsed.Round(100*time.Millisecond))
}
