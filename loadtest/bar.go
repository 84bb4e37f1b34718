package loadtest

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"seckill/internal/ledger"
)

// A Bar shows progress in one line of a terminal.
type Bar struct {
	W     io.Writer
	Width func() int // columns now; the window may change
}

const (
	carriageReturn = "\r"
	clearLine      = "\r\x1b[K"
	widestBar      = 30
	narrowestBar   = 5
)

// Show draws the run as it stands over what was drawn before.
func (b Bar) Show(p Progress) {
	// One column stays free: a full line would wrap in some terminals.
	fmt.Fprint(b.W, carriageReturn+line(p, b.Width()-1)+"\x1b[K")
}

// Clear removes the line, for what is written next.
func (b Bar) Clear() { fmt.Fprint(b.W, clearLine) }

// line is p in at most width columns: the less room, the fewer facts. Of the
// width alone follows the bar's, so that it stands still.
func line(p Progress, width int) string {
	share := 0.0
	if p.Buyers > 0 {
		share = float64(p.Requests) / float64(p.Buyers)
	}
	text := fmt.Sprintf("%3.0f%%", 100*share)
	if room := min(width/3, widestBar); room >= narrowestBar {
		full := int(share * float64(room))
		text = strings.Repeat("█", full) + strings.Repeat("░", room-full) + " " + text
	}
	if utf8.RuneCountInString(text) > width {
		return ""
	}
	waits := ""
	if p.Settling && p.Counts[ledger.OutcomeUnknown] > 0 {
		waits = "waiting for purchases without an answer"
	}
	for _, fact := range []string{
		waits,
		fmt.Sprintf("sold %s", thousands(p.Counts[ledger.OutcomeSold])),
		fmt.Sprintf("left %s", thousands(p.Left)),
		fmt.Sprintf("%s/s", thousands(int64(p.Rate))),
		fmt.Sprintf("p99 %s", millis(int64(p.P99*1000))),
		trouble(p, ledger.OutcomeUnknown),
		trouble(p, ledger.OutcomeError),
	} {
		if fact != "" && utf8.RuneCountInString(text)+2+len(fact) <= width {
			text += "  " + fact
		}
	}
	return text
}

func trouble(p Progress, o ledger.Outcome) string {
	if n := p.Counts[o]; n > 0 {
		return fmt.Sprintf("%s %s", o, thousands(n))
	}
	return ""
}
