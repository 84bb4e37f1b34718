package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"seckill/loadtest"
)

// Live shows the progress of a run in two lines of a terminal, which it writes
// over. Between frames the cursor is at the start of the first, so that anything
// else written there is overwritten by the next frame.
type Live struct {
	W     io.Writer
	Width func() int // columns now; the window may change
	Color bool
	Stock int64 // units for sale in all; 0: not known

	width int // of the last frame; 0: none yet
}

const (
	clearLine  = "\x1b[K"
	clearBelow = "\r\x1b[J"
	cursorUp   = "\x1b[A"
	usualWidth = 80 // of a terminal that does not say
)

// Show draws the run as it stands over what was drawn before.
func (l *Live) Show(p loadtest.Progress) {
	width := l.Width()
	if width <= 0 {
		width = usualWidth
	}
	start := "\r"
	if width != l.width { // the old lines may be broken into more than two
		start = clearBelow
	}
	l.width = width
	// One column stays free: a full line would wrap in some terminals.
	first, second := l.frame(p, width-1)
	fmt.Fprint(l.W, start+first+clearLine+"\r\n"+second+clearLine+cursorUp+"\r")
}

// Clear removes the lines, for what is written next.
func (l *Live) Clear() {
	if l.width > 0 {
		fmt.Fprint(l.W, clearBelow)
	}
}

// Lines shows the progress of a run in a log: about a line per second. A shorter
// run has none.
type Lines struct {
	W     io.Writer
	Stock int64 // units for sale in all; 0: not known

	last loadtest.Progress // that was shown
}

const lineEvery = time.Second

// Show writes a line if the last is old enough.
func (l *Lines) Show(p loadtest.Progress) {
	since := p.Elapsed - l.last.Elapsed
	if since < lineEvery && (!p.Settling || l.last.Settling || l.last.Elapsed == 0) {
		return
	}
	p.Rate = float64(p.Requests-l.last.Requests) / since.Seconds()
	l.last = p
	frame := &Live{Stock: l.Stock}
	fmt.Fprintln(l.W, frame.line(append(course(p), frame.figures(p)...), math.MaxInt))
}
