package report

import (
	"fmt"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Line shows how a run goes, in one line; units are those for sale in all.
func Line(p loadtest.Progress, units int64) string {
	oversold, trouble := "", ""
	if p.Units > units {
		oversold = " OVERSOLD"
	}
	if n := p.Counts[ledger.OutcomeError] + p.Counts[ledger.OutcomeUnknown]; n > 0 {
		trouble = ", " + numbers.Thousands(n) + " without an answer"
	}
	return fmt.Sprintf("%s of %s buyers, sold %s of %s%s%s, %s/s, p99 %s, %s", numbers.Thousands(p.Requests), numbers.Thousands(p.Buyers),
		numbers.Thousands(p.Units), numbers.Thousands(units), oversold, trouble, numbers.Thousands(int64(p.Rate)), numbers.Duration(int64(p.P99*1000)),
		p.Elapsed.Round(100*time.Millisecond))
}
