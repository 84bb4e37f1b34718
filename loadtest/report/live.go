package report

import (
	"fmt"
	"io"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Progress shows how a run goes in one line of a terminal, which is written over.
type Progress struct {
	W     io.Writer
	Width func() int // columns of the terminal
	Stock int64      // units for sale in all
}

// Show shows the run as it stands.
func (s *Progress) Show(p loadtest.Progress) {
	line := []rune(s.line(p))
	// One column stays free: a full line would wrap in some terminals.
	fmt.Fprintf(s.W, "\r%s\x1b[K", string(line[:min(len(line), max(s.Width(), 1)-1)]))
}

// Clear removes the line, for what is written next.
func (s *Progress) Clear() { fmt.Fprint(s.W, "\r\x1b[K") }

// line has what matters most first. Numbers are padded so that they keep their places.
func (s *Progress) line(p loadtest.Progress) string {
	state, buyers, stock := "", numbers.Thousands(p.Buyers), numbers.Thousands(s.Stock)
	switch n := p.Counts[ledger.OutcomeUnknown]; {
	case p.Settling && n > 0:
		state = ", waiting for " + numbers.Count(n, "answer")
	case p.Settling:
		state = ", reading the ledger"
	}
	oversold := ""
	if p.Units > s.Stock {
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
