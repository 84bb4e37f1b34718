package report

import (
	"fmt"
	"io"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Progress shows how a run goes in one line: on a terminal it is written over, in
// a log there is one about every second.
type Progress struct {
	W     io.Writer
	Width func() int // columns of the terminal; nil: it is a log
	Stock int64      // units for sale in all

	last loadtest.Progress // that a log was told
}

// Show shows the run as it stands.
func (s *Progress) Show(p loadtest.Progress) {
	if s.Width != nil {
		line := []rune(s.line(p))
		// One column stays free: a full line would wrap in some terminals.
		fmt.Fprintf(s.W, "\r%s\x1b[K", string(line[:min(len(line), max(s.Width(), 1)-1)]))
		return
	}
	since := p.Elapsed - s.last.Elapsed
	if since < time.Second && (!p.Settling || s.last.Settling || s.last.Elapsed == 0) {
		return
	}
	p.Rate = float64(p.Requests-s.last.Requests) / since.Seconds()
	s.last = p
	fmt.Fprintln(s.W, s.line(p))
}

// Clear removes the line from a terminal, for what is written next.
func (s *Progress) Clear() {
	if s.Width != nil {
		fmt.Fprint(s.W, "\r\x1b[K")
	}
}

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
